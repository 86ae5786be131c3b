"""What a provider's refusal means for our caller."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ContextTooLong, UpstreamError, UpstreamOverloaded, UpstreamRefused
from gateway.providers.refusals import refusal

NOW = "Fri, 28 Aug 2026 10:00:00 GMT"


def wait_s(headers: dict[str, str], **said: Any) -> float | None:
    error = refusal("p", 429, headers, said)
    assert isinstance(error, UpstreamOverloaded)
    return error.retry_after_s


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "999999"}, 3600.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "1", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Fri, 28 Aug 2026 10:00:30 GMT", "date": NOW}, 30.0),
        ({"retry-after": "Fri, 28 Aug 2026 09:00:00 GMT", "date": NOW}, 0.0),
        ({"retry-after": "Fri, 28 Aug 2026 10:00:30 GMT"}, None),
    ],
)
def test_the_wait_is_as_the_provider_asks(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_s(headers) == seconds


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date"]), st.text() | st.just(NOW)))
def test_no_wait_is_longer_than_an_hour_or_shorter_than_none(headers: dict[str, str]) -> None:
    assert 0 <= (wait_s(headers) or 0) <= 3600


def test_a_wait_that_only_the_body_tells_is_obeyed() -> None:
    assert wait_s({}, retry_after_s=17) == 17.0


@pytest.mark.parametrize("code", ["invalid_api_key", "insufficient_quota"])
@pytest.mark.parametrize("status", [400, 429])
def test_what_is_wrong_with_our_account_is_no_fault_of_the_caller(status: int, code: str) -> None:
    error = refusal("p", status, {}, {"message": "Your key sk-1 is bad.", "code": code})
    assert type(error) is UpstreamError
    assert "sk-1" not in str(error)


def test_a_request_over_the_limits_of_our_account_is_no_fault_of_the_caller() -> None:
    error = refusal("p", 413, {}, {"message": "Request too large in organization o1", "code": "rate_limit_exceeded"})
    assert type(error) is UpstreamOverloaded


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (400, UpstreamRefused),
        (429, UpstreamOverloaded),
        (529, UpstreamOverloaded),
        (502, UpstreamError),
        ("context_length_exceeded", ContextTooLong),
        ("content_filter", UpstreamRefused),
        (["odd"], UpstreamError),
        (None, UpstreamError),
    ],
)
def test_in_place_of_an_answer_the_code_tells_what_the_status_would_have(code: Any, kind: type[UpstreamError]) -> None:
    error = refusal("p", None, {}, {"message": "No.", "code": code})
    assert (type(error), error.status) == (kind, None)
