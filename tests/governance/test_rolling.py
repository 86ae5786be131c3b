"""Rolling windows, and budgets over hard hours of the calendar with a clock that really moves."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from time import time
from zoneinfo import ZoneInfo

import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted
from governance.limits import Budget, WorstCase
from governance.purse import Purse
from governance.windows import SESSION, Calendar, Rolling, Span, WindowKind, covers
from tests.support.ledgers import RecordingLedger
from tests.support.requests import opening, settlement, usd

TZ = ZoneInfo("Europe/London")
instants = st.datetimes(datetime(1970, 1, 2), datetime(2060, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
spans = st.builds(Rolling, st.integers(60, 366 * 86_400), st.integers(1, 8))


@given(spans, instants)
def test_covers_hold_the_instant_and_the_first_all_that_is_remembered(span: Rolling, at: datetime) -> None:
    found = covers(span, at, TZ)
    assert len(found) == span.parts + 1
    assert all(one.start <= at < one.end for one in found)
    length = timedelta(seconds=span.seconds)
    assert found[0].start <= at - length
    assert found[0].end - found[0].start <= length * (span.parts + 1) / span.parts + timedelta(milliseconds=1)


@given(spans, instants, st.floats(0, 1))
def test_two_instants_within_the_length_share_a_cover(span: Rolling, at: datetime, share: float) -> None:
    earlier = at - timedelta(seconds=span.seconds) * share
    assert set(covers(span, earlier, TZ)) & {covers(span, at, TZ)[0]}


@given(st.lists(st.tuples(spans, instants), max_size=6))
def test_a_calendar_remembers_only_covers_that_are_right(asked: list[tuple[Rolling, datetime]]) -> None:
    calendar = Calendar()
    for span, at in asked:
        assert calendar.covers(span, at, TZ) == covers(span, at, TZ)


@pytest.mark.parametrize(("seconds", "name"), [(7 * 86_400, "7d"), (36 * 3600, "36h"), (5400, "90m"), (61, "61s")])
def test_a_rolling_window_is_called_by_its_length(seconds: int, name: str) -> None:
    assert (Rolling(seconds).value, str(Rolling(seconds)), SESSION.value) == (name, name, "session")


@pytest.mark.parametrize(
    ("span", "moments"),
    [
        # Each moment is in a new window but the second, which is in that of the first.
        (WindowKind.DAY, ["2026-03-29T00:00Z", "2026-03-29T22:59:59Z", "2026-03-29T23:00Z"]),
        (WindowKind.DAY, ["2026-10-24T23:00Z", "2026-10-25T23:59:59Z", "2026-10-26T00:00Z"]),
        (WindowKind.HOUR, ["2026-10-25T00:30Z", "2026-10-25T00:59Z", "2026-10-25T01:30Z"]),
        (WindowKind.MONTH, ["2028-02-01T00:00Z", "2028-02-29T23:59:59Z", "2028-03-01T00:00Z"]),
        (WindowKind.MONTH, ["2027-02-01T00:00Z", "2027-02-28T23:59:59Z", "2027-03-01T00:00Z"]),
        (WindowKind.QUARTER, ["2026-10-01T00:00Z", "2026-12-31T23:59:59Z", "2027-01-01T00:00Z"]),
        (Rolling(86_400), ["2026-03-28T12:00Z", "2026-03-29T12:00Z", "2026-03-29T16:00Z"]),
        (SESSION, ["2026-03-28T12:00Z", "2026-04-04T12:00Z", "2026-04-11T12:00Z"]),
    ],
)
async def test_money_is_there_again_when_the_window_is_new(span: Span, moments: Sequence[str]) -> None:
    purse = Purse(MemoryCounters(), RecordingLedger(), time)
    budget = Budget("org", usd("1"), span)

    async def buy(name: str) -> None:
        asked = opening(name, datetime.now(UTC))
        async with purse.hold(asked, [budget], [], WorstCase(usd("0.60"), 1), tz=TZ, lease_s=60) as hold:
            await hold.settle(settlement("0.60"))

    first, same, new = (datetime.fromisoformat(moment) for moment in moments)
    with time_machine.travel(first, tick=False) as clock:
        await buy("first")
        clock.move_to(same)
        await purse.expire(time())
        with pytest.raises(BudgetExhausted):
            await buy("refused")
        clock.move_to(new)
        await purse.expire(time())
        await buy("new")
