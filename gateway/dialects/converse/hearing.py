"""From a provider's Converse stream to the chunks of a chat.

Spec: the Amazon Bedrock API reference, `ConverseStream`. Its events are those of Messages in other words, except that
only the block of a call is said to begin, that one index may hold thinking and then text, and that the reason to stop
comes before the usage.
"""

from collections.abc import Iterator
from typing import Any

from gateway.dialects.converse.citations import to_citation
from gateway.dialects.converse.failures import FAILED, failure
from gateway.dialects.converse.stops import to_end
from gateway.dialects.converse.usage import counts_cached_twice, to_messages_usage
from gateway.dialects.messages.hearing import Hearing as MessagesHearing
from gateway.dialects.messages.parts import without
from gateway.errors import UpstreamError

_Event = tuple[str, dict[str, Any]]
_Block = tuple[int, str]
"""The index of a block, and which kind of block it holds there."""

_EMPTY: dict[str, dict[str, Any]] = {
    "text": {"type": "text", "text": ""},
    "thinking": {"type": "thinking", "thinking": "", "signature": ""},
}


class Hearing:
    """One answer of a provider, heard event by event.

    Args:
        provider: its name in the policy, for errors.
        answer_id: what the answer is called; the events do not say.
        model: what the provider calls the model that was asked; the events do not say that either.
        created: when the answer began, in seconds since 1970.
    """

    def __init__(self, provider: str, answer_id: str, model: str, created: int) -> None:
        self._provider = provider
        self._twice = counts_cached_twice(model)
        self._head = {"id": answer_id, "model": model}
        self._messages = MessagesHearing(provider, created)
        self._blocks: dict[_Block, int] = {}
        self._begun = 0

    def hear(self, event: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the chunks that say what the event says: none for events that are not known yet.

        An exception is a chunk with `error` in place of choices.

        Raises:
            UpstreamError: the stream makes no sense, or holds a block that nobody can have asked for.
        """
        try:
            return self._heard(event, data)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            text = f"Provider {self._provider!r} sent a stream that makes no sense."
            raise UpstreamError(text, self._provider) from error

    def _heard(self, event: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        chunks: list[dict[str, Any]] = []
        match event:
            case "messageStart":
                # No usage is told yet, and none must not be taken for nothing.
                started = self._said([("message_start", {"message": self._head})])
                chunks = [without(chunk, "usage") for chunk in started]
            case "contentBlockStart":
                chunks = self._said(self._start(data["contentBlockIndex"], data["start"]))
            case "contentBlockDelta":
                chunks = self._said(self._go_on(data["contentBlockIndex"], data["delta"]))
            case "contentBlockStop":
                chunks = self._said(self._stop(data["contentBlockIndex"]))
            case "messageStop":
                ended = self._said([("message_delta", {"delta": {"stop_reason": data["stopReason"]}})])
                chunks = [_with_end(chunk, to_end(data)) for chunk in ended if chunk["choices"]]
            case "metadata" if isinstance(data.get("usage"), dict):
                usage = to_messages_usage(data["usage"], twice=self._twice)
                tier = {"service_tier": data["serviceTier"]["type"]} if data.get("serviceTier") else {}
                chunks = [chunk | tier for chunk in self._said([("message_delta", {"delta": {}, "usage": usage})])]
            case _ if event.endswith(FAILED):
                chunks = [failure(event, data)]
            case _:
                pass
        return chunks

    def _said(self, events: list[_Event] | Iterator[_Event]) -> list[dict[str, Any]]:
        return [chunk for name, data in events for chunk in self._messages.hear(name, data)]

    def _start(self, index: int, start: dict[str, Any]) -> Iterator[_Event]:
        for kind, said in start.items():
            match kind:
                case "toolUse":
                    block = {"type": said.get("type") or "tool_use", "id": said["toolUseId"], "name": said["name"]}
                    yield self._begin((index, kind), block)
                case "toolResult" | "image":
                    yield self._begin((index, kind), {"type": kind})
                case _:
                    pass  # what begins with its first delta

    def _go_on(self, index: int, delta: dict[str, Any]) -> Iterator[_Event]:
        for kind, said in delta.items():
            match kind:
                case "text":
                    yield from self._grow((index, "text"), {"type": "text_delta", "text": said})
                case "toolUse":
                    yield self._delta((index, kind), {"type": "input_json_delta", "partial_json": said["input"]})
                case "reasoningContent":
                    yield from self._think(index, said)
                case "citation":
                    yield from self._grow((index, "text"), {"type": "citations_delta", "citation": to_citation(said)})
                case _:
                    yield from self._grow((index, "text"), {"type": kind})

    def _think(self, index: int, said: dict[str, Any]) -> Iterator[_Event]:
        for kind, part in said.items():
            match kind:
                case "text":
                    yield from self._grow((index, "thinking"), {"type": "thinking_delta", "thinking": part})
                case "signature":
                    yield from self._grow((index, "thinking"), {"type": "signature_delta", "signature": part})
                case _:
                    yield self._begin((index, kind), {"type": "redacted_thinking", "data": part})

    def _grow(self, key: _Block, delta: dict[str, Any]) -> Iterator[_Event]:
        if key not in self._blocks:
            yield self._begin(key, _EMPTY[key[1]])
        yield self._delta(key, delta)

    def _begin(self, key: _Block, block: dict[str, Any]) -> _Event:
        self._blocks[key] = self._begun
        self._begun += 1
        return "content_block_start", {"index": self._blocks[key], "content_block": block}

    def _delta(self, key: _Block, delta: dict[str, Any]) -> _Event:
        return "content_block_delta", {"index": self._blocks[key], "delta": delta}

    def _stop(self, index: int) -> Iterator[_Event]:
        for key in [key for key in self._blocks if key[0] == index]:
            yield "content_block_stop", {"index": self._blocks.pop(key)}


def _with_end(chunk: dict[str, Any], end: dict[str, Any]) -> dict[str, Any]:
    choice = without(chunk["choices"][0], "native_finish_reason") | end
    return without(chunk, "choices") | {"choices": [choice]}
