"""Errors of those who speak the OpenAI API, each in a shape of its own."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.providers.apis.failures import error_of, to_error

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "detail", "msg", "loc", "code", "type", "param", "metadata"]), inner
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_whatever_comes_is_an_error_object(body: Any) -> None:
    error = to_error(body)
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert error["code"] is None or isinstance(error["code"], str | int)


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b'{"error":{}}', b"\xff"])
def test_what_says_nothing_has_no_message(body: bytes) -> None:
    assert error_of(body)["message"] == ""


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "No."}},
        {"error": "No."},
        {"message": "No."},
        {"detail": "No."},
        {"message": {"detail": "No."}},
        [{"error": {"message": "No."}}],
    ],
)
def test_the_message_is_found_wherever_it_stands(body: Any) -> None:
    assert error_of(msgspec.json.encode(body))["message"] == "No."


def test_words_tell_what_a_code_does_not() -> None:
    body = {"error": {"message": "The prompt is too long: 9, model maximum context length: 8", "code": "invalid"}}
    assert to_error(body)["code"] == "context_length_exceeded"


def test_what_a_validator_lists_is_one_sentence() -> None:
    wrong = [{"loc": ["body", "n"], "msg": "too many"}, {"loc": ["body", "messages", 0], "msg": "missing"}]
    assert to_error({"detail": wrong})["message"] == "body.n: too many; body.messages.0: missing"
