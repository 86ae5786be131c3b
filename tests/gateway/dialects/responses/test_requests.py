"""A request in this dialect, in the chat form, and back."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.responses.asking import ENCRYPTED, LOGPROBS, to_chat
from gateway.dialects.responses.calling import to_responses

words = st.text(max_size=20)
names = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
objects = st.dictionaries(names, words, max_size=2)
breakpoints = st.fixed_dictionaries({}, optional={"prompt_cache_breakpoint": st.just({"mode": "explicit"})})


def shaped(kind: str, optional: dict[str, Any] | None = None, **required: Any) -> Any:
    return st.fixed_dictionaries({"type": st.just(kind), **required}, optional=optional or {})


def cached(parts: Any) -> Any:
    return st.builds(lambda part, mark: part | mark, parts, breakpoints)


input_parts = st.lists(
    cached(
        st.one_of(
            shaped("input_text", text=words),
            shaped("input_image", {"detail": st.sampled_from(["low", "high", "original"])}, image_url=words),
            shaped("input_file", {"filename": words, "detail": st.just("low")}, file_url=words),
            shaped("input_file", file_id=words),
            shaped("input_file", file_data=words),
            shaped("input_audio", input_audio=st.just({"data": "AA==", "format": "wav"})),
        )
    ),
    min_size=1,
    max_size=3,
)
output_parts = st.lists(
    st.one_of(shaped("output_text", text=words), shaped("refusal", refusal=words)), min_size=1, max_size=2
)
phases = {"phase": st.sampled_from(["commentary", "final_answer"])}
asked = shaped("message", role=st.sampled_from(["user", "developer"]), content=st.one_of(words, input_parts))
ruled = shaped("message", role=st.just("system"), content=input_parts)
something = st.text(min_size=1, max_size=20)  # a message that says nothing beside calls is none
spoken = shaped("message", phases, role=st.just("assistant"), content=st.one_of(something, output_parts))
thought = shaped(
    "reasoning",
    {"encrypted_content": words, "content": st.lists(shaped("reasoning_text", text=words), max_size=2)},
    id=words,
    summary=st.lists(shaped("summary_text", text=words), max_size=2),
)


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, Any]]:
    """What a model answers in one go: thoughts and texts in any order, then calls, each with its result."""
    said = draw(st.lists(st.one_of(thought, spoken), max_size=3))
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for index in range(draw(st.integers(0, 3))):
        call = {"call_id": f"c{index}", "name": draw(names)}
        function = draw(st.booleans())
        kind, field = ("function_call", "arguments") if function else ("custom_tool_call", "input")
        calls += draw(st.lists(thought, max_size=2)) if index else []
        calls.append({"type": kind, field: draw(words)} | call)
        output = draw(st.one_of(words, input_parts))
        results.append({"type": f"{kind}_output", "call_id": f"c{index}", "output": output})
    return [*said, *calls, *results]


history = st.lists(st.one_of(asked.map(lambda item: [item]), ruled.map(lambda item: [item]), turns()), max_size=4)
inputs = st.builds(
    lambda first, rest: [first, *(item for turn in rest for item in turn)], st.one_of(asked, ruled), history
)
function = shaped("function", {"description": words}, name=names, parameters=objects, strict=st.booleans())
grammar = st.fixed_dictionaries({"type": st.just("grammar"), "syntax": st.just("lark"), "definition": words})
custom = shaped("custom", {"format": st.one_of(st.just({"type": "text"}), grammar)}, name=names)
named = st.sampled_from([{"type": "function", "name": "f"}, {"type": "custom", "name": "f"}])
choices = st.one_of(
    st.sampled_from(["auto", "none", "required"]),
    named,
    shaped("allowed_tools", mode=st.just("auto"), tools=st.lists(named, min_size=1, max_size=2)),
)
formats = st.one_of(
    st.sampled_from([{"type": "text"}, {"type": "json_object"}]),
    shaped("json_schema", {"strict": st.booleans(), "description": words}, name=names, schema=objects),
)


def some_of(**fields: Any) -> Any:
    return st.fixed_dictionaries({}, optional=fields).filter(bool)


bodies = st.fixed_dictionaries(
    {"model": names, "input": inputs, "store": st.sampled_from([False])},
    optional={
        "instructions": words,
        "max_output_tokens": st.integers(1, 9999),
        "temperature": st.floats(0, 2),
        "top_p": st.floats(0, 1),
        "tools": st.lists(st.one_of(function, custom), max_size=3),
        "tool_choice": choices,
        "parallel_tool_calls": st.booleans(),
        "text": some_of(format=formats, verbosity=st.sampled_from(["low", "high"])),
        "reasoning": some_of(
            effort=st.sampled_from(["none", "high"]), summary=st.just("auto"), context=st.just("all_turns")
        ),
        "include": st.sampled_from([[ENCRYPTED], [LOGPROBS], [ENCRYPTED, LOGPROBS]]),
        "metadata": objects,
        "truncation": st.sampled_from(["auto", "disabled"]),
        "stream": st.booleans(),
        "stream_options": some_of(include_obfuscation=st.booleans()),
        "service_tier": st.sampled_from(["auto", "flex"]),
        "prompt_cache_key": words,
        "safety_identifier": words,
        "user": words,
        "top_k": st.integers(),
    },
)


@given(bodies)
def test_a_request_comes_back_as_it_was(body: dict[str, Any]) -> None:
    assert to_responses(to_chat(body)) == body
