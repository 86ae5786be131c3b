import gzip
import json
from pathlib import Path

import pytest

from router_models.errors import BadExample
from router_models.labelled.lines import Pair, pair_of, read_examples


def written(path: Path, *lines: object) -> Path:
    text = "".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_a_prompt_is_a_text_or_the_last_that_a_user_said(tmp_path: Path, name: str) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
        {"role": "user", "content": [{"type": "text", "text": "How far is"}, {"type": "text", "text": "the moon?"}]},
    ]
    lines = (
        {"id": 1, "source": "s", "prompt": "One?", "outcomes": {"a": 1}},
        "\n",
        {"prompt": messages, "outcomes": {}},
    )
    first, second = read_examples([written(tmp_path / name, *lines)])
    assert (first.text, first.turns, first.outcomes, first.source) == ("One?", 1, {"a": 1.0}, "s")
    assert (second.text, second.turns) == ("How far is\nthe moon?", 2)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "truncated"),
        ({"prompt": "x"}, "outcomes"),
        ({"prompt": " ", "outcomes": {}}, "no text"),
        ({"prompt": "x", "outcomes": {"a": 2}}, "between 0 and 1"),
        ({"prompt": [{"role": "assistant", "content": "x"}], "outcomes": {}}, "no text"),
    ],
)
def test_a_line_that_is_no_labelled_prompt_is_named(tmp_path: Path, line: object, why: str) -> None:
    path = written(tmp_path / "a.jsonl", {"prompt": "fine", "outcomes": {}}, line)
    with pytest.raises(BadExample, match=rf"a\.jsonl:2.*{why}"):
        read_examples([path])


def test_of_two_models_the_better_one_is_the_strong_one(tmp_path: Path) -> None:
    two = read_examples([written(tmp_path / "a.jsonl", {"prompt": "x", "outcomes": {"good": 1, "bad": 0}})])
    assert pair_of(two, None, None) == Pair("bad", "good")
    assert pair_of(two, "good", None) == Pair("good", "bad")
    three = read_examples([written(tmp_path / "b.jsonl", {"prompt": "x", "outcomes": {"a": 1, "b": 0, "c": 1}})])
    assert pair_of(three, "a", "c") == Pair("a", "c")
    for weak, strong in ((None, None), ("a", None), ("a", "a"), ("a", "z")):
        with pytest.raises(BadExample, match="a, b, c"):
            pair_of(three, weak, strong)
