"""What a prompt is found to be made of."""

from collections.abc import Sequence
from typing import Any

from governance.context.auditing import audit

TOOL = {"type": "function", "function": {"name": "look", "description": "Looks it up.", "parameters": {}}}
OTHER = {"type": "function", "function": {"name": "write", "description": "Writes it down.", "parameters": {}}}
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
LINE = "The same long line that nobody needs to read for a second time."


def count(texts: Sequence[str]) -> float:
    return float(sum(map(len, texts)))


def said(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def test_every_text_is_somebody_s() -> None:
    body = {
        "messages": [
            said("system", "s" * 10),
            said("user", "h" * 20),
            said("assistant", None, tool_calls=[CALL]),
            said("tool", "r" * 30, tool_call_id="c"),
            said(
                "user",
                [{"type": "text", "text": "<document>" + "d" * 40 + "</document>"}, {"type": "text", "text": "u" * 5}],
            ),
        ],
        "tools": [TOOL],
    }

    found = audit(body, count)
    system, tools, history, retrieved, user = found.by_role

    assert (system, history, retrieved, user) == (10, 20 + len('{"at": 1}'), 30 + 61, 5)
    assert tools > 50
    assert found.tokens == sum(found.by_role)
    assert (found.turns, found.lead) == (2, system + tools)
    assert found.grown == 61 + 5
    assert found.stable == found.tokens - found.grown


def test_pasted_text_is_recognised_by_its_marks_alone() -> None:
    def asked(text: str) -> tuple[int, int]:
        *_, retrieved, user = audit({"messages": [said("user", text)]}, count).by_role
        return retrieved, user

    assert asked("Context:\nabc\n\nQuestion: d?")[0] == len("abc\n\n")
    assert asked("```context\nabc\n```\nd?")[1] == len("\nd?")
    assert asked("What is this?\nSources:\nabc")[0] > 0
    assert asked("Context: I am a student. What should I do?")[0] == 0
    assert asked("<b>Bold</b> words of my own")[0] == 0


def test_what_is_said_twice_is_counted_once_for_each_time_after_the_first() -> None:
    body = {"messages": [said("user", f"{LINE}\n\nx"), said("assistant", LINE), said("user", f"{LINE}\n\n{LINE}")]}

    found = audit(body, count)

    assert found.same == 3 * len(LINE)
    assert found.near == 0


def test_what_is_nearly_said_twice_is_told_apart_from_what_differs_in_a_number() -> None:
    first = "The delivery of the order is due on the third of March in the early morning at the back door."
    near, other = first.replace("due on", "also due on"), first.replace("third", "fourth")
    body = {
        "messages": [said("user", "a"), *(said("assistant", text) for text in (first, near, other)), said("user", "?")]
    }

    assert audit(body, count).near == len(near)
    assert audit(body, count, near=False).near == 0


def test_tools_that_the_conversation_has_not_called_are_named_and_counted() -> None:
    body = {"messages": [said("assistant", None, tool_calls=[CALL]), said("user", "?")], "tools": [TOOL, OTHER]}

    found = audit(body, count)

    assert (found.offered, found.idle) == (("look", "write"), ("write",))
    assert 0 < found.unused < found.by_role[1]


def test_the_paragraphs_that_matter_are_placed_at_the_edges_or_in_the_middle() -> None:
    filler = "Of gardens and of the weather, of which there is a lot to be said by those who like to talk. " * 12
    answer = "The bells of the tower were cast by monks of the old abbey, who had learned it from their fathers. " * 12

    def placed(at: int) -> tuple[int, int]:
        texts = [answer if n == at else f"{n} {filler}" for n in range(9)]
        pasted = "\n".join(f"<doc>\n\n{text}\n\n</doc>" for text in texts)
        found = audit({"messages": [said("user", f"{pasted}\n\nWho cast the bells of the tower?")]}, count)
        return found.edge, found.middle

    assert placed(0)[0] > placed(0)[1] == 0
    assert placed(4)[1] > placed(4)[0] == 0


def test_a_body_that_is_no_chat_has_nothing() -> None:
    assert audit({}, count).tokens == 0
    assert audit({"messages": [1, 2]}, count).turns == 0
