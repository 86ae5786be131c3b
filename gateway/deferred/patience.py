"""Which failures of a line are worth another run, and when.

Nobody waits for it, so what may pass is waited for: limits, budgets and busy stores hold the whole batch back, for its
other lines would fare the same. A call that failed upstream is tried a few times, because each may be billed.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.errors import UpstreamOverloaded
from gateway.wire.errors import shape_of, wait_s
from governance.deferred.records import Line
from governance.errors import BudgetExhausted, RateLimited

MOST_FAILURES: Final = 3
"""How many runs of a line may fail upstream, the last included."""

_HELD: Final = timedelta(seconds=5)
"""How long to wait for room in a budget that is only held by requests in flight."""

_BUSY: Final = 503
_UPSTREAM: Final = frozenset({500, 502, 504})


@dataclass(frozen=True, slots=True)
class Wait:
    """Run a line again, not before an instant.

    Attributes:
        whole_batch: the other lines of its batch wait as well.
        failed: the run counts as one that failed.
    """

    until: datetime
    whole_batch: bool
    failed: bool = False


def patience(error: Exception, line: Line, at: datetime) -> Wait | None:
    """Return how to go on after a run has raised an error; None when the error is the line's result."""
    wait = _wait(error, line, at)
    return None if wait is None or wait.until >= line.expires_at else wait


def _wait(error: Exception, line: Line, at: datetime) -> Wait | None:
    if isinstance(error, BudgetExhausted):
        return _for_money(error, at)
    seconds, status = wait_s(error, at), shape_of(error).status
    if isinstance(error, RateLimited):
        return None if seconds is None else Wait(at + timedelta(seconds=seconds), whole_batch=True)
    if status == _BUSY or isinstance(error, UpstreamOverloaded):
        return Wait(at + timedelta(seconds=max(seconds or 0.0, 1.0)), whole_batch=True)
    if status in _UPSTREAM and line.failures + 1 < MOST_FAILURES:
        return Wait(at + timedelta(seconds=2 ** (line.failures + 1)), whole_batch=False, failed=True)
    return None


def _for_money(error: BudgetExhausted, at: datetime) -> Wait | None:
    if error.resets_at is None or error.asked > error.limit:
        return None  # it will never fit
    if error.spent + error.asked <= error.limit:
        return Wait(at + _HELD, whole_batch=True)
    return Wait(error.resets_at, whole_batch=True)
