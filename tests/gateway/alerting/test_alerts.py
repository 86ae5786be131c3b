"""From a budget's step to its receiver, over real sockets and a real database."""

import hashlib
import hmac
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from gateway.alerting.lateness import LATE
from gateway.alerting.messages import Receiver as Address
from gateway.alerting.sending import ATTEMPTS, Sender
from gateway.alerting.watching import Watching
from gateway.operations.logs import open_log
from gateway.providers.webhooks import open_webhook_client
from governance.alerts.outbox import CLAIM, Delivery, claim, listed
from governance.alerts.steps import Alert, Watch
from governance.counters import CounterKey, Draw, Unit
from governance.counters.memory import MemoryCounters
from governance.database import Database
from governance.errors import StoreUnavailable
from governance.ledger.events import EventKind, LedgerEvent
from governance.limits import Budget
from governance.money import Nanodollars
from governance.purse import Purse
from governance.windows import WindowKind, window
from tests.support.databases import absent_database, fresh_database, write
from tests.support.ledgers import RecordingLedger
from tests.support.requests import opening
from tests.support.scripted_upstream import serve
from tests.support.webhooks import Receiver

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
TZ = ZoneInfo("UTC")
BUDGET = Budget("team:support", Nanodollars(1000), WindowKind.DAY)
WATCHES = (Watch(BUDGET, (50, 100), "support"),)


@dataclass
class Office:
    """One process's alerting over a database that outlives it, at a time that tests move."""

    database: Database
    port: int = 1
    now: datetime = NOON
    counters: MemoryCounters = field(default_factory=MemoryCounters)

    def watching(self, database: Database | None = None) -> Watching:
        return Watching(
            purse=Purse(self.counters, RecordingLedger(), NOON.timestamp),
            database=database or self.database,
            watches=lambda: WATCHES,
            receivers=self.receiver,
            timezone=lambda: TZ,
            now=lambda: self.now,
            log=open_log("error"),
        )

    @asynccontextmanager
    async def sender(self, database: Database | None = None) -> AsyncGenerator[Sender]:
        async with open_webhook_client() as client:
            yield Sender(
                database=database or self.database,
                client=client,
                receivers=self.receiver,
                secret=b"hush",
                now=lambda: self.now,
                chance=lambda: 0.5,
                log=open_log("critical"),
            )

    def receiver(self, team: str) -> Address | None:
        return Address(f"http://127.0.0.1:{self.port}/hook") if team == "support" and self.port else None

    async def settle(self, nanos: int) -> None:
        await self.counters.seed(self.counter, nanos)

    @property
    def counter(self) -> CounterKey:
        return CounterKey(BUDGET.scope, Unit.SPEND, window(WindowKind.DAY, self.now, TZ))

    async def fired(self) -> list[int]:
        return sorted(alert.percent for alert, _ in await listed(self.database, 100))


@pytest.fixture
async def office(tmp_path: Path) -> AsyncGenerator[Office]:
    async with fresh_database(tmp_path) as database:
        yield Office(database)


@asynccontextmanager
async def received(office: Office, *answers: int) -> AsyncGenerator[Receiver]:
    receiver = Receiver(list(answers))
    async with serve(receiver.app()) as office.port:
        yield receiver


async def test_steps_fire_as_spending_settles_and_only_once(office: Office) -> None:
    watching = office.watching()
    for settled, fired in ((499, []), (500, [50]), (999, [50]), (1000, [50, 100]), (2000, [50, 100])):
        await office.settle(settled)
        await watching.look()
        assert await office.fired() == fired


async def test_what_is_only_held_fires_nothing(office: Office) -> None:
    await office.counters.hold("r1", [Draw(office.counter, 900, 1000)], NOON.timestamp() + 60)
    await office.watching().look()
    assert await office.fired() == []


async def test_a_new_window_fires_anew(office: Office) -> None:
    await office.settle(1000)
    watching = office.watching()
    await watching.look()
    office.now += timedelta(days=1)
    await watching.look()
    assert await office.fired() == [50, 100]
    await office.settle(500)
    await watching.look()
    assert await office.fired() == [50, 50, 100]


async def test_what_settled_as_its_window_ended_is_found_in_the_ledger(office: Office) -> None:
    late = replace(opening("r1"), at=NOON.replace(hour=23, minute=59, second=59))
    await write(office.database, LedgerEvent(kind=EventKind.EXPIRED, opening=late, cost=Nanodollars(600)))
    office.now = NOON.replace(day=30, hour=0, minute=14)
    await office.watching().look()
    assert await office.fired() == []
    await office.watching().look_back()
    await office.watching().look_back()
    assert await office.fired() == [50]


