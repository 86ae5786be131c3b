"""What prompts were made of, added up by hour and feature."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from governance.context.hours import FIGURES, ContextHours, Place, hour_of
from tests.support.databases import fresh_database

AT = datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


async def test_sums_are_added_to_those_on_record_and_read_by_whose_they_are(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        hours = ContextHours(database)
        faq, triage = (Place(hour_of(AT), "red", "bot", name) for name in ("faq", "triage"))
        await hours.add({faq: {"requests": 1, "repeated_nanos": 5}, triage: {"requests": 2}})
        await hours.add({faq: {"requests": 1, "repeated_nanos": 2}})
        await hours.add({Place(hour_of(AT - timedelta(days=9)), "red", "bot", "faq"): {"requests": 100}})
        by_feature = await hours.since(AT - timedelta(days=7), "feature")
        by_team = await hours.since(AT - timedelta(days=7), "team")

    assert by_feature["red/bot/faq"] == dict.fromkeys(FIGURES, 0) | {"requests": 2, "repeated_nanos": 7}
    assert by_team["red"]["requests"] == 4
