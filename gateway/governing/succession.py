"""Follow the policy's history: whatever is put in force there governs here within a second.

A new policy takes over between two requests. Those that run finish under the old one, and its providers stay open for
them. Budgets that appear with it are first told what the ledger says has been spent in their windows; and again when
it governs, and when the last request of the policy before has ended, because what those spend draws on no counter of
budgets they do not know.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from structlog.typing import FilteringBoundLogger

from gateway.governing.governed import Composer, Governed
from gateway.governing.in_force import InForce, Reign
from gateway.policy.history.reading import load, trouble_of
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import LoadedPolicy
from gateway.providers.pool import Providers
from governance.counters.guarded import GuardedCounters
from governance.database import Database
from governance.identity import Keyring
from governance.ledger.writer import LedgerWriter
from governance.limits import Budget
from governance.policy import history
from governance.policy.history import Applied, Mode
from governance.purse import Purse

LOOK_S: Final = 0.25
FIRST_LOOK_S: Final = 0.3
"""How long a policy waits for a first word of its new providers before it governs."""


class Succession:
    """Puts in force what the history says.

    Args:
        in_force: what governs here.
        keyring: whose keys have budgets on the policy's calendar.
        composer: makes of a policy what depends on it.
        providers: opens and closes what policies need.
        database: where the history is.
        ledger: obeys the policy while the database is away.
        counters: obey it while their home is away; None where they are in this process.
        purse: is taught new budgets.
        env: where a policy's `${NAME}` is looked up.
        now: an aware clock.
        log: told of every change.
    """

    def __init__(
        self,
        *,
        in_force: InForce,
        keyring: Keyring,
        composer: Composer,
        providers: Providers,
        database: Database,
        ledger: LedgerWriter,
        counters: GuardedCounters | None,
        purse: Purse,
        env: Mapping[str, str],
        now: Callable[[], datetime],
        log: FilteringBoundLogger,
    ) -> None:
        self._in_force = in_force
        self._keyring = keyring
        self._composer = composer
        self._providers = providers
        self._database = database
        self._ledger = ledger
        self._counters = counters
        self._purse = purse
        self._env = env
        self._now = now
        self._log = log
        self._looked_at = self._refused = 0
        self._retired: list[tuple[Reign, tuple[Budget, ...]]] = []
        self._unseeded: tuple[Budget, ...] = ()

    async def look(self) -> bool:
        """Obey the history's newest decision, and let go of what earlier ones no longer need.

        Returns:
            Whether another policy governs now.

        Raises:
            StoreUnavailable: The database does not answer; the next look finds the same.
        """
        await self._let_go()
        if self._unseeded:
            await self._seed(self._unseeded, self._in_force.governed)
            self._unseeded = ()
        newest = await history.newest_id(self._database)
        if newest == self._looked_at:
            return False
        before, applied = self._in_force.governed, await history.newest(self._database, Mode.ACTIVE)
        if applied is not None and applied.id not in {self._in_force.id, self._refused}:
            await self._obey(applied)
        self._looked_at = newest
        return self._in_force.governed is not before

    async def _obey(self, applied: Applied) -> None:
        if applied.policy.version == self._in_force.governed.policy.version:
            self._in_force.renew(applied.id)
            return
        reign: Reign | None = None
        try:
            policy = await load(applied, self._env, self._now())
            reign = await self._prepare(applied.id, policy)
        except PolicyInvalid as invalid:
            self._refuse(applied, str(invalid.problems[0]))
        except Exception as error:  # noqa: BLE001  no policy may take a running gateway down, whatever is wrong with it
            self._refuse(applied, f"{type(error).__name__}: {error}")
        if reign is not None:
            await self._succeed(reign)

    def _refuse(self, applied: Applied, why: str) -> None:
        """Go on with the last good policy, and say why."""
        self._refused = applied.id
        self._in_force.trouble = trouble_of(applied, why)
        self._log.error("policy refused", version=applied.policy.version, source=applied.policy.source, reason=why)

    async def _prepare(self, decision: int, policy: LoadedPolicy) -> Reign:
        lease = await self._providers.lease(policy.document, policy.unavailable, FIRST_LOOK_S)
        try:
            return Reign(decision, self._composer.compose(policy, lease.upstreams), lease)
        except BaseException:
            await self._providers.end(lease)
            raise

    async def _succeed(self, reign: Reign) -> None:
        new, old = reign.governed, self._in_force.governed
        appearing = _appearing(old.policy, new.policy, self._keyring.budgets())
        try:
            await self._seed(appearing, new)
        except BaseException:
            await self._providers.end(reign.lease)
            raise
        before = self._in_force.succeed(reign)
        self._retired.append((before, appearing))
        self._unseeded = appearing
        obey_when_away(new, self._ledger, self._counters)
        self._log.info("policy", version=new.policy.version, source=new.policy.source, before=old.policy.version)

    async def _seed(self, budgets: tuple[Budget, ...], governed: Governed) -> None:
        """Teach budgets of a policy what has been spent, once all that was spent here is in the ledger."""
        if budgets:
            await self._ledger.flush()
            await self._purse.seed(self._database, budgets, self._now(), governed.timezone)

    async def _let_go(self) -> None:
        """Let go of policies whose last request has ended."""
        for retired in [one for one in self._retired if not one[0].requests]:
            self._retired.remove(retired)
            reign, appeared = retired
            self._unseeded = tuple(dict.fromkeys((*self._unseeded, *appeared)))
            await self._providers.end(reign.lease)


def obey_when_away(governed: Governed, ledger: LedgerWriter, counters: GuardedCounters | None) -> None:
    """Let the stores do as the policy says while they are away."""
    ledger.obey(governed.when_away)
    if counters is not None:
        counters.obey(governed.when_away)


def _appearing(old: LoadedPolicy, new: LoadedPolicy, of_keys: tuple[Budget, ...]) -> tuple[Budget, ...]:
    """List the budgets whose counters nobody has drawn on: an edited limit keeps the counter, and so its history.

    On another calendar these are all there are, and those of the keys.
    """
    if old.rules.timezone != new.rules.timezone:
        return (*new.rules.budgets(), *of_keys)
    counted = {(budget.scope, budget.window, budget.each) for budget in old.rules.budgets()}
    return tuple(budget for budget in new.rules.budgets() if (budget.scope, budget.window, budget.each) not in counted)
