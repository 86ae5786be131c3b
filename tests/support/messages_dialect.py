"""Anthropic Messages as tests need them: any legal request, any legal answer, and a client that reads a stream."""

from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import strategies as st

from gateway.dialects.messages.hearing import Hearing, events_of_whole
from gateway.wire.fold import Fold

Event = tuple[str, dict[str, Any]]
Objects = st.SearchStrategy[dict[str, Any]]

WORDS = st.text(min_size=1, max_size=12)
NAMES = st.from_regex(r"[a-z_]{1,10}", fullmatch=True)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
INPUTS: Objects = st.dictionaries(WORDS, JSON, max_size=3)
CITATIONS: Objects = st.fixed_dictionaries(
    {"type": st.just("char_location"), "cited_text": WORDS, "document_index": st.integers(0, 3)}
)


def objects(kind: str, optional: dict[str, st.SearchStrategy[Any]] | None = None, **fields: Any) -> Objects:
    return st.fixed_dictionaries({"type": st.just(kind)} | fields, optional=optional or {})


CACHED: dict[str, st.SearchStrategy[Any]] = {
    "cache_control": st.sampled_from([{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}])
}
URLS = WORDS.map(lambda word: f"https://example.org/{word}")
TEXTS = objects("text", CACHED, text=WORDS)
PLAIN = objects("text", text=WORDS)
LINKS = objects("url", url=URLS)
STORED = objects("file", file_id=NAMES)
IMAGES = objects(
    "image",
    CACHED,
    source=LINKS | STORED | objects("base64", media_type=st.just("image/png"), data=st.just("aGVsbG8=")),
)
DOCUMENTS = objects(
    "document",
    CACHED | {"title": WORDS, "context": WORDS, "citations": st.just({"enabled": True})},
    source=LINKS
    | STORED
    | objects("base64", media_type=st.just("application/pdf"), data=st.just("aGVsbG8="))
    | objects("text", media_type=st.just("text/plain"), data=st.text(max_size=12))
    | objects("content", content=WORDS | st.lists(TEXTS | IMAGES, min_size=1, max_size=2)),
)
FOUND = objects("search_result", CACHED, source=URLS, title=WORDS, content=st.lists(TEXTS, min_size=1, max_size=2))
RESULTS = objects(
    "tool_result",
    CACHED | {"is_error": st.booleans()},
    tool_use_id=NAMES,
    content=WORDS | st.lists(TEXTS | IMAGES | DOCUMENTS | FOUND, min_size=1, max_size=2),
)
THINKING = objects("thinking", thinking=st.text(max_size=12), signature=WORDS)
REDACTED = objects("redacted_thinking", data=WORDS)
CALLS = objects("tool_use", CACHED, id=NAMES, name=NAMES, input=INPUTS)
CITED = objects("text", {"citations": st.lists(CITATIONS, min_size=1, max_size=2)}, text=WORDS)

SAID_BY_USER = st.builds(
    lambda results, said: [*results, *said],
    st.lists(RESULTS, max_size=2),
    st.lists(TEXTS | IMAGES | DOCUMENTS | FOUND, max_size=3),
).filter(bool)
SPOKEN = st.lists(TEXTS | CITED | THINKING | REDACTED | CALLS, min_size=1, max_size=5)


@st.composite
def conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for _ in range(draw(st.integers(1, 3))):
        turns.append({"role": "user", "content": draw(WORDS | SAID_BY_USER)})
        if draw(st.booleans()):
            turns.append({"role": "system", "content": draw(WORDS | st.lists(TEXTS, min_size=1, max_size=2))})
        turns.append({"role": "assistant", "content": draw(WORDS | SPOKEN)})
    return turns


TOOLS = st.fixed_dictionaries(
    {"name": NAMES, "input_schema": st.just({"type": "object", "properties": {"x": {"type": "integer"}}})},
    optional=CACHED
    | {"description": WORDS, "strict": st.booleans(), "input_examples": st.lists(INPUTS, min_size=1, max_size=1)},
) | st.just({"type": "bash_20250124", "name": "bash"})
SINGLE: dict[str, st.SearchStrategy[Any]] = {"disable_parallel_tool_use": st.booleans()}
CHOICES = (
    objects("auto", SINGLE) | objects("any", SINGLE) | objects("tool", SINGLE, name=NAMES) | st.just({"type": "none"})
)
FORMATS = st.just({"type": "json_schema", "schema": {"type": "object", "additionalProperties": False}})
EFFORTS = st.sampled_from(["low", "medium", "high", "xhigh", "max"])

