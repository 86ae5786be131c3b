"""The texts in the chunks of an answer, through rules that hold some of them back."""

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.steps.guarding.rewriting import Rewriting
from gateway.wire.fold import Fold
from governance.guardrails.rules import Detecting, Matching, Rule
from governance.guardrails.texts import GuardedText

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
RULES = (
    Rule(name="secrets", on="output", action="redact", looks_for=Detecting(("secret",))),
    Rule(name="bird", on="output", action="redact", looks_for=Matching(re.compile(r"night\s*jar"))),
)
HEAD = {"id": "c1", "object": "chat.completion.chunk", "model": "m"}


def guarded(chunks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    def make(_: int, is_json: bool) -> GuardedText:
        return GuardedText(RULES, lambda _: None, lambda _, kind, __: f"[{kind.upper()}]", json=is_json)

    rewriting = Rewriting(make)
    return [out for chunk in chunks for out in rewriting.rewrite(chunk)]


def folded(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    fold = Fold()
    for chunk in chunks:
        fold.add(json.loads(json.dumps(chunk)))
    return fold.completion()


def said(index: int, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return HEAD | {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def call(at: int, arguments: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": at, "function": {"arguments": arguments}}]}


words = st.lists(st.sampled_from([f" {SECRET} ", "the nightjar sings", "night", "jar", " ", "a\nb", '"']), max_size=4)


@settings(max_examples=60)
@given(data=st.data(), texts=st.lists(words.map("".join), min_size=4, max_size=4))
def test_any_cut_of_an_answer_says_the_same_and_leaks_nothing(data: st.DataObject, texts: list[str]) -> None:
    arguments = [json.dumps({"q": text}) for text in texts[2:]]
    lanes = [
        [(0, lambda piece: {"reasoning_content": piece}, texts[0]), (0, lambda piece: {"content": piece}, texts[1])],
        [(0, lambda piece: call(0, piece), arguments[0]), (0, lambda piece: call(1, piece), arguments[1])],
        [(1, lambda piece: {"content": piece}, texts[1] + texts[0])],
    ]
    whole, cut = list[dict[str, Any]](), list[dict[str, Any]]()
    for lane in lanes:
        for index, delta, text in lane:
            whole.append(said(index, delta(text)))
            size = data.draw(st.integers(1, 9))
            cut += [said(index, delta(text[at : at + size])) for at in range(0, len(text), size)]
    ends = [said(0, {}, "tool_calls"), said(1, {}, "stop")]
    passed = guarded([*cut, *ends])
    plain = folded(guarded([*whole, *ends]))
    again = folded(passed)
    assert texts_of(again) == texts_of(plain)
    assert not any(SECRET in piece or "nightjar" in piece for piece in texts_of(again))
    for choice in again["choices"]:
        for one in choice["message"].get("tool_calls", ()):
            json.loads(one["function"]["arguments"])


def texts_of(completion: dict[str, Any]) -> list[str]:
    found = list[str]()
    for choice in completion["choices"]:
        message = choice["message"]
        found += [message.get("reasoning_content") or "", message.get("content") or ""]
        found += [one["function"]["arguments"] for one in message.get("tool_calls", ())]
    return found


def test_what_is_held_back_comes_before_another_field_begins_and_before_the_end() -> None:
    chunks = [said(0, {"role": "assistant", "content": ""}), said(0, {"content": "the nig"}),
              said(0, {"tool_calls": [{"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}]}),
              said(0, call(0, '{"q":"night')), said(0, call(0, '"}')), said(0, {}, "stop")]  # fmt: skip
    deltas = [chunk["choices"][0]["delta"] for chunk in guarded(chunks)]
    assert deltas[1:4] == [
        {"content": "the "}, {"content": "nig"},
        {"tool_calls": [{"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}]},
    ]  # fmt: skip
    assert deltas[-1] == {}


def test_tokens_one_by_one_and_what_an_answer_used_are_treated_apart() -> None:
    logprobs = {"content": [{"token": "nightjar"}]}
    chunk = HEAD | {
        "choices": [{"index": 0, "delta": {"content": "night"}, "logprobs": logprobs, "finish_reason": None}],
        "usage": {"completion_tokens": 1},
    }
    assert guarded([chunk]) == [HEAD | {"choices": [], "usage": {"completion_tokens": 1}}]
    (end,) = guarded([HEAD | {"choices": [], "usage": {"completion_tokens": 2}}])
    assert end["usage"] == {"completion_tokens": 2}
