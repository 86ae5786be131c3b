"""From a provider's Messages stream to the chunks of a chat.

Spec: the Anthropic API reference, "Streaming Messages".
"""

from dataclasses import dataclass
from typing import Any

from gateway.dialects.counts import newest
from gateway.dialects.messages.failures import to_chat_error
from gateway.dialects.messages.parts import without
from gateway.dialects.messages.speech import CALL, KINDS, TEXT, arguments_of, plain_after
from gateway.dialects.messages.stops import to_finish
from gateway.dialects.messages.usage import to_chat_usage
from gateway.errors import UpstreamError


@dataclass(slots=True, eq=False)
class _Heard:
    """One block so far.

    Attributes:
        kind: what a layout calls it.
        index: its place among all blocks.
        place: its place among those of its kind.
        said: the characters of its text or its arguments.
        told: whether the layout has it, and `counted` whether with its length.
    """

    kind: str
    index: int
    place: int
    said: int = 0
    open: bool = True
    told: bool = False
    counted: bool = False


class Hearing:
    """One answer of a provider, heard event by event.

    Args:
        provider: its name in the policy, for errors.
        created: when the answer began, in seconds since 1970; the events do not say.
    """

    def __init__(self, provider: str, created: int) -> None:
        self._provider = provider
        self._head: dict[str, Any] = {"object": "chat.completion.chunk", "created": created}
        self._usage: dict[str, Any] = {}
        self._blocks: dict[int, _Heard] = {}
        self._laid = False

    def hear(self, event: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the chunks that say what the event says: none for pings and for events that are not known yet.

        An error is a chunk with `error` in place of choices.

        Raises:
            UpstreamError: the stream makes no sense, or holds a block that nobody can have asked for.
        """
        try:
            return self._heard(event, data)
        except (KeyError, TypeError, AttributeError) as error:
            text = f"Provider {self._provider!r} sent a stream that makes no sense."
            raise UpstreamError(text, self._provider) from error

    def _heard(self, event: str, data: dict[str, Any]) -> list[dict[str, Any]]:
        chunks: list[dict[str, Any]] = []
        match event:
            case "message_start":
                chunks = [self._start(data["message"])]
            case "content_block_start":
                chunks = self._begin(data["index"], data["content_block"])
            case "content_block_delta":
                chunks = self._go_on(self._blocks[data["index"]], data["delta"])
            case "content_block_stop":
                chunks = self._stop(self._blocks[data["index"]])
            case "message_delta":
                chunks = self._end(data["delta"], data.get("usage"))
            case "error":
                chunks = [to_chat_error(data)]
            case _:
                pass
        return chunks

    def _start(self, message: dict[str, Any]) -> dict[str, Any]:
        self._head |= {"id": message["id"], "model": message["model"]}
        if message.get("diagnostics") is not None:
            self._head["diagnostics"] = message["diagnostics"]
        # The count of output stands for nothing yet: no answer that breaks off, or tells no other, is priced by it.
        self._usage = without(newest(self._usage, message.get("usage")), "output_tokens")
        return self._chunk({"role": "assistant"}) | {"usage": to_chat_usage(self._usage)}

    def _begin(self, index: int, block: dict[str, Any]) -> list[dict[str, Any]]:
        kind = KINDS.get(block["type"])
        if kind is None:
            text = f"Provider {self._provider!r} sent a block of type {block['type']!r}, which cannot be carried."
            raise UpstreamError(text, self._provider)
        before = next(reversed(self._blocks.values()), None)
        place = sum(heard.kind == kind for heard in self._blocks.values())
        heard = self._blocks[index] = _Heard(kind, len(self._blocks), place)
        two_texts = before is not None and kind == before.kind == TEXT
        plain = before is None or (plain_after(kind, before.kind) and not two_texts)
        chunks = [] if plain and not self._laid else self._lay_out()
        match kind:
            case "text":
                chunks += self._say(heard, block["text"])
                for citation in block.get("citations") or []:
                    chunks += self._cite(heard, citation)
            case "tool_use":
                chunks.append(self._call(heard, block))
            case _:
                thought = {"index": place} | block
                shown = {"reasoning_content": block["thinking"]} if block.get("thinking") else {}
                chunks.append(self._chunk(shown | {"thinking_blocks": [thought]}))
        return chunks

    def _go_on(self, heard: _Heard, delta: dict[str, Any]) -> list[dict[str, Any]]:
        match delta["type"]:
            case "text_delta":
                return self._say(heard, delta["text"])
            case "citations_delta":
                return self._cite(heard, delta["citation"])
            case "input_json_delta":
                heard.said += len(delta["partial_json"])
                return [self._argue(heard, delta["partial_json"])] if delta["partial_json"] else []
            case "thinking_delta":
                thought = {"index": heard.place, "thinking": delta["thinking"]}
                return [self._chunk({"reasoning_content": delta["thinking"], "thinking_blocks": [thought]})]
            case "signature_delta":
                return [self._chunk({"thinking_blocks": [{"index": heard.place, "signature": delta["signature"]}]})]
            case kind:
                text = f"Provider {self._provider!r} sent a delta of type {kind!r}, which cannot be carried."
                raise UpstreamError(text, self._provider)

    def _stop(self, heard: _Heard) -> list[dict[str, Any]]:
        heard.open = False
        if heard.kind == CALL and not heard.said:  # a call without input comes without a single piece of JSON
            return [self._argue(heard, "{}")]
        if heard.kind == TEXT and self._laid:
            return self._lay_out()
        return []

    def _end(self, delta: dict[str, Any], usage: object) -> list[dict[str, Any]]:
        self._usage = newest(self._usage, usage)
        chunks: list[dict[str, Any]] = []
        if delta.get("stop_reason") is not None:
            explanation = (delta.get("stop_details") or {}).get("explanation")
            said = {} if explanation is None else {"refusal": explanation}
            chunks = [self._chunk(said, **to_finish(delta))]
        return [*chunks, self._head | {"choices": [], "usage": to_chat_usage(self._usage)}]

    def _say(self, heard: _Heard, text: str) -> list[dict[str, Any]]:
        heard.said += len(text)
        return [self._chunk({"content": text})] if text else []

    def _cite(self, heard: _Heard, citation: dict[str, Any]) -> list[dict[str, Any]]:
        chunks = [] if self._laid else self._lay_out()
        return [*chunks, self._chunk({"layout": [{"index": heard.index, "citations": [citation]}]})]

    def _call(self, heard: _Heard, block: dict[str, Any]) -> dict[str, Any]:
        arguments = arguments_of(block["input"]) if block.get("input") else ""
        heard.said += len(arguments)
        function = {"name": block["name"], "arguments": arguments}
        call = {"index": heard.place, "id": block["id"], "type": "function", "function": function}
        return self._chunk({"tool_calls": [call | without(block, "type", "id", "name", "input")]})

    def _argue(self, heard: _Heard, partial: str) -> dict[str, Any]:
        return self._chunk({"tool_calls": [{"index": heard.place, "function": {"arguments": partial}}]})

    def _lay_out(self) -> list[dict[str, Any]]:
        """Tell the layout of what is new in it; before the first time it was not needed."""
        entries: list[dict[str, Any]] = []
        for heard in self._blocks.values():
            entry: dict[str, Any] = {"index": heard.index}
            if not heard.told:
                entry["type"] = heard.kind
            if heard.kind == TEXT and not heard.open and not heard.counted:
                entry["chars"] = heard.said
                heard.counted = True
            heard.told = True
            if len(entry) > 1:
                entries.append(entry)
        self._laid = True
        return [self._chunk({"layout": entries})] if entries else []

    def _chunk(self, delta: dict[str, Any], **end: Any) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None} | end
        return self._head | {"choices": [choice]}


def events_of_whole(message: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the events that a provider would have told a whole message by."""
    blocks = [
        step
        for index, block in enumerate(message.get("content") or [])
        for step in (
            ("content_block_start", {"index": index, "content_block": block}),
            ("content_block_stop", {"index": index}),
        )
    ]
    end = ("message_delta", {"delta": message, "usage": message.get("usage")})
    return [("message_start", {"message": message}), *blocks, end]
