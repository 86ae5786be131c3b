"""Errors in the shape that each side reads."""

import pytest

from gateway.dialects.messages.failures import from_chat_error, to_chat_error
from gateway.wire.errors import STATUS, UNEXPECTED, Shape, error_object

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
}


SHAPES = {f"{shape.status} {shape.code}": shape for shape in (*STATUS.values(), UNEXPECTED)}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_refusal_of_ours_has_a_type_in_messages(shape: Shape) -> None:
    error = error_object(shape, "No.")["error"]
    said = from_chat_error(error, shape.status, "req_1")

    expected = "billing_error" if shape.code == "insufficient_quota" else TYPES[shape.status]
    assert said["error"]["type"] == expected
    assert said["error"]["details"]["error_code"] == shape.code
    assert said["request_id"] == "req_1"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("server_error", "api_error"),
        ("rate_limit_error", "rate_limit_error"),
        ("permission_error", "permission_error"),
        ("invalid_request_error", "invalid_request_error"),
        ("never_heard_of", "api_error"),
    ],
)
def test_inside_a_stream_the_kind_of_an_error_must_do(kind: str, expected: str) -> None:
    error = {"message": "No.", "type": kind, "param": None, "code": "of_somebody_else"}

    assert from_chat_error(error, None, None)["error"]["type"] == expected


def test_the_facts_of_a_refusal_are_its_details() -> None:
    error = {"message": "Spent.", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}
    said = from_chat_error(error | {"scope": "team:a", "resets_at": None}, 429, None)

    assert said["error"]["details"] == {"error_code": "insufficient_quota", "scope": "team:a"}


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("overloaded_error", "overloaded"),
        ("rate_limit_error", "rate_limit_exceeded"),
        ("timeout_error", "upstream_timeout"),
        ("api_error", "upstream_error"),
        ("never_heard_of", "upstream_error"),
        ("invalid_request_error", "invalid_request_error"),
    ],
)
def test_a_providers_error_has_one_of_our_codes(kind: str, code: str) -> None:
    said = to_chat_error({"type": "error", "error": {"type": kind, "message": "No."}})["error"]

    assert (said["code"], said["message"]) == (code, "No.")


def test_a_prompt_that_is_too_long_is_known_by_its_words() -> None:
    text = "prompt is too long: 215000 tokens > 200000 maximum"
    said = to_chat_error({"type": "error", "error": {"type": "invalid_request_error", "message": text}})

    assert said["error"]["code"] == "context_length_exceeded"


def test_an_error_without_a_shape_is_still_an_error() -> None:
    assert to_chat_error({})["error"]["code"] == "upstream_error"
