"""Whatever happens in whatever order, what is spent and held stays within the limits and the ledger tells all of it."""

import asyncio
import atexit
import random
import shutil
import tempfile
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import structs

import migrations
from governance.counters.memory import MemoryCounters
from governance.errors import BudgetExhausted
from governance.holds import Hold
from governance.ledger.events import Attempt, EventKind, Settlement
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget, Step, StepAction, WorstCase, dimensions_of, resolve
from governance.money import ZERO, Nanodollars
from governance.purse import Purse
from governance.windows import SESSION, Rolling, WindowKind, window
from tests.support.databases import fresh_database
from tests.support.ledgers import RecordingLedger
from tests.support.requests import attempt, opening, usd

TZ: Final = ZoneInfo("Europe/London")
START: Final = datetime.fromisoformat("2026-03-27T22:30:00+00:00")
"""The clocks go forward two days later, and the month ends two days after that."""

DAY_ROLLING: Final = Rolling(86_400)
POLICIES: Final = (
    (
        Budget("team:support", usd("1"), WindowKind.DAY),
        Budget("org", usd("0.80"), DAY_ROLLING),
        Budget("app:support/support-bot", usd("0.70"), SESSION, each="session"),
    ),
    (
        Budget("team:support", usd("4"), WindowKind.MONTH),
        Budget("org", usd("0.90"), Rolling(6 * 3600)),
        Budget("org", usd("0.80"), WindowKind.WEEK, each="feature"),
        Budget("org", usd("0.01"), WindowKind.DAY, steps=(Step(100, StepAction.DOWNGRADE),)),
    ),
    (
        Budget("team:support", usd("2"), WindowKind.DAY, steps=(Step(50, StepAction.BLOCK),)),
        Budget("app:support/support-bot", usd("0.60"), WindowKind.HOUR),
    ),
)


