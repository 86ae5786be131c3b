"""From a provider's Gemini stream to the chunks of a chat.

Each event is a whole response of the API with what is new in it, so each is one chunk. Spec: the Gemini API reference,
"Generating content", `GenerateContentResponse`, and its guide "Thought signatures".
"""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import msgspec

from gateway.dialects.counts import newest
from gateway.dialects.gemini.failures import to_chat_error
from gateway.dialects.gemini.stops import to_block, to_finish
from gateway.dialects.gemini.usage import to_chat_usage, to_tier
from gateway.errors import UpstreamError

_SAID_OTHERWISE = frozenset({"content", "index", "finishReason", "logprobsResult", "tokenCount"})
"""Fields of a candidate that have a word in chat; `tokenCount` is in the usage."""


@dataclass(slots=True)
class _Heard:
    """One candidate so far: whether it has begun, and how many calls it made."""

    begun: bool = False
    calls: int = 0


class Hearing:
    """One answer of a provider, heard event by event.

    Args:
        provider: its name in the policy, for errors.
        created: when the answer began, in seconds since 1970; the events do not say.
    """

    def __init__(self, provider: str, created: int) -> None:
        self._provider = provider
        self._head: dict[str, Any] = {"object": "chat.completion.chunk", "created": created, "id": "", "model": ""}
        self._usage: dict[str, Any] = {}
        self._heard: dict[int, _Heard] = {}

    def hear(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the chunks that say what an event says, each with the usage so far where the event tells it.

        An error is a chunk with `error` in place of choices.

        Raises:
            UpstreamError: the stream makes no sense, or holds a part that nobody can have asked for.
        """
        try:
            return self._chunks(data)
        except (KeyError, TypeError, AttributeError) as error:
            text = f"Provider {self._provider!r} sent a stream that makes no sense."
            raise UpstreamError(text, self._provider) from error

    def _chunks(self, data: dict[str, Any]) -> list[dict[str, Any]]:
        if data.get("error"):
            return [to_chat_error(data)]
        self._head["id"] = data.get("responseId") or self._head["id"]
        self._head["model"] = (data.get("modelVersion") or self._head["model"]).removeprefix("models/")
        choices = [self._choice(candidate) for candidate in data.get("candidates") or []]
        block = to_block(data.get("promptFeedback") or {})
        chunk = self._head | {"choices": choices or ([] if block is None else [block])}
        told = data.get("usageMetadata")
        if told:
            self._usage = newest(self._usage, told)
            chunk |= {"usage": to_chat_usage(self._usage)} | to_tier(self._usage)
        return [chunk] if told or chunk["choices"] else []

    def _choice(self, candidate: dict[str, Any]) -> dict[str, Any]:
        index = candidate.get("index") or 0
        heard = self._heard.setdefault(index, _Heard())
        delta: dict[str, Any] = {} if heard.begun else {"role": "assistant"}
        heard.begun = True
        for part in (candidate.get("content") or {}).get("parts") or []:
            self._hear_part(delta, part, index)
        choice: dict[str, Any] = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None}
        if candidate.get("logprobsResult"):
            choice["logprobs"] = _logprobs(candidate["logprobsResult"])
        reason = candidate.get("finishReason")
        if reason is not None:
            choice |= to_finish(reason, called=heard.calls > 0)
        if choice["finish_reason"] == "content_filter" and candidate.get("finishMessage"):
            delta["refusal"] = candidate["finishMessage"]
        rest = {name: value for name, value in candidate.items() if name not in _SAID_OTHERWISE and value is not None}
        return choice | rest

    def _hear_part(self, delta: dict[str, Any], part: dict[str, Any], index: int) -> None:
        """Add to a delta what a part says. What signs a text signs the text of the message: it has one."""
        signed = _signed(part)
        if "functionCall" in part:
            delta.setdefault("tool_calls", []).append(self._call(part["functionCall"], index) | signed)
            return
        text = part.get("text", "")
        unknown = next((name for name in part if name not in {"text", "thought", "thoughtSignature"}), None)
        if unknown is not None and not text:
            words = f"Provider {self._provider!r} sent a part with {unknown!r}, which cannot be carried."
            raise UpstreamError(words, self._provider)
        if text:
            name = "reasoning_content" if part.get("thought") else "content"
            delta[name] = delta.get(name, "") + text
        delta |= signed

    def _call(self, call: dict[str, Any], index: int) -> dict[str, Any]:
        heard = self._heard[index]
        place, heard.calls = heard.calls, heard.calls + 1
        # Older models give no ids; one of ours must not meet another in a later turn.
        call_id = call.get("id") or f"{self._head['id']}_{index}_{place}"
        args = msgspec.json.encode({**(call.get("args") or {})}).decode()
        function = {"name": call["name"], "arguments": args}
        return {"index": place, "id": call_id, "type": "function", "function": function}


def _signed(part: dict[str, Any]) -> dict[str, Any]:
    signature = part.get("thoughtSignature")
    return {"extra_content": {"google": {"thought_signature": signature}}} if signature else {}


def _logprobs(result: dict[str, Any]) -> dict[str, Any]:
    """Return the log probabilities of a choice: for each token that was chosen, it and its likeliest rivals."""
    chosen, rivals = result.get("chosenCandidates") or [], result.get("topCandidates") or []
    steps = zip_longest(chosen, rivals[: len(chosen)], fillvalue={})
    return {
        "content": [
            _token(token) | {"top_logprobs": [_token(rival) for rival in step.get("candidates") or []]}
            for token, step in steps
        ],
        "refusal": None,
    }


def _token(candidate: dict[str, Any]) -> dict[str, Any]:
    text = candidate["token"]
    return {"token": text, "logprob": candidate["logProbability"], "bytes": list(text.encode())}
