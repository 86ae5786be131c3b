from dataclasses import replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from dashboards.deferred_page import batch_rows
from dashboards.figures import NOTHING
from governance.deferred.records import Batch, BatchStatus, Counts, Fault, Owner
from tests.dashboards.test_app import ATTACK, signed_in
from tests.support.spend_reports import ScriptedReports

NOW = datetime(2026, 11, 26, 15, 42, tzinfo=ZoneInfo("Europe/London"))
RUNNING = Batch(
    id="batch_1",
    owner=Owner("research", "nightly"),
    key_id="k1",
    endpoint="/v1/chat/completions",
    completion_window="24h",
    expires_at=NOW + timedelta(hours=20),
    asked="{}",
    status=BatchStatus.IN_PROGRESS,
    created_at=NOW - timedelta(hours=4),
    counts=Counts(1000, 500, 3),
    waits_until=NOW + timedelta(hours=6),
)


def test_a_batch_shows_how_far_it_has_come_and_what_it_waits_for() -> None:
    (row,) = batch_rows([RUNNING], NOW)
    assert (row.at, row.progress, row.total, row.answered, row.unanswered) == ("11:42", "50%", "1,000", "500", "3")
    assert (row.status, row.note) == ("in progress", "waits until 21:42")


def test_a_batch_that_failed_shows_its_first_fault() -> None:
    failed = replace(RUNNING, status=BatchStatus.FAILED, counts=Counts(), faults=(Fault("x", "No JSON.", 7),))
    (row,) = batch_rows([failed], NOW + timedelta(days=1))
    assert (row.at, row.note, row.tone, row.progress) == ("26 Nov 11:42", "line 7: No JSON.", "bad", NOTHING)


async def test_the_page_lists_batches_and_says_when_there_are_none() -> None:
    hostile = replace(RUNNING, owner=Owner(ATTACK, "bot"))
    async with signed_in(ScriptedReports(deferred=[hostile])) as client:
        page = (await client.get("/admin/deferred")).text
        assert "batch_1" in page
        assert "&lt;script&gt;alert" in page
        assert ATTACK not in page
    async with signed_in(ScriptedReports()) as client:
        assert "Nothing waits" in (await client.get("/admin/deferred")).text


async def test_without_a_database_the_page_says_so() -> None:
    reports = ScriptedReports()
    async with signed_in(reports) as client:
        reports.broken = True
        assert (await client.get("/admin/deferred")).status_code == 503
