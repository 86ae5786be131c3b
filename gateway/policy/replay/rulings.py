"""What the new policy makes of one kind of request: who may answer it, at what price, and whether that is news.

Requests of one kind (caller, wish, and the policy they met) get one ruling, so a million requests need few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from gateway.errors import ModelNotFound
from gateway.policy.replay.limits import Book
from gateway.policy.replay.regime import CACHE, Met, Regime, resolved
from gateway.policy.replay.terms import exact_cache, growth, hourly, rates, semantic_cache, terms, terms_of_target
from gateway.steps.budget_steps import tightened
from gateway.wire.errors import shape_of
from governance.limits.loops import Repeats
from governance.policy.rules import Grant, OutputRule
from governance.prices import Price, scaled
from governance.windows import SESSION
from router_models.errors import NoRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gateway.policy.replay.lanes import Board
    from gateway.policy.replay.limits import Limits
    from gateway.policy.source import LoadedPolicy
    from governance.identity import KeyTerms
    from governance.ledger.reading.traffic import Past

NO_APP: Final = "no_such_app"
LOOP: Final = "loop_detected"
DECIDED_BY_POLICY: Final = frozenset({"insufficient_quota", "rate_limit_exceeded", "model_not_allowed"})
"""Refusals that another policy may undo; all others had reasons of their own."""

_NOTHING: Final = Grant((), None, OutputRule(), (), ())


@dataclass(frozen=True, slots=True)
class Answer:
    """Who answers one kind of request under so much pressure, and on which terms.

    Attributes:
        code: Why it is refused before any money is held; empty when it is not.
        model: Who answers it; empty when nobody does.
        reason: Why that model, as a gateway would say.
        zone_changed: Its model runs in another zone than the one that answered.
        price: What it is billed at; None when as in the past.
        known: Whether its price is known; if not, it counts as in the past.
        hold: By which ratio its hold grows, as numerator and denominator.
    """

    code: str = ""
    model: str = ""
    reason: str = ""
    zone_changed: bool = False
    price: Price | None = None
    known: bool = True
    hold: tuple[int, int] = (1, 1)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What becomes of one kind of request.

    Attributes:
        same: The very rules, route, models and prices that it met in the past; nothing is decided anew by itself.
        answer: From how many tiers cheaper budgets want its model to who answers it.
        cached: Which caches still give their answers.
        undone: The codes of refusals that this policy may undo.
        was_tightened: A budget had shortened its answer.
        ceiling: The longest its answer may be, where that is news; else None.
        tight_ceiling: The same where a budget tightens.
        limits: What it draws on.
    """

    same: bool
    answer: Callable[[int], Answer]
    cached: frozenset[str]
    undone: frozenset[str]
    was_tightened: bool
    ceiling: int | None
    tight_ceiling: int | None
    limits: Limits


