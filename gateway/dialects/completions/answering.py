"""Write an answer as this API gives it: chunks and whole replies have the same form."""

from collections.abc import Mapping
from typing import Any

from gateway.wire.fold import objects

_ENDINGS = {"tool_calls": "stop", "function_call": "stop"}


def reply(completion: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return a completion of chat as this API has it; every text begins with `prefix`."""
    answer = Answer(prefix)
    choices = [choice | {"delta": choice["message"]} for choice in completion["choices"]]
    return answer.feed({**completion, "choices": choices})[0][1]


class Answer:
    """The chunks of one answer, made of the chunks of a chat completion as they come. They have no event names."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._lengths: dict[int, int] = {}

    def feed(self, chunk: Mapping[str, Any]) -> list[tuple[None, dict[str, Any]]]:
        """Return the chunk that says what `chunk` says; an error is passed on as it is."""
        if "choices" not in chunk:
            return [(None, dict(chunk))]
        choices = [self._choice(choice) for choice in objects(chunk["choices"])]
        return [(None, {**chunk, "object": "text_completion", "choices": choices})]

    def end(self) -> list[tuple[None, dict[str, Any]]]:
        """Return what is left to say: nothing, since every chunk is passed on as it comes."""
        return []

    def _choice(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        index, delta, ending = choice.get("index"), _object(choice.get("delta")), choice.get("finish_reason")
        index = index if type(index) is int else 0
        said = "".join(text for name in ("content", "refusal") if isinstance(text := delta.get(name), str))
        text = said if index in self._lengths else self._prefix + said
        before = self._lengths.get(index, 0)
        self._lengths[index] = before + len(text)
        tokens = _tokens(_object(choice.get("logprobs")).get("content"))
        return {
            "index": index,
            "text": text,
            "logprobs": _logprobs(tokens, before) if tokens else None,
            "finish_reason": _ENDINGS.get(ending, ending) if isinstance(ending, str) and ending else None,
        }


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _tokens(value: object) -> list[dict[str, Any]]:
    return [each for each in objects(value) if isinstance(each.get("token"), str) and "logprob" in each]


def _logprobs(tokens: list[dict[str, Any]], offset: int) -> dict[str, Any]:
    """Return the tokens of a text that begins at character `offset`, list by list."""
    offsets: list[int] = []
    for token in tokens:
        offsets.append(offset)
        offset += len(token["token"])
    return {
        "tokens": [token["token"] for token in tokens],
        "token_logprobs": [token["logprob"] for token in tokens],
        "top_logprobs": [
            {top["token"]: top["logprob"] for top in _tokens(token.get("top_logprobs")) or [token]} for token in tokens
        ],
        "text_offset": offsets,
    }