async def test_old_windows_are_let_rest(office: Office) -> None:
    await write(
        office.database,
        LedgerEvent(kind=EventKind.EXPIRED, opening=replace(opening("r1"), at=NOON), cost=Nanodollars(600)),
    )
    office.now = NOON.replace(day=30, hour=0) + LATE
    await office.watching().look_back()
    assert await office.fired() == []


async def test_a_round_that_fails_loses_nothing(office: Office, tmp_path: Path) -> None:
    await office.settle(1000)
    async with absent_database(tmp_path) as away:
        with pytest.raises(StoreUnavailable):
            await office.watching(away).look()
    await office.watching().look()
    assert await office.fired() == [50, 100]


async def test_a_receiver_gets_each_step_once_signed_and_named(office: Office) -> None:
    await office.settle(500)
    await office.watching().look()
    async with received(office) as receiver, office.sender() as sender:
        await sender.deliver()
        await sender.deliver()
    (delivered,) = receiver.got
    assert delivered.body["scope"] == "team:support"
    assert (delivered.body["percent"], delivered.body["limit_usd"], delivered.body["spent_usd"]) == (
        50, "0.000001", "0.0000005",
    )  # fmt: skip
    assert delivered.body["id"] == delivered.headers["x-sluice-delivery"]
    stamp, _, signature = delivered.headers["x-sluice-signature"].removeprefix("t=").partition(",v1=")
    assert int(stamp) == NOON.timestamp()
    assert signature == hmac.new(b"hush", stamp.encode() + b"." + delivered.raw, hashlib.sha256).hexdigest()
    assert [delivery for _, delivery in await listed(office.database, 10)] == [Delivery.SENT]


async def test_a_restart_between_the_step_and_its_delivery_delivers_it_once(office: Office, tmp_path: Path) -> None:
    await office.settle(1000)
    await office.watching().look()
    async with fresh_database(tmp_path) as reopened, received(office) as receiver:
        office.database = reopened
        await office.watching().look()
        async with office.sender() as one, office.sender() as another:
            await one.deliver()
            await another.deliver()
    assert sorted(delivered.body["percent"] for delivered in receiver.got) == [50, 100]


async def test_a_crash_after_the_delivery_repeats_it_under_the_same_id(office: Office, tmp_path: Path) -> None:
    await office.settle(500)
    await office.watching().look()
    async with received(office) as receiver:
        (claimed,) = await _claim(office)
        async with office.sender() as crashing:
            await crashing._post(*claimed)
        office.now += CLAIM
        async with office.sender() as sender:
            await sender.deliver()
            await sender.deliver()
    first, second = receiver.got
    assert first.headers["x-sluice-delivery"] == second.headers["x-sluice-delivery"]


async def _claim(office: Office) -> list[tuple[Alert, Address]]:
    claimed = await claim(office.database, office.now, 10)
    address = office.receiver("support")
    return [(alert, address) for alert, _ in claimed if address]


async def test_what_is_not_accepted_is_tried_later_and_later(office: Office) -> None:
    await office.settle(500)
    await office.watching().look()
    async with received(office, 500, 302, 429) as receiver, office.sender() as sender:
        for wait_s, tries in ((0, 1), (1.9, 1), (0.1, 2), (3.9, 2), (0.1, 3), (8, 4), (100, 4)):
            office.now += timedelta(seconds=wait_s)
            await sender.deliver()
            assert len(receiver.got) == tries
    assert len({delivered.headers["x-sluice-delivery"] for delivered in receiver.got}) == 1


async def test_a_receiver_that_never_accepts_is_given_up(office: Office) -> None:
    await office.settle(500)
    await office.watching().look()
    async with office.sender() as sender:
        for _ in range(ATTEMPTS + 1):
            await sender.deliver()
            office.now += timedelta(hours=2)
    assert [delivery for _, delivery in await listed(office.database, 10)] == [Delivery.GIVEN_UP]


async def test_a_step_that_nobody_is_told_of_is_logged_and_no_more(office: Office) -> None:
    office.port = 0
    await office.settle(500)
    await office.watching().look()
    async with office.sender() as sender:
        await sender.deliver()
    assert [delivery for _, delivery in await listed(office.database, 10)] == [Delivery.LOGGED]
