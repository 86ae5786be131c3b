"""Pairs as a file holds them, and which of them stand in one scope."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from cache.errors import BadLine
from cache.evaluating.deciding import may_share
from cache.evaluating.labelled import read_pairs

USER = {"role": "user", "content": "How do I reset it?"}
SYSTEM = {"role": "system", "content": "You help customers of Acme."}


def write(path: Path, *rows: dict[str, Any]) -> Path:
    text = "\n".join(json.dumps(row) for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.jsonl.gz"])
def test_text_messages_and_requests_are_read(tmp_path: Path, name: str) -> None:
    rows = [
        {"a": one, "b": "Other?", "same": True, "kind": "k"} for one in ("Why?", [USER], {"messages": [SYSTEM, USER]})
    ]
    read = read_pairs(write(tmp_path / name, *rows))
    assert [pair.a.question for pair in read] == ["Why?", "How do I reset it?", "How do I reset it?"]
    assert [list(pair.a.turns) for pair in read] == [[], [], [SYSTEM]]
    assert all(pair.same and pair.kind == "k" for pair in read)


def test_context_stands_before_both(tmp_path: Path) -> None:
    (pair,) = read_pairs(write(tmp_path / "p.jsonl", {"a": "x", "b": [USER], "same": False, "context": [SYSTEM]}))
    assert pair.a.turns == pair.b.turns == [SYSTEM]


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"a": 1, "b": "x", "same": true}', '{"a": "x"}', '{"a": [], "b": "x", "same": true}']
)
def test_a_line_that_is_no_pair_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text(f'{{"a": "x", "b": "y", "same": true}}\n{line}\n')
    with pytest.raises(BadLine, match="line 2: no pair"):
        read_pairs(path)


@pytest.mark.parametrize(
    "change",
    [
        {"tenant": "other"},
        {"model": "other"},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"feature": "other"},
        {"temperature": 0.9},
        {"messages": [{"role": "system", "content": "You help customers of Globex."}, USER]},
        {"messages": [SYSTEM, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}, USER]},
        {"messages": [SYSTEM, {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
        {"messages": [SYSTEM, {"role": "assistant", "content": "Well"}]},
    ],
)
def test_requests_that_differ_in_anything_but_the_last_turn_share_nothing(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    request = {"messages": [SYSTEM, USER], "tenant": "acme", "model": "m", "temperature": 0}
    same = {**request, "messages": [SYSTEM, {"role": "user", "content": "How is it reset?"}]}
    rows = [{"a": request, "b": other, "same": False, "kind": ""} for other in (same, {**request, **change})]
    first, second = read_pairs(write(tmp_path / "p.jsonl", *rows))
    assert may_share(first.a, first.b)
    assert not may_share(second.a, second.b)