REQUESTS: Objects = st.fixed_dictionaries(
    {"model": NAMES, "max_tokens": st.integers(1, 4096), "messages": conversations()},
    optional={
        "system": WORDS | st.lists(TEXTS, min_size=1, max_size=2),
        "stop_sequences": st.lists(WORDS, min_size=1, max_size=2),
        "stream": st.booleans(),
        "temperature": st.floats(0, 1),
        "top_p": st.floats(0, 1),
        "top_k": st.integers(0, 100),
        "metadata": st.fixed_dictionaries({"user_id": WORDS}),
        "thinking": st.sampled_from(
            [{"type": "adaptive", "display": "omitted"}, {"type": "enabled", "budget_tokens": 1024}]
        ),
        "output_config": st.fixed_dictionaries({"effort": EFFORTS}, optional={"format": FORMATS}),
        "service_tier": st.sampled_from(["auto", "standard_only"]),
        "tools": st.lists(TOOLS, min_size=1, max_size=2),
        "tool_choice": CHOICES,
        "cache_control": CACHED["cache_control"],
        "diagnostics": st.just({"previous_message_id": "msg_0"}),
        "a_field_of_next_year": INPUTS,
    },
)

COUNTS = st.integers(0, 1_000_000)


@st.composite
def usages(draw: st.DrawFn) -> dict[str, Any]:
    minutes, hour, output = draw(COUNTS), draw(COUNTS), draw(COUNTS)
    return {
        "input_tokens": draw(COUNTS),
        "cache_read_input_tokens": draw(COUNTS),
        "cache_creation_input_tokens": minutes + hour,
        "cache_creation": {"ephemeral_5m_input_tokens": minutes, "ephemeral_1h_input_tokens": hour},
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": draw(st.integers(0, output))},
        "service_tier": "standard",
    }


@st.composite
def answers(draw: st.DrawFn) -> dict[str, Any]:
    blocks = st.one_of(PLAIN, CITED, THINKING, REDACTED, objects("tool_use", id=NAMES, name=NAMES, input=INPUTS))
    content = draw(st.lists(blocks, max_size=6))
    calls = any(block["type"] == "tool_use" for block in content)
    reasons = ["tool_use"] if calls else ["end_turn", "stop_sequence", "pause_turn"]
    reason = draw(st.sampled_from([*reasons, "max_tokens", "refusal", "model_context_window_exceeded"]))
    details = {"type": "refusal", "category": "bio", "explanation": "No."}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": "END" if reason == "stop_sequence" else None,
        "usage": draw(usages()),
    } | ({"stop_details": details} if reason == "refusal" else {})


def read(events: Iterable[Event]) -> dict[str, Any]:
    """Return the message that a client puts together from a stream, and insist on the order that the API promises."""
    message: dict[str, Any] = {}
    arguments: dict[int, str] = {}
    ended: set[int] = set()
    for name, data in events:
        assert data["type"] == name
        match name:
            case "message_start":
                assert not message
                message = msgspec.json.decode(msgspec.json.encode(data["message"]))
            case "content_block_start":
                assert data["index"] == len(message["content"])
                message["content"].append(dict(data["content_block"]))
            case "content_block_delta":
                assert data["index"] not in ended
                _add(message["content"][data["index"]], data["delta"], arguments, data["index"])
            case "content_block_stop":
                assert data["index"] not in ended
                ended.add(data["index"])
                if arguments.get(data["index"]):
                    message["content"][data["index"]]["input"] = msgspec.json.decode(arguments[data["index"]])
            case "message_delta":
                assert len(ended) == len(message["content"])
                message |= data["delta"]
                message["usage"] |= data["usage"]
            case _:
                assert name == "message_stop"
    return message


def _add(block: dict[str, Any], delta: dict[str, Any], arguments: dict[int, str], index: int) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] += delta["text"]
        case "citations_delta":
            block["citations"] = [*block.get("citations", []), delta["citation"]]
        case "thinking_delta":
            block["thinking"] += delta["thinking"]
        case "signature_delta":
            block["signature"] += delta["signature"]
        case kind:
            assert kind == "input_json_delta"
            arguments[index] = arguments.get(index, "") + delta["partial_json"]


def completed(message: dict[str, Any]) -> dict[str, Any]:
    """Return the completion that a whole message of a provider is heard as."""
    hearing, fold = Hearing("anthropic", 7), Fold()
    for name, data in events_of_whole(message):
        for chunk in hearing.hear(name, data):
            fold.add(chunk)
    return fold.completion()
