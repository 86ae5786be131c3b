"""What the ledger does not know, and a replay therefore leaves as it was: said where two policies differ in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gateway.policy.change.parts import parts
from gateway.policy.replay.terms import exact_cache, semantic_cache
from governance.limits import StepAction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from gateway.policy.source import LoadedPolicy

SAME_REQUEST: Final = (
    "limits.loop.same_request: which requests were the same is not on record, so whom it stopped it still stops, "
    "and nobody else."
)
CACHE: Final = "cache.exact: what a wider cache would have answered is not on record, so none of it is spared."
SEMANTIC: Final = (
    "cache.semantic: what it would have answered that was asked anew is not on record, nor what its judge would have "
    "cost, so none of it is spared or spent."
)
DEFAULT_LENGTH: Final = (
    "max_tokens.default: which requests named no length is not on record, so their answers stay as long as they were."
)
TIGHTENED_LENGTH: Final = (
    "tighten: which requests named no length is not on record, so only answers over half the ceiling become shorter."
)


def left_out(new: LoadedPolicy, met: Iterable[LoadedPolicy]) -> tuple[str, ...]:
    """Say what of a policy could not be tried on traffic that met other policies, a sentence each."""
    others = [policy for policy in met if policy.version != new.version]
    return tuple(_sentences(new, others)) if others else ()


def _sentences(new: LoadedPolicy, others: Sequence[LoadedPolicy]) -> Iterator[str]:
    for rule_of, sentence in _LEFT:
        rule = rule_of(new)
        if rule is not None and any(rule_of(other) != rule for other in others):
            yield sentence
    if _tightens(new) and not all(map(_tightens, others)):
        yield TIGHTENED_LENGTH


def _same_request(policy: LoadedPolicy) -> object:
    loop = policy.rules.loop
    return None if loop is None or loop.same_request is None else (loop.same_request, loop.within_s)


def _default_lengths(policy: LoadedPolicy) -> object:
    return {path: part for path, part in parts(policy.document).items() if path[-2:] == ("max_tokens", "default")}


def _tightens(policy: LoadedPolicy) -> bool:
    steps = (step for budget in policy.rules.budgets() for step in budget.steps)
    return any(step.action is StepAction.TIGHTEN for step in steps)


_LEFT: Final[tuple[tuple[Callable[[LoadedPolicy], object], str], ...]] = (
    (_same_request, SAME_REQUEST),
    (exact_cache, CACHE),
    (semantic_cache, SEMANTIC),
    (_default_lengths, DEFAULT_LENGTH),
)
"""Rules of a policy that matter where they are (not None) and differ."""
