"""What a client of the legacy API sends is read as a chat request, or refused by name."""

from typing import Any

import pytest

from gateway.dialects.completions.asking import echoed, to_chat
from gateway.errors import BadRequest

BODY: dict[str, Any] = {"model": "m", "prompt": "Once upon a time"}


def test_a_prompt_is_one_message_and_its_answer_as_short_as_this_api_has_it() -> None:
    assert to_chat(BODY) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Once upon a time"}],
        "max_tokens": 16,
    }


def test_a_list_of_one_prompt_is_that_prompt() -> None:
    assert to_chat(BODY | {"prompt": ["Once upon a time"]}) == to_chat(BODY)


def test_fields_that_chat_has_as_well_keep_their_names() -> None:
    shared = {
        "max_tokens": 5,
        "n": 2,
        "stop": ["\n"],
        "temperature": 0,
        "seed": 1,
        "stream": True,
        "stream_options": {"include_usage": True},
        "user": "u",
        "top_k": 3,
    }

    chat = to_chat(BODY | shared)

    assert {name: chat[name] for name in shared} == shared


@pytest.mark.parametrize(("logprobs", "chat"), [(0, {"logprobs": True}), (2, {"logprobs": True, "top_logprobs": 2})])
def test_a_number_of_logprobs_is_two_fields_in_chat(logprobs: int, chat: dict[str, Any]) -> None:
    assert to_chat(BODY | {"logprobs": logprobs}) == to_chat(BODY) | chat


def test_an_echo_is_said_by_the_answer_and_not_asked_of_the_model() -> None:
    asked = BODY | {"echo": True}

    assert to_chat(asked) == to_chat(BODY)
    assert (echoed(asked), echoed(BODY)) == ("Once upon a time", "")


@pytest.mark.parametrize("fields", [{"best_of": 1}, {"best_of": 3, "n": 3}, {"suffix": ""}, {"suffix": None}])
def test_what_asks_for_nothing_more_is_no_obstacle(fields: dict[str, Any]) -> None:
    assert to_chat(BODY | fields)["messages"] == to_chat(BODY)["messages"]


@pytest.mark.parametrize(
    ("fields", "param", "advice"),
    [
        ({"prompt": ["a", "b"]}, "prompt", "requests of their own"),
        ({"prompt": [1, 2]}, "prompt", "must be text"),
        ({"prompt": [[1, 2]]}, "prompt", "must be text"),
        ({"prompt": []}, "prompt", "must be text"),
        ({"prompt": None}, "prompt", "null"),
        ({"suffix": "The end."}, "suffix", "into the prompt"),
        ({"best_of": 3}, "best_of", "with 'n'"),
        ({"echo": True, "logprobs": 1}, "echo", "leave out"),
        ({"logprobs": -1}, "logprobs", ">= 0"),
        ({"messages": []}, "messages", "'prompt'"),
        ({"max_completion_tokens": 5}, "max_completion_tokens", "'max_tokens'"),
        ({"tools": [{}]}, "tools", "Chat Completions"),
    ],
)
def test_what_cannot_be_carried_is_refused_by_name_with_what_to_do(
    fields: dict[str, Any], param: str, advice: str
) -> None:
    with pytest.raises(BadRequest) as refused:
        to_chat(BODY | fields)

    assert refused.value.param == param
    assert advice in refused.value.message
