"""Google's errors, in the shape of a chat's."""

from typing import Any

import pytest

from gateway.dialects.gemini.failures import to_chat_error

# Issue 5807 of the repository google-gemini/gemini-cli.
TOO_LONG = {
    "code": 400,
    "message": "The input token count (1091639) exceeds the maximum number of tokens allowed (1048576).",
    "status": "INVALID_ARGUMENT",
}
BAD_KEY = {
    "code": 400,
    "message": "API key not valid. Please pass a valid API key.",
    "status": "INVALID_ARGUMENT",
    "details": [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "API_KEY_INVALID",
            "domain": "googleapis.com",
            "metadata": {"service": "generativelanguage.googleapis.com"},
        }
    ],
}
BUSY = {
    "code": 429,
    "message": "You exceeded your current quota. Please retry in 59.44s.",
    "status": "RESOURCE_EXHAUSTED",
    "details": [
        {"@type": "type.googleapis.com/google.rpc.Help", "links": []},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "59.44s"},
    ],
}


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        ({"status": "INVALID_ARGUMENT"}, "invalid_request_error", "invalid_request_error"),
        ({"status": "NOT_FOUND"}, "not_found", "invalid_request_error"),
        ({"status": "PERMISSION_DENIED"}, "forbidden", "permission_error"),
        ({"status": "INTERNAL"}, "upstream_error", "server_error"),
        ({"status": "UNAVAILABLE"}, "overloaded", "server_error"),
        ({"status": "DEADLINE_EXCEEDED"}, "upstream_timeout", "server_error"),
        ({"status": "A_NEW_ONE"}, "upstream_error", "server_error"),
        (TOO_LONG, "context_length_exceeded", "invalid_request_error"),
        (BAD_KEY, "invalid_api_key", "invalid_request_error"),
        (BUSY, "rate_limit_exceeded", "rate_limit_error"),
    ],
)
def test_every_status_has_its_code_and_its_type(error: dict[str, Any], code: str, kind: str) -> None:
    told = to_chat_error({"error": error})["error"]

    assert (told["message"], told["type"], told["code"]) == (error.get("message", ""), kind, code)
    assert told["param"] is None


def test_an_error_in_a_list_is_read_too() -> None:
    assert to_chat_error([{"error": BUSY}]) == to_chat_error({"error": BUSY})


@pytest.mark.parametrize("body", [None, [], {}, {"error": "no"}, {"error": {"details": "x"}}, "no", 5])
def test_what_is_no_error_of_google_is_a_failure_without_words(body: object) -> None:
    assert to_chat_error(body)["error"] == {
        "message": "",
        "type": "server_error",
        "param": None,
        "code": "upstream_error",
    }


@pytest.mark.parametrize(
    ("delay", "seconds"), [("59.44s", 60), ("3s", 3), ("s", None), ("-1s", None), ("1e9s", None), (5, None)]
)
def test_the_time_to_wait_is_read_from_the_body(delay: object, seconds: int | None) -> None:
    error = to_chat_error({"error": {"details": [{"links": []}, {"retryDelay": delay}]}})["error"]

    assert error.get("retry_after_s") == seconds
