"""Which failures of a line are worth another run, and when."""

from datetime import UTC, datetime, timedelta

import pytest

from gateway.deferred.patience import MOST_FAILURES, Wait, patience
from gateway.errors import BadRequest, UpstreamError, UpstreamOverloaded, UpstreamRefused
from governance.deferred.records import Line, Owner
from governance.errors import BudgetExhausted, RateLimited, StoreUnavailable
from governance.money import Nanodollars

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MIDNIGHT = NOON + timedelta(hours=12)


def line(failures: int = 0, hours: int = 24) -> Line:
    return Line(
        batch_id="batch_1",
        n=1,
        custom_id="c",
        owner=Owner("red", "bot"),
        key_id="k",
        endpoint="/v1/embeddings",
        asked="{}",
        body=b"{}",
        generation=1,
        failures=failures,
        expires_at=NOON + timedelta(hours=hours),
    )


def used_up(spent: int, held: int = 0, asked: int = 10, resets_at: datetime | None = MIDNIGHT) -> BudgetExhausted:
    limit, said = Nanodollars(100), (Nanodollars(spent), Nanodollars(held), Nanodollars(asked))
    return BudgetExhausted(
        scope="org", limit=limit, spent=said[0], held=said[1], asked=said[2], window="day", resets_at=resets_at
    )


def after(seconds: float, *, whole_batch: bool, failed: bool = False) -> Wait:
    return Wait(NOON + timedelta(seconds=seconds), whole_batch, failed)


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        (used_up(95), Wait(MIDNIGHT, whole_batch=True)),
        (used_up(50, held=45), after(5, whole_batch=True)),
        (RateLimited(scope="org", unit="requests", limit=1, asked=1, retry_after_s=7), after(7, whole_batch=True)),
        (UpstreamOverloaded("busy", "p", 429, 30), after(30, whole_batch=True)),
        (StoreUnavailable("away"), after(1, whole_batch=True)),
        (UpstreamError("fell over", "p", 500), after(2, whole_batch=False, failed=True)),
        (RuntimeError(), after(2, whole_batch=False, failed=True)),
    ],
)
def test_what_may_pass_is_waited_for(error: Exception, wait: Wait) -> None:
    assert patience(error, line(), NOON) == wait


@pytest.mark.parametrize(
    "error",
    [
        used_up(0, asked=101),
        used_up(95, resets_at=None),
        RateLimited(scope="org", unit="tokens", limit=1, asked=2, retry_after_s=7),
        BadRequest("no"),
        UpstreamRefused("no", "p", 400),
    ],
)
def test_what_will_never_pass_is_the_line_s_result(error: Exception) -> None:
    assert patience(error, line(), NOON) is None


def test_a_line_is_tried_so_often_and_no_more() -> None:
    failure = UpstreamError("fell over", "p", 500)
    waits = [patience(failure, line(failures), NOON) for failures in range(MOST_FAILURES)]
    assert [wait and (wait.until - NOON).total_seconds() for wait in waits] == [2, 4, None]


def test_nothing_is_waited_for_beyond_the_end_of_the_batch() -> None:
    assert patience(used_up(95), line(hours=12), NOON) is None
