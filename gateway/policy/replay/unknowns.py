"""What the ledger does not know, and a replay therefore leaves as it was: said where two policies differ in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gateway.policy.change.parts import parts
from governance.limits import StepAction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gateway.policy.change.parts import Path
    from gateway.policy.source import LoadedPolicy

SAME_REQUEST: Final = (
    "limits.loop.same_request: which requests were the same is not on record, so the same ones are stopped as were."
)
CACHE: Final = "cache.exact: what a wider cache would have answered is not on record, so none of it is spared."
DEFAULT_LENGTH: Final = (
    "max_tokens.default: which requests named no length is not on record, so their answers stay as long as they were."
)
TIGHTENED_LENGTH: Final = (
    "tighten: which requests named no length is not on record, so only answers over half the ceiling become shorter."
)


def _same_request(path: Path) -> bool:
    return path[:2] == ("limits", "loop") and path[2] in {"same_request", "within"}


_LEFT: Final[tuple[tuple[Callable[[Path], bool], str], ...]] = (
    (_same_request, SAME_REQUEST),
    (lambda path: path[:2] == ("cache", "exact"), CACHE),
    (lambda path: path[-2:] == ("max_tokens", "default"), DEFAULT_LENGTH),
)


def left_out(new: LoadedPolicy, met: Iterable[LoadedPolicy]) -> tuple[str, ...]:
    """Say what of a policy could not be tried on traffic that met other policies, a sentence each."""
    others = [policy for policy in met if policy.version != new.version]
    return tuple(_sentences(new, others)) if others else ()


def _sentences(new: LoadedPolicy, others: list[LoadedPolicy]) -> Iterator[str]:
    for matches, sentence in _LEFT:
        wanted = _chosen(new, matches)
        if any(_chosen(other, matches) != wanted for other in others):
            yield sentence
    if _tightens(new) and not all(map(_tightens, others)):
        yield TIGHTENED_LENGTH


def _chosen(policy: LoadedPolicy, matches: Callable[[Path], bool]) -> dict[Path, object]:
    return {path: part for path, part in parts(policy.document).items() if matches(path)}


def _tightens(policy: LoadedPolicy) -> bool:
    steps = (step for budget in policy.rules.budgets() for step in budget.steps)
    return any(step.action is StepAction.TIGHTEN for step in steps)
