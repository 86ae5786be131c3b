"""Twenty ways in which one field makes another request, and ten spellings of the same one."""

import json
from copy import deepcopy
from typing import Any

import pytest

from cache.canonical import fingerprint

BODY: dict[str, Any] = {
    "model": "auto",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [
            {"type": "text", "text": "What is on it?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        ]},
    ],
    "temperature": 0.5,
    "top_p": 1,
    "n": 1,
    "seed": 7,
    "max_tokens": 100,
    "stop": ["END"],
    "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}],
    "tool_choice": "auto",
    "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
}  # fmt: skip

DIFFERENCES: dict[str, tuple[tuple[str | int, ...], Any]] = {
    "system prompt": (("messages", 0, "content"), "Be brief"),
    "role": (("messages", 0, "role"), "developer"),
    "question": (("messages", 1, "content", 0, "text"), "what is on it?"),
    "picture": (("messages", 1, "content", 1, "image_url", "url"), "data:image/png;base64,AAAB"),
    "picture's detail": (("messages", 1, "content", 1, "image_url", "detail"), "high"),
    "kind of attachment": (("messages", 1, "content", 1, "type"), "file"),
    "speaker's name": (("messages", 1, "name"), "Ann"),
    "temperature": (("temperature",), 0),
    "temperature, slightly": (("temperature",), 0.5000001),
    "top_p": (("top_p",), 0.9),
    "number of answers": (("n",), 2),
    "seed": (("seed",), 8),
    "length": (("max_tokens",), 101),
    "stop": (("stop",), ["END", "\n"]),
    "tool's name": (("tools", 0, "function", "name"), "find"),
    "tool's parameters": (("tools", 0, "function", "parameters", "properties"), {"x": {}}),
    "tool choice": (("tool_choice",), "required"),
    "schema": (("response_format", "json_schema", "schema"), {"type": "array"}),
    "kind of format": (("response_format",), {"type": "json_object"}),
    "reasoning": (("reasoning_effort",), "high"),
    "bias": (("logit_bias",), {"50256": -100}),
    "log probabilities": (("logprobs",), True),
    "a field of tomorrow": (("brand_new",), 1),
}


def key(body: object, epoch: str = "") -> bytes:
    assert isinstance(body, dict)
    return fingerprint(body, partition="p", model_class="m", endpoint="chat", epoch=epoch)


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    body: Any = deepcopy(BODY)
    place = body
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return body


@pytest.mark.parametrize("name", DIFFERENCES)
def test_one_field_that_differs_makes_another_request(name: str) -> None:
    assert key(changed(*DIFFERENCES[name])) != key(BODY)


def test_no_two_of_these_differences_are_the_same_request() -> None:
    assert len({key(changed(*difference)) for difference in DIFFERENCES.values()}) == len(DIFFERENCES)


def test_another_epoch_makes_another_request() -> None:
    assert key(BODY, "one") != key(BODY, "two") != key(BODY)


SPELLINGS: dict[str, Any] = {
    "fields in another order": dict(reversed(BODY.items())),
    "inner fields in another order": changed(("messages", 0), {"content": "Be brief.", "role": "system"}),
    "white space on the wire": json.loads(json.dumps(BODY, indent=4)),
    "escaped on the wire": json.loads(json.dumps(BODY).replace("What", "\\u0057hat")),
    "a whole number with a point": changed(("top_p",), 1.0),
    "a number with an exponent": json.loads(json.dumps(BODY).replace("0.5,", "5e-1,")),
    "as a stream": BODY | {"stream": True, "stream_options": {"include_usage": True}},
    "for another user": BODY | {"user": "ann", "safety_identifier": "x", "metadata": {"session": "1"}},
    "with another priority": BODY | {"service_tier": "flex"},
    "with wishes for the caches": BODY | {"cache": {"ttl": 5, "tags": ["a"]}, "prompt_cache_key": "k"},
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_spelling_is_no_difference(name: str) -> None:
    assert key(SPELLINGS[name]) == key(BODY)