class Rulings:
    """The rulings of one policy.

    Args:
        new: The policy that is tried.
        known: Policies by version, for as many as are at hand of those that the traffic met.
        recorded: The last price each model was billed at.
        keys: What each key is narrowed to, by its public id; they never change.
        board: The counters.
    """

    def __init__(
        self,
        new: LoadedPolicy,
        known: Mapping[str, LoadedPolicy],
        recorded: Mapping[str, Price],
        keys: Mapping[str, KeyTerms],
        board: Board,
    ) -> None:
        self._new = Regime(new, keys)
        self._known = {version: Regime(policy, keys) for version, policy in known.items()} | {new.version: self._new}
        self.recorded = recorded
        self._book = Book(board)
        self._rulings: dict[tuple[str, ...], Ruling] = {}

    def of(self, row: Past) -> Ruling:
        """Return the ruling for a request of the past."""
        met = row.met
        found = self._rulings.get(met)
        if found is None:
            found = self._rulings[met] = self._rule(Met(*met))
        return found

    @property
    def versions(self) -> frozenset[str]:
        """The policies that the traffic met so far."""
        return frozenset(Met(*met).version for met in self._rulings)

    def _rule(self, met: Met) -> Ruling:
        new, old = self._new, self._known.get(met.version)
        grant, before = new.grant(met), None if old is None else old.grant(met)
        # Where the app is gone, what it drew on in the past is what others now find otherwise.
        limits = self._under(grant or before or _NOTHING, met)
        if grant is None:
            return _nobodys(limits, same=before is None and old is not None)
        reference, held = (new, grant) if old is None or before is None else (old, before)
        wish = reference.wish(met, held)
        was = None if old is None or before is None else old.target(before, wish)
        target = new.target(grant, wish)
        same = (
            old is not None
            and before == grant
            and terms_of_target(old.policy, was) == terms_of_target(new.policy, target)
            and _everyones(old.policy) == _everyones(new.policy)
            and _caches(old.policy, met) == _caches(new.policy, met)
        )
        output = before.output if before is not None and old is not None else None
        if met.tightened and output is not None:
            output = tightened(output)
        return Ruling(
            same=same,
            answer=cache(partial(self._answer, met, grant, reference, held)),
            cached=_caches(new.policy, met) if new.permits(grant, met.model) else frozenset(),
            undone=DECIDED_BY_POLICY | ({LOOP} if _loops_are_told(new, old) else set()),
            was_tightened=met.tightened,
            ceiling=_news(grant.output, output),
            tight_ceiling=_news(tightened(grant.output), output),
            limits=limits,
        )

    def _under(self, grant: Grant, met: Met) -> Limits:
        loop = self._new.policy.rules.loop
        repeats: tuple[Repeats, ...] = ()
        if loop is not None and loop.session_requests is not None:
            repeats = (Repeats(sessions_of(met.key_id), SESSION, loop.session_requests),)
        return self._book.limits(resolved(grant, met), repeats)

    def _answer(self, met: Met, grant: Grant, reference: Regime, held: Grant, downgrade: int) -> Answer:
        """Return who answers a request that met a regime, under the grant that it had there."""
        new, old = self._new, self._known.get(met.version)
        wish = reference.wish(met, held, downgrade)
        then = reference.circumstances(met, held, wish)
        try:
            route = new.choose(met, grant, wish, then, downgrade)
        except (NoRoute, ModelNotFound) as refusal:
            return Answer(code=shape_of(refusal).code)
        origin = route.model if met.refused else met.model
        price, known = self._price(None if old is None else old.policy, origin, route.model)
        if met.provider == CACHE:  # it cost nothing, so there is no price of the past to keep
            price = price or self.recorded.get(route.model)
        return Answer(
            model=route.model,
            reason=route.reason,
            zone_changed=new.zone(route.model) != (old or new).zone(origin),
            price=price,
            known=known,
            hold=growth(self.recorded.get(origin), price),
        )

    def _price(self, old: LoadedPolicy | None, origin: str, model: str) -> tuple[Price | None, bool]:
        """Return what a model is billed at, None when as `origin` was; and whether that is known."""
        new, past = self._new.policy, self.recorded.get(model)
        if model == origin and old is not None and terms(old, model) == terms(new, model):
            return None, True
        stated = new.prices.get(model)
        if stated is not None:
            return (None if model == origin and rates(stated) == rates(past) else stated), True
        if past is None:
            return None, False
        machine, was = hourly(new, model), None if old is None else hourly(old, model)
        if machine is None or was is None or machine == was:
            return (None if model == origin else past), True
        return scaled(past, Fraction(machine.nanos, was.nanos), past.source), True


def sessions_of(key_id: str) -> str:
    """Return the scope of the sessions of a key, up to which one it is."""
    return f"key:{key_id}?session="


def _nobodys(limits: Limits, *, same: bool) -> Ruling:
    """Return the ruling about an app that the policy does not have."""
    return Ruling(
        same=same,
        answer=lambda _: Answer(code=NO_APP),
        cached=frozenset(),
        undone=frozenset(),
        was_tightened=False,
        ceiling=None,
        tight_ceiling=None,
        limits=limits,
    )


def _everyones(policy: LoadedPolicy) -> object:
    """Return what applies to everyone's requests, to be compared."""
    loop = policy.rules.loop
    sessions, same_requests = (None, False) if loop is None else (loop.session_requests, loop.same_request is not None)
    return policy.rules.timezone, exact_cache(policy), sessions, same_requests


def _caches(policy: LoadedPolicy, met: Met) -> frozenset[str]:
    """Name the caches that may answer a feature, by the words with which the ledger says that they did."""
    exact, semantic = exact_cache(policy), semantic_cache(policy)
    enabled = semantic is not None and f"{met.app}/{met.feature}" in semantic.enabled
    return frozenset({"exact"} if exact is not None else ()) | ({"semantic"} if enabled else set())


def _loops_are_told(new: Regime, old: Regime | None) -> bool:
    """Say whether a refused loop may be decided anew.

    Not where it may have been the very same request again, and still would be: the ledger does not know those.
    """
    rules = [regime.policy.rules.loop for regime in (new, old) if regime is not None]
    return any(loop is None or loop.same_request is None for loop in rules)


def _news(rule: OutputRule, was: OutputRule | None) -> int | None:
    """Return the longest an answer may be, unless it was no longer before."""
    return None if was is not None and was.ceiling == rule.ceiling else rule.ceiling