@cache
def _migrated() -> Path:
    """Make one database to copy, because migrating takes longer than an example."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    migrations.upgrade(f"sqlite:///{folder / 'sluice.db'}")
    return folder / "sluice.db"


@dataclass
class Truth:
    """One admitted request as an outsider would book it."""

    at: datetime
    values: dict[str, str | None]
    amount: Nanodollars
    hold: Hold | None
    attempts: tuple[Attempt, ...] = ()


class PurseMachine(RuleBasedStateMachine):
    """The purse against a book that knows nothing of counters."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.folder = folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        shutil.copy(_migrated(), folder / "sluice.db")
        self.database = self.runner.run(self.stack.enter_async_context(fresh_database(folder)))
        self.now = START
        self.policy = POLICIES[0]
        self.book: dict[str, Truth] = {}
        self.ledger, self.stored = RecordingLedger(), 0
        self.begin_process()

    def begin_process(self) -> None:
        self.purse = Purse(MemoryCounters(), self.ledger, lambda: self.now.timestamp())  # noqa: PLW0108  the clock moves

    def teardown(self) -> None:
        for truth in self.book.values():
            if truth.hold is not None:
                self.runner.run(truth.hold.__aexit__())
        self.runner.run(self.stack.aclose())
        self.runner.close()

    async def store(self) -> None:
        """Write what the ledger was told to the database, as its writer does moments later."""
        async with LedgerWriter(self.database, self.folder / "spool") as writer:
            writer.append(*self.ledger.entries[self.stored :])
        self.stored = len(self.ledger.entries)

    @rule(
        worst=st.sampled_from([1, 150_000_000, 250_000_000, 400_000_000]),
        session=st.sampled_from(["s1", "s2", "unattributed"]),
        feature=st.sampled_from(["faq", "a/b?c=d", "unattributed"]),
    )
    def ask(self, worst: int, session: str, feature: str) -> None:
        name = f"r{len(self.ledger.entries)}.{len(self.book)}"
        request = opening(name, self.now, session=session, feature=feature)
        budgets = resolve(self.policy, request.values)
        hold = self.purse.hold(request, budgets, (), WorstCase(Nanodollars(worst), 1), tz=TZ, lease_s=900)
        before = self.most_used(request.values, budgets, self.now)
        try:
            self.runner.run(hold.__aenter__())
        except BudgetExhausted:
            return
        self.book[name] = Truth(self.now, request.values, Nanodollars(worst), hold)
        for budget, used in before:
            limit = budget.blocks_at
            assert limit is None or used + Nanodollars(worst) <= limit, budget

    @rule(session=st.sampled_from(["s1", "unattributed"]), minutes=st.sampled_from([0, 61, 300]))
    def spend_much(self, session: str, minutes: int) -> None:
        if minutes:
            self.move_the_clock(minutes=minutes)
        self.ask(worst=400_000_000, session=session, feature="unattributed")

    def most_used(
        self, values: dict[str, str | None], budgets: tuple[Budget, ...], at: datetime
    ) -> list[tuple[Budget, Nanodollars]]:
        """Add up by hand what counts against each budget at an instant."""
        found: list[tuple[Budget, Nanodollars]] = []
        for budget in budgets:
            named = dimensions_of(budget.scope).items()
            assert named <= values.items()
            if isinstance(budget.window, Rolling):
                since, until = at - timedelta(seconds=budget.window.seconds), at
            else:
                found_window = window(budget.window, at, TZ)
                since, until = found_window.start, found_window.end - timedelta.resolution
            within = (t.amount for t in self.book.values() if since <= t.at <= until and named <= t.values.items())
            found.append((budget, sum(within, ZERO)))
        return found

    def running(self) -> list[str]:
        return [name for name, truth in self.book.items() if truth.hold is not None]

    @precondition(lambda self: self.running())
    @rule(
        which=st.randoms(use_true_random=False),
        share=st.sampled_from([0, 33, 100]),
        worst=st.sampled_from([1, 150_000_000, 400_000_000]),
        model=st.sampled_from(["gpt", "mini"]),
    )
    def try_again(self, which: random.Random, share: int, worst: int, model: str) -> None:
        name = which.choice(self.running())
        truth = self.book[name]
        assert truth.hold is not None
        cost = (truth.hold.worst.cost.nanos - truth.hold.spent.nanos) * share // 100
        truth.attempts = (*truth.attempts, attempt(Nanodollars(cost)))
        request = structs.replace(truth.hold.opening, model=model)
        budgets = resolve(self.policy, request.values)
        total = sum((made.cost for made in truth.attempts), Nanodollars(worst))
        truth.amount = ZERO
        used = self.most_used(request.values, budgets, truth.at)
        again = self.purse.hold_again(
            truth.hold, request, budgets, WorstCase(Nanodollars(worst), 1), truth.attempts, tz=TZ
        )
        try:
            self.runner.run(again)
        except BudgetExhausted:
            self.runner.run(truth.hold.settle(Settlement(outcome="failed", status=502, attempts=truth.attempts)))
            self.runner.run(truth.hold.__aexit__())
            truth.amount, truth.hold = total - Nanodollars(worst), None
            return
        truth.amount, truth.values = total, request.values
        for budget, amount in used:
            assert budget.blocks_at is None or amount + total <= budget.blocks_at, budget

    @precondition(lambda self: self.running())
    @rule(which=st.randoms(use_true_random=False), share=st.sampled_from([0, 33, 100]), twice=st.booleans())
    def settle(self, which: random.Random, share: int, twice: bool) -> None:
        truth = self.book[which.choice(self.running())]
        assert truth.hold is not None
        last = Nanodollars((truth.hold.worst.cost.nanos - truth.hold.spent.nanos) * share // 100)
        ending = Settlement(outcome="ok", status=200, attempts=(*truth.attempts, attempt(last)))
        cost = ending.cost
        for _ in range(1 + twice):
            self.runner.run(truth.hold.settle(ending))
        self.runner.run(truth.hold.__aexit__())
        truth.amount, truth.hold = cost, None

    @precondition(lambda self: self.running())
    @rule(which=st.randoms(use_true_random=False))
    def cancel(self, which: random.Random) -> None:
        truth = self.book[which.choice(self.running())]
        if truth.attempts or truth.hold is None:
            return
        self.runner.run(truth.hold.__aexit__())
        truth.amount, truth.hold = ZERO, None

    @rule(minutes=st.sampled_from([-90, 1, 20, 61, 300, 23 * 60]))
    def move_the_clock(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)
        self.runner.run(self.purse.expire(self.now.timestamp()))
        for truth in self.book.values():
            if truth.hold is not None and truth.at + timedelta(seconds=900) <= self.now:
                self.runner.run(truth.hold.__aexit__())
                truth.hold = None
        if minutes < 0:  # as whoever looks after leases does
            self.swap_the_policy(self.policy)

    @rule(policy=st.sampled_from((None, *POLICIES)))
    def begin_anew(self, policy: tuple[Budget, ...] | None) -> None:
        """Swap the policy, or lose the process: rare enough to leave the counters some time."""
        if policy is None:
            self.crash()
        else:
            self.swap_the_policy(policy)

    def swap_the_policy(self, policy: tuple[Budget, ...]) -> None:
        self.runner.run(self.store())
        self.runner.run(self.purse.seed(self.database, policy, self.now, TZ))
        self.policy = policy

    def crash(self) -> None:
        self.runner.run(self.store())
        self.begin_process()
        self.runner.run(self.purse.rebuild(self.database, self.policy, self.now, TZ))
        for name in self.running():
            self.book[name].hold = None
        self.forget_orphans()

    def forget_orphans(self) -> None:
        """What the next process wrote about the last one's holds is in the database alone."""
        self.orphans = {name for name in self.book if name not in self.ended()}

    orphans: set[str] = set()  # noqa: RUF012  replaced, never changed

    def ended(self) -> Counter[str]:
        return Counter(event.opening.request_id for event in self.ledger.terminal)

    @invariant()
    def each_admitted_request_ends_once(self) -> None:
        ended = self.ended()
        assert all(count == 1 for count in ended.values())
        assert set(ended) == set(self.book) - set(self.running()) - self.orphans

    @invariant()
    def the_ledger_is_what_was_spent(self) -> None:
        told = sum((event.cost for event in self.ledger.terminal), ZERO)
        booked = (t.amount for name, t in self.book.items() if t.hold is None and name not in self.orphans)
        assert told == sum(booked, ZERO)
        expired = [event for event in self.ledger.terminal if event.kind is EventKind.EXPIRED]
        assert all(event.cost == event.held for event in expired)
        assert self.purse.open_holds == len(self.running())


TestPurseMachine = PurseMachine.TestCase
TestPurseMachine.settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
