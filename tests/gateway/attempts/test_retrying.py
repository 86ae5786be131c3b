"""Which failure is worth another attempt."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import errors
from gateway.attempts.retrying import BY_KIND, FIRST_PAUSE_S, LONGEST_PAUSE_S, Again, again, pause_s
from gateway.errors import UpstreamError
from gateway.providers.refusals import refusal
from tests.architecture.test_errors import declared


def refused(status: int | None, **headers: str) -> UpstreamError:
    return refusal("cloud", status, {name.replace("_", "-"): text for name, text in headers.items()}, {"message": "no"})


@pytest.mark.parametrize(
    ("status", "where"),
    [
        (400, Again.NOWHERE),
        (404, Again.NOWHERE),
        (413, Again.NOWHERE),
        (415, Again.NOWHERE),
        (422, Again.NOWHERE),
        (401, Again.ELSEWHERE),
        (402, Again.ELSEWHERE),
        (403, Again.ELSEWHERE),
        (301, Again.ELSEWHERE),
        (501, Again.ELSEWHERE),
        (408, Again.HERE),
        (409, Again.HERE),
        (429, Again.HERE),
        (500, Again.HERE),
        (502, Again.HERE),
        (503, Again.HERE),
        (504, Again.HERE),
        (529, Again.HERE),
        (None, Again.HERE),
    ],
)
def test_a_status_says_where_another_attempt_may_be_made(status: int | None, where: Again) -> None:
    assert again(refused(status)) is where


@pytest.mark.parametrize("kind", [kind for kind in declared(errors) if issubclass(kind, UpstreamError)])
def test_every_kind_of_failure_has_its_line(kind: type[UpstreamError]) -> None:
    assert kind is UpstreamError or any(parent in BY_KIND for parent in kind.__mro__)


def test_a_prompt_that_is_too_long_is_too_long_every_time() -> None:
    assert again(errors.ContextTooLong("too long", "cloud", 400)) is Again.NOWHERE


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after_ms": "1500", "retry_after": "2"}, 1.5),
        ({"retry_after": "Sun, 29 Nov 2026 12:00:09 GMT", "date": "Sun, 29 Nov 2026 12:00:00 GMT"}, 9),
        ({"retry_after": "Sun, 29 Nov 2026 11:00:00 GMT", "date": "Sun, 29 Nov 2026 12:00:00 GMT"}, 0),
        ({"retry_after": "999999999"}, 3600),
        ({"retry_after": "Sun, 29 Nov 2026 12:00:09 GMT"}, 0),
        ({"retry_after": "soon"}, 0),
        ({"retry_after": "-5"}, 0),
        ({"retry_after": "1e9"}, 0),
        ({}, 0),
    ],
)
def test_a_provider_is_not_asked_again_before_it_wishes_to_be(headers: dict[str, str], seconds: float) -> None:
    assert pause_s(refused(429, **headers), retry=0, chance=0.0) == seconds


def test_a_connection_that_had_gone_stale_is_no_reason_to_wait() -> None:
    stale = errors.UpstreamStale("gone", "cloud")
    assert (again(stale), pause_s(stale, 5, 0.99)) == (Again.AT_ONCE, 0.0)


@given(st.integers(0, 40), st.floats(0, 1, exclude_max=True))
def test_the_pause_grows_to_a_bound_and_is_all_chance(retry: int, chance: float) -> None:
    pause = pause_s(refused(500), retry, chance)
    assert 0 <= pause <= min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**retry)
    assert pause_s(refused(500), retry, 0.0) == 0
