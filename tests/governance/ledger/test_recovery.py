"""A new process starts where a dead one stopped."""

from datetime import timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted
from governance.ledger.events import EventKind, LedgerEvent
from governance.ledger.reading.reports import request
from governance.ledger.reading.spending import spent
from governance.ledger.recovery import expire_orphans
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget, WorstCase
from governance.money import ZERO
from governance.purse import GRACE, Purse
from governance.windows import WindowKind, window
from tests.support.databases import fresh_database, write
from tests.support.requests import NOON, opening, settlement, usd

pytestmark = pytest.mark.usefixtures("any_database")

TZ = ZoneInfo("Europe/London")
TEAM = Budget("team:support", usd("1"), WindowKind.DAY)
DAY = window(WindowKind.DAY, NOON, TZ)
LEASE: Final = timedelta(seconds=60)


def held(request_id: str, amount: str = "0.40") -> LedgerEvent:
    lease_until = (NOON + LEASE).timestamp()
    return LedgerEvent(kind=EventKind.HELD, opening=opening(request_id), held=usd(amount), lease_until=lease_until)


def settled(request_id: str, cost: str) -> LedgerEvent:
    return LedgerEvent(kind=EventKind.SETTLED, opening=opening(request_id), cost=usd(cost), settlement=settlement(cost))


async def test_only_holds_without_an_end_are_orphans(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await write(database, held("ended"), settled("ended", "0.10"), held("orphan"))
        assert await expire_orphans(database) == 1
        assert await expire_orphans(database) == 0
        orphan = await request(database, "orphan")
        ended = await request(database, "ended")
    assert orphan is not None
    assert (orphan.request.kind, orphan.request.cost, orphan.request.team) == ("expired", usd("0.40"), "support")
    assert ended is not None
    assert (ended.request.kind, ended.request.cost) == ("settled", usd("0.10"))


async def test_a_request_that_held_anew_ends_at_what_it_held_last_with_the_plan_of_that(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        cheap = LedgerEvent(kind=EventKind.HELD, opening=opening("r1", model="mini"), held=usd("0.10"))
        await write(database, held("r1"), cheap, held("r2", "0.10"))
        await write(database, held("r2", "0.30"))
        assert await expire_orphans(database) == 2
        found = [await request(database, name) for name in ("r1", "r2")]
        assert await expire_orphans(database) == 0
    assert [one and (one.request.model, one.request.cost) for one in found] == [
        ("mini", usd("0.10")),
        ("gpt", usd("0.30")),
    ]


async def test_where_others_write_too_only_holds_past_their_lease_or_named_are_ended(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await write(database, held("mine"), held("theirs"))
        over = NOON + LEASE
        assert await expire_orphans(database, leases_over=(NOON, over)) == 0
        assert await expire_orphans(database, among={"mine", "nobody"}) == 1
        assert await expire_orphans(database, leases_over=(over, over + timedelta.resolution)) == 1
        assert await spent(database, "org", DAY) == usd("0.80")


@pytest.mark.parametrize(
    ("scope", "sum_"),
    [
        ("org", "0.70"),
        ("team:support", "0.30"),
        ("app:support/support-bot", "0.10"),
        ("feature:support/support-bot/faq", "0.10"),
        ("feature:support/support-bot/triage", "0"),
        ("key:k1", "0.70"),
        ("key:k2", "0"),
    ],
)
async def test_a_scope_is_summed_by_its_columns(tmp_path: Path, scope: str, sum_: str) -> None:
    rows = [
        ("faq", "support-bot", "support", "0.10"),
        ("faq", "other", "support", "0.20"),
        ("faq", "support-bot", "research", "0.40"),
    ]
    async with fresh_database(tmp_path) as database:
        for number, (feature, app, team, cost) in enumerate(rows):
            asked = opening(f"r{number}", team=team, app=app, feature=feature)
            await write(database, LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=usd(cost)))
        assert await spent(database, scope, DAY) == usd(sum_)


async def test_a_window_holds_its_start_and_not_its_end(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        for number, at in enumerate((DAY.start, DAY.end - timedelta.resolution, DAY.end)):
            event = LedgerEvent(kind=EventKind.SETTLED, opening=opening(f"r{number}", at), cost=usd("1"))
            await write(database, event)
        assert await spent(database, "org", DAY) == usd("2")


async def test_a_restart_keeps_what_was_spent_and_what_was_held(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            purse = Purse(MemoryCounters(), writer, NOON.timestamp)
            async with purse.hold(opening("r1"), [TEAM], [], WorstCase(usd("0.40"), 1), tz=TZ, lease_s=60) as hold:
                await hold.settle(settlement("0.25"))
            await purse.hold(opening("r2"), [TEAM], [], WorstCase(usd("0.40"), 1), tz=TZ, lease_s=60).__aenter__()
        # The process dies here with r2 open; the next one finds the ledger.
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            purse = Purse(MemoryCounters(), writer, NOON.timestamp)
            assert await purse.rebuild(database, [TEAM], NOON, TZ) == 1
            await purse.seed(database, [TEAM], NOON, TZ)
            (standing,) = await purse.standing([TEAM], NOON, TZ)
            assert (standing.settled, standing.held) == (usd("0.65"), ZERO)
            with pytest.raises(BudgetExhausted):
                async with purse.hold(opening("r3"), [TEAM], [], WorstCase(usd("0.40"), 1), tz=TZ, lease_s=60):
                    pytest.fail("it was let in")


async def test_a_living_process_writes_the_end_of_a_dead_ones_hold_when_its_lease_is_over(tmp_path: Path) -> None:
    counters = MemoryCounters()  # in the place of a home that both share
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            dead = Purse(counters, writer, NOON.timestamp)
            await dead.hold(opening("r1"), [TEAM], [], WorstCase(usd("0.40"), 1), tz=TZ, lease_s=60).__aenter__()
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            living = Purse(counters, writer, NOON.timestamp)
            assert await living.rebuild(database, [TEAM], NOON, TZ, sole=False) == 0
            assert await living.expire(NOON.timestamp() + 59) == 0
            assert await living.bury(database) == 0
            assert await living.expire(NOON.timestamp() + 60) == 1
            assert (await living.bury(database), await living.bury(database)) == (1, 0)
        found = await request(database, "r1")
        assert found is not None
        assert (found.request.kind, found.request.cost) == ("expired", usd("0.40"))
        assert await living.sweep(database, NOON + timedelta(days=2)) == 0


async def test_a_request_whose_process_died_between_counting_and_recording_its_end_is_found(tmp_path: Path) -> None:
    counters = MemoryCounters()  # in the place of a home that both share
    async with fresh_database(tmp_path) as database:
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            dead = Purse(counters, writer, NOON.timestamp)
            await dead.hold(opening("r1"), [TEAM], [], WorstCase(usd("0.40"), 1), tz=TZ, lease_s=60).__aenter__()
            await counters.settle("r1", [usd("0.25").nanos])
        async with LedgerWriter(database, tmp_path / "spool") as writer:
            living = Purse(counters, writer, NOON.timestamp)
            assert await living.rebuild(database, [TEAM], NOON, TZ, sole=False) == 0
            assert await living.expire(NOON.timestamp() + 60) == 0
            assert await living.sweep(database, NOON + LEASE + GRACE) == 0
            assert await living.sweep(database, NOON + LEASE + GRACE + timedelta.resolution) == 1
            assert await living.sweep(database, NOON + timedelta(days=2)) == 0
        found = await request(database, "r1")
        assert found is not None
        assert (found.request.kind, found.request.cost) == ("expired", usd("0.40"))
