"""What is cut of a prompt, and what never is."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from governance.context.cutting.rendering import LEFT_OUT
from governance.context.cutting.trimming import Draft, Trimmed
from governance.context.rule import ContextRule

Body = dict[str, Any]


def length(text: str) -> float:
    return len(text) / 4


def tokens(body: Body) -> int:
    return round(length(json.dumps(body["messages"])))


def cut(body: Body, target: int | None = None, keep: int = 1, cosines: Any = None) -> Trimmed:
    draft = Draft(body, ContextRule(mode="trim", keep_last_turns=keep, target_tokens=target), tokens(body), length)
    return draft.finish(None if cosines is None else [cosines(chunk) for chunk in draft.chunks])


def said(role: str, text: str | None, **more: Any) -> Body:
    return {"role": role, "content": text, **more}


def called(n: int, result: str) -> list[Body]:
    call = {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [said("assistant", None, tool_calls=[call]), said("tool", result, tool_call_id=f"c{n}")]


def paragraph(n: int) -> str:
    return f"The garden of house {n} has roses and a bench, where visitors like to sit in the sun of summer day {n}."


def test_what_was_said_before_is_dropped_from_a_later_result_and_the_first_stays() -> None:
    page = "\n\n".join(map(paragraph, range(6)))
    body = {"messages": [said("user", "Look twice."), *called(1, page), *called(2, page), said("user", "And now?")]}

    messages = cut(body).body["messages"]

    assert messages[2]["content"] == page
    assert messages[4]["content"].strip() == LEFT_OUT


def test_a_page_that_came_back_with_another_number_is_not_the_same() -> None:
    page = "The balance of the account is 4210 euros, as of this morning, and no payment is on its way."
    other = page.replace("4210", "4120")
    body = {"messages": [said("user", "Look."), *called(1, page), *called(2, other), said("user", "And now?")]}

    assert cut(body).body is body


def test_json_loses_its_indents_and_no_digit() -> None:
    rows = {"rows": [{"id": 10**20, "price": 1.50, "text": "two  spaces\n"}]}
    raw = json.dumps(rows, indent=4).replace("1.5", "1.50")
    body = {"messages": [said("user", "Look."), *called(1, raw)]}

    content = cut(body).body["messages"][2]["content"]

    assert content == '{"rows":[{"id":100000000000000000000,"price":1.50,"text":"two  spaces\\n"}]}'


def test_records_of_a_json_list_are_left_out_whole_and_what_is_left_is_json() -> None:
    rows = [{"name": f"Item {n}", "text": paragraph(n)} for n in range(20)]
    rows[7]["text"] = "Rome has the oldest fountain of all."
    body = {"messages": [said("user", "Which fountain is the oldest in Rome?"), *called(1, json.dumps({"rows": rows}))]}

    kept = json.loads(cut(body, 150).body["messages"][2]["content"])["rows"]

    assert rows[7] in kept
    assert len(kept) < 10
    assert all(row in rows for row in kept)


def test_system_prompt_tools_calls_and_the_last_turn_stay_as_they_are() -> None:
    long = "My own words   are never cut.\n\n\n\n" * 30
    body = {
        "messages": [said("system", long), said("user", "Hello"), *called(1, paragraph(1) * 20), said("user", long)],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
    }

    trimmed = cut(body, 10).body

    assert trimmed["tools"] == body["tools"]
    assert trimmed["messages"][0] == body["messages"][0]
    assert trimmed["messages"][-1] == body["messages"][-1]


def test_old_turns_leave_whole_with_their_calls_and_results() -> None:
    old = [said("user", paragraph(1)), *called(1, paragraph(2)), said("assistant", paragraph(3))]
    blue = [said("user", "It is blue."), said("assistant", "Blue it is."), said("assistant", "Blue, as copper is.")]
    opening = [said("user", "Hello."), said("assistant", "Yes, I am here.")]
    body = {"messages": [*opening, *old, *blue, said("user", "Why is it blue?")]}

    trimmed = cut(body, 20)

    assert trimmed.body["messages"][-4:] == [*blue, body["messages"][-1]]
    assert not any(message in trimmed.body["messages"] for message in old)
    assert {one.message for one in trimmed.cuts if one.how == "turn"} == {2, 3, 4, 5}


def test_the_last_turns_are_kept_and_what_tools_returned_in_them_may_be_cut() -> None:
    turns = [said(role, paragraph(n)) for n in range(1, 9) for role in ("user", "assistant")]
    body = {"messages": [*turns, said("user", "Why is it blue?")]}

    messages = cut(body, 10, keep=3).body["messages"]

    assert messages[-5:] == body["messages"][-5:]
    assert len(messages) < len(body["messages"])


def test_code_is_kept_or_left_out_as_a_whole() -> None:
    code = "```python\ndef solve(x):\n    y = x + 1\n\n    return y  \n```\n"
    text = "\n\n".join([*map(paragraph, range(5)), f"The solver:\n\n{code}", *map(paragraph, range(5, 10))])
    body = {"messages": [said("user", "How does def solve compute its y from x?"), *called(1, text)]}

    content = cut(body, 120).body["messages"][2]["content"]

    assert code.strip() in content
    assert len(content) < len(text) / 2


def test_a_number_of_the_question_keeps_where_it_stands_even_beyond_the_target() -> None:
    text = "\n".join(f"Order {n} was sent to a customer in the north by lorry." for n in range(4000, 4060))
    body = {"messages": [said("user", "Where did 4031 go?"), *called(1, text)]}

    assert "Order 4031 was sent" in cut(body, 5).body["messages"][2]["content"]


def test_documents_keep_the_best_at_the_edges_and_nothing_moves_within_one() -> None:
    texts = [paragraph(n) + " It rained." for n in range(8)]
    texts[4] = "The tower was built by monks. It has four bells of bronze."
    pasted = "\n".join(f"<document>\n{text}\n</document>" for text in texts)
    body = {"messages": [said("user", f"{pasted}\n\nWho built the tower with the bells?")]}

    content = cut(body, 150).body["messages"][0]["content"]

    first = content.index("<document>")
    assert content[first:].startswith("<document>\nThe tower was built by monks. It has four bells of bronze.")
    assert content.endswith("Who built the tower with the bells?")


def test_meaning_keeps_what_words_alone_would_not() -> None:
    answer = "The freezers run on diesel when the grid is down."
    text = "\n".join([*map(paragraph, range(9)), answer, *map(paragraph, range(9, 20))])
    body = {"messages": [said("user", "What about a blackout?"), *called(1, text)]}

    by_meaning = cut(body, 150, cosines=lambda chunk: 0.9 if "diesel" in chunk else 0.1)

    assert answer in by_meaning.body["messages"][2]["content"]


def test_a_short_prompt_without_repetition_is_returned_itself() -> None:
    body = {"messages": [said("system", "Hi"), said("user", "a  b"), said("assistant", "c"), said("user", "d")]}

    assert cut(body, 1000) == Trimmed(body, ())


@pytest.mark.parametrize("body", [{}, {"messages": None}, {"messages": ["x"]}, {"messages": [{"role": "user"}]}])
def test_what_is_no_chat_is_left_alone(body: Body) -> None:
    draft = Draft(body, ContextRule(mode="trim", target_tokens=1), 100, length)

    assert draft.finish().body is body


_TEXTS = st.text(alphabet='ab .\n{}[]"<>/`:', max_size=60) | st.sampled_from(
    [
        paragraph(1),
        paragraph(2) * 3,
        '[{"a": 1}, {"b": 2}]',
        "```\ncode\n```",
        "<doc>a b c</doc>",
        "Context:\nx\nQuestion: y",
    ]
)
_TURNS = st.lists(
    st.tuples(_TEXTS, st.lists(_TEXTS, max_size=2), _TEXTS).map(
        lambda one: [
            said("user", one[0]),
            *(message for n, result in enumerate(one[1]) for message in called(n, result)),
            said("assistant", one[2]),
        ]
    ),
    max_size=5,
)


@given(_TURNS, _TEXTS, st.integers(1, 200), st.integers(1, 3))
def test_whatever_is_cut_every_result_has_its_call_and_what_is_fixed_stays(
    turns: list[list[Body]], question: str, target: int, keep: int
) -> None:
    body = {
        "messages": [said("system", paragraph(9)), *(one for turn in turns for one in turn), said("user", question)]
    }

    trimmed = cut(body, target, keep)
    messages = trimmed.body["messages"]

    assert messages[0] == body["messages"][0]
    calls = [call["id"] for one in messages for call in one.get("tool_calls", ())]
    assert calls == [one["tool_call_id"] for one in messages if one["role"] == "tool"]
    assert all(one["content"] for one in messages if one["role"] == "tool" and one not in body["messages"])
    assert cut(body, target, keep) == trimmed
    assert [one for one in body["messages"] if one in messages or one.get("tool_calls")]
