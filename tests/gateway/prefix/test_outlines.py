"""Where prefixes end does not depend on marks, and marks are counted wherever a client may put them."""

from typing import Any

from gateway.prefix.outlines import Outline, outline

MARK = {"type": "ephemeral"}
TOOL: dict[str, Any] = {"type": "function", "function": {"name": "f", "parameters": {"cache_control": {"x": 1}}}}
SYSTEM = {"role": "system", "content": "Be brief."}


def said(role: str, content: object, **more: object) -> dict[str, Any]:
    return {"role": role, "content": content} | more


def found(*messages: dict[str, Any], salt: bytes = b"red/bot", **body: Any) -> Outline:
    outlined = outline({"messages": list(messages)} | body, salt)
    assert outlined is not None
    return outlined


def test_the_prefixes_of_a_chat_are_its_tools_its_system_prompt_and_each_turn_that_is_not_the_models() -> None:
    outlined = found(
        SYSTEM,
        said("user", "Hi"),
        said("assistant", None, tool_calls=[{"id": "1"}]),
        said("tool", "4", tool_call_id="1"),
        said("user", "And?"),
        tools=[TOOL],
    )
    assert [end.at for end in outlined.ends] == [-1, 0, 1, 3, 4]
    assert (outlined.latest.at, outlined.kind) == (4, "conversation")
    assert outlined.size == outlined.latest.size


def test_a_conversation_that_grows_keeps_the_prefixes_it_had() -> None:
    first = found(SYSTEM, said("user", "Hi"))
    second = found(SYSTEM, said("user", "Hi"), said("assistant", "Hello"), said("user", "Bye"))
    assert (first.kind, second.kind) == ("opening", "conversation")
    assert [end.digest for end in second.ends][:2] == [end.digest for end in first.ends]


def test_a_prefix_of_another_tenant_or_with_another_choice_of_tools_is_another() -> None:
    hi = said("user", "Hi")
    digests = {found(hi).latest.digest, found(hi, salt=b"blue/bot").latest.digest}
    digests |= {found(hi, tool_choice="none").latest.digest, found(hi, thinking={"type": "disabled"}).latest.digest}
    assert len(digests) == 4


def test_marks_are_counted_and_are_no_part_of_a_prefix() -> None:
    parts = [{"type": "text", "text": "Hi", "cache_control": MARK | {"ttl": "1h"}}]
    marked = found(said("user", parts), said("tool", "4", cache_control=MARK), tools=[TOOL | {"cache_control": MARK}])
    bare = found(said("user", [{"type": "text", "text": "Hi"}]), said("tool", "4"), tools=[TOOL])
    assert (marked.marks, marked.hours, marked.automatic) == (3, True, False)
    assert (bare.marks, bare.hours) == (0, False)
    assert marked.ends == bare.ends


def test_a_mark_on_the_whole_is_the_clients_at_the_end() -> None:
    outlined = found(said("user", "Hi"), cache_control=MARK)
    assert (outlined.marks, outlined.automatic) == (1, True)


def test_what_a_tool_takes_may_be_called_like_a_mark() -> None:
    other = {"type": "function", "function": {"name": "f", "parameters": {"cache_control": {"x": 2}}}}
    assert found(said("user", "Hi"), tools=[TOOL]).marks == 0
    assert found(said("user", "Hi"), tools=[TOOL]).tools != found(said("user", "Hi"), tools=[other]).tools


def test_what_is_no_chat_has_no_outline() -> None:
    for body in ({}, {"messages": "Hi"}, {"messages": [SYSTEM]}, {"messages": [said("user", "Hi")], "tools": "f"}):
        assert outline(body, b"") is None
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert outline({"messages": [said("user", deep)]}, b"") is None
