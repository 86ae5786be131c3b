"""Counting the tokens of a prompt."""

from typing import Any

import pytest
from hypothesis import given

from gateway.dialects.messages.counting import chat_to_count, counted, request_to_count
from gateway.errors import BadRequest
from tests.support.messages_dialect import REQUESTS

BODY: dict[str, Any] = {"model": "claude", "messages": [{"role": "user", "content": "Hi"}], "system": "Be brief."}
IN_THE_PROMPT = {"model", "messages", "system", "tools", "tool_choice", "thinking", "cache_control", "output_config"}


def test_a_request_to_count_needs_no_bound() -> None:
    chat = chat_to_count(BODY)

    assert "max_tokens" not in chat
    assert request_to_count(chat) == BODY


@given(REQUESTS)
def test_a_provider_is_asked_about_the_prompt_alone(body: dict[str, Any]) -> None:
    asked = request_to_count(chat_to_count(body))

    assert asked == {name: value for name, value in body.items() if name in IN_THE_PROMPT}


@pytest.mark.parametrize("fields", [{"metadata": 5}, {"stop_sequences": 5}, {"messages": []}, {"fallbacks": "default"}])
def test_a_request_to_count_is_checked_like_any_other(fields: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        chat_to_count(BODY | fields)


def test_the_reply_is_one_number() -> None:
    assert counted(7) == {"input_tokens": 7}
