"""The whole governance of one request, and nothing beside it.

A step is what `gateway/chat.py` does to a request for the money's sake: whose key is it, what may it do, what do its
budgets ask, is it a loop, hold, settle, and every record of it in the ledger's journal. What shapes, caches, routes
and answers requests is left out, and so are the log and the metrics. Keys, purse and ledger are the gateway's own.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import time
from typing import Final

import structlog

import migrations
from cache.directives import Directives
from gateway.catalogue import Catalogue, Model
from gateway.counting.calibrations import Calibrations
from gateway.counting.tally import Counting, Prompt
from gateway.operations.metrics import Metrics
from gateway.policy.source import LoadedPolicy, parse_policy
from gateway.providers.absent import AbsentUpstream
from gateway.steps.accounts import Accounts, Bought
from gateway.steps.admission import Admission, Asked
from gateway.steps.confining import unconfined
from gateway.steps.purchasing import Purchase, Purchasing
from gateway.steps.reuse.slot import Slot
from gateway.wire.request.controls import Controls, Credential
from governance.attribution import Offered
from governance.counters import Counters
from governance.database import Database, open_database
from governance.identity import Caller, KeyRecord, Keyring, mint
from governance.ledger.writer import LedgerWriter
from governance.limits.loops import LoopGuard
from governance.prices import Usage
from governance.purse import Purse
from router_models.router import Route

REQUESTS_PER_SESSION: Final = 16
DIFFERENT_REQUESTS: Final = 64
"""So few that each has come before: one that comes again costs the loop limit more than a new one."""

_TEAM, _APP, _MODEL = "support", "support-bot", "strong"
_SIZE, _MOST_OUTPUT = 944, 512
_USAGE: Final = Usage(fresh_input=310, output=180)
_LONG_S: Final = 3_600.0
_MANY: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Step:
    """Governs prepared requests, one at a call."""

    admission: Admission
    purchasing: Purchasing
    purchase: Purchase
    bought: Bought
    credential: Credential
    asked: tuple[Asked[None], ...]

    async def __call__(self, place: int) -> None:
        """Take a request from its key to its last record."""
        asked = self.asked[place]
        caller = self.admission.identify(self.credential, asked.at)
        entitled = unconfined(self.admission.admit(caller, asked.offered))
        pressure = await self.purchasing.pressure(asked, entitled)
        repeats = self.purchasing.repeats(asked, entitled, _SLOTS[place % DIFFERENT_REQUESTS], asked.body)
        async with self.purchasing.hold(asked, entitled, self.purchase, "miss", pressure, repeats) as hold:
            await hold.settle(self.purchasing.accounts.settlement([self.bought], None))


class Books:
    """The gateway's books under one policy of `policies/`: its counters, and a ledger in a folder of its own."""

    def __init__(self, policy: LoadedPolicy, counters: Counters, database: Database, spool: Path) -> None:
        self._policy = policy
        self._counters = counters
        self._database = database
        self._spool = spool

    @asynccontextmanager
    async def round(self, number: int, *, size: int, levels_for_s: float) -> AsyncGenerator[Step]:
        """Prepare so many requests; the ledger's database gets its rows when they are done, beside the measuring."""
        async with LedgerWriter(self._database, self._spool, batch=_MANY, linger_s=_LONG_S) as ledger:
            purse = Purse(self._counters, ledger, time, levels_for_s=levels_for_s)
            calibrations = Calibrations(self._spool / "counting.json")
            yield _step(self._policy, purse, calibrations, range(number * size, (number + 1) * size))


@asynccontextmanager
async def open_books(policy: str, counters: Counters) -> AsyncGenerator[Books]:
    """Open books that are gone afterwards."""
    text = files("gateway.bench").joinpath("policies", f"{policy}.yaml").read_text("utf-8")
    loaded = parse_policy(text, f"{policy}.yaml", {}, datetime.now(UTC))
    with TemporaryDirectory(prefix="sluice-bench-") as name:
        url = f"sqlite:///{Path(name) / 'sluice.db'}"
        await asyncio.to_thread(migrations.upgrade, url)
        database = open_database(url)
        try:
            yield Books(loaded, counters, database, Path(name) / "spool")
        finally:
            await database.close()


def _step(policy: LoadedPolicy, purse: Purse, calibrations: Calibrations, numbers: range) -> Step:
    price = policy.prices[_MODEL]
    model = Model(_MODEL, "cloud", _MODEL, "cloud", "chat", policy.tariffs[_MODEL])
    upstream = AbsentUpstream("cloud", "cloud", "a bench calls nobody")
    catalogue = Catalogue([model], policy.document.routes, {"cloud": upstream}, _MODEL)
    accounts = Accounts(catalogue, structlog.get_logger(), Metrics())
    minted, now = mint(secrets.token_bytes), datetime.now(UTC)
    caller = Caller(minted.public_id, _TEAM, _APP)
    keyring = Keyring()
    keyring.learn([KeyRecord(caller, 1, now, minted.secret_hash)])
    admission = Admission(keyring, policy.rules, purse, policy.version, accounts)
    purchasing = Purchasing(
        admission=admission,
        catalogue=catalogue,
        counting=Counting(catalogue=catalogue, calibrations=calibrations, holds=policy.document.holds),
        purse=purse,
        accounts=accounts,
        timezone=policy.rules.timezone,
        loops=LoopGuard(policy.rules.loop),
    )
    return Step(
        admission=admission,
        purchasing=purchasing,
        purchase=purchasing.price(Route(_MODEL, "weak", "auto"), Prompt({}, _SIZE), _MOST_OUTPUT),
        bought=Bought(
            model=model,
            price=price,
            purpose="answer",
            at=now,
            seconds=0.4,
            usage=_USAGE,
            estimated=False,
            error=None,
            left=False,
        ),
        credential=Credential(minted.key),
        asked=tuple([_asked(number, caller, now) for number in numbers]),
    )


def _asked(number: int, caller: Caller, at: datetime) -> Asked[None]:
    headers = {"feature": "faq", "session": f"session-{number // REQUESTS_PER_SESSION}"}
    return Asked(
        request_id=f"req_{number:024x}",
        at=at,
        tick=0.0,
        endpoint="chat",
        caller=caller,
        offered=Offered(headers, {}),
        controls=Controls(None, None, ""),
        body={},
        size=1_200,
        fields=None,
        model="auto",
        limit_s=600.0,
    )


_SLOTS: Final = tuple(
    Slot(sha256(bytes([number])).digest(), Directives(read=True, write=True), 3_600)
    for number in range(DIFFERENT_REQUESTS)
)
