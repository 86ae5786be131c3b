"""`sluice cache evaluate --pairs`: labelled pairs through the decision of the semantic cache."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine

pytest.importorskip("onnxruntime")

HISTORY = [{"role": "user", "content": "Tell me of Lisbon"}, {"role": "assistant", "content": "It is by the sea."}]
PAIRS: list[dict[str, Any]] = [
    {"a": "How do I bleed a radiator?", "b": "how can i bleed a radiator", "same": True, "kind": "repeat"},
    {"a": "How do I bleed a radiator?", "b": "How do I bleed a brake?", "same": False, "kind": "thing"},
    {"a": "Is entry free for 2 people?", "b": "Is entry free for 12 people?", "same": False, "kind": "number"},
    {"a": [*HISTORY, {"role": "user", "content": "Is it hot?"}], "b": "Is it hot?", "same": False, "kind": "turn"},
    {
        "a": {"messages": [{"role": "user", "content": "How do I bleed a radiator?"}], "tenant": "acme"},
        "b": {"messages": [{"role": "user", "content": "How do I bleed a radiator?"}], "tenant": "globex"},
        "same": False,
        "kind": "tenant",
    },
]


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, PAIRS)))
    return CommandLine(tmp_path)


def test_programs_read_rates_with_intervals_a_curve_and_a_baseline(shell: CommandLine) -> None:
    found = shell.json("cache", "evaluate", "--pairs", str(shell.home / "pairs.jsonl"), "--max-error", "0.05")
    assert found["n"] == 5
    assert found["recall"]["value"] == 1.0
    assert found["trap_rate"] == {"value": 0.0, "low": 0.0, "high": pytest.approx(0.4899, abs=1e-3)}
    assert found["recall_at_trap_rate"]["0.01"]["value"] == found["recall_at_trap_rate"]["0.05"]["value"] == 1.0
    assert found["stopped_by"] == {"number": 1, "scope": 2}
    assert set(found["kinds"]) == {"repeat", "thing", "number", "turn", "tenant"}
    assert all(
        {"threshold", "hit_rate", "error_rate", "precision", "recall", "trap_rate"} <= set(point)
        for point in found["curve"]
    )
    assert found["baselines"]["cosine"]["recall_at_trap_rate"]["0.01"]["value"] == 0.0


def test_people_read_tables(shell: CommandLine) -> None:
    said = shell.run("cache", "evaluate", "--pairs", str(shell.home / "pairs.jsonl"))
    assert said.exit_code == 0, said.output
    assert "Traps served" in said.stdout
    assert "By cosine alone" in said.stdout


def test_a_line_that_is_no_pair_is_named(shell: CommandLine) -> None:
    (shell.home / "bad.jsonl").write_text("{}\n")
    said = shell.run("cache", "evaluate", "--pairs", str(shell.home / "bad.jsonl"))
    assert said.exit_code == 1
    assert "line 1: no pair" in said.stderr


def test_a_file_of_nothing_is_refused(shell: CommandLine) -> None:
    (shell.home / "empty.jsonl").write_text("")
    said = shell.run("cache", "evaluate", "--pairs", str(shell.home / "empty.jsonl"))
    assert said.exit_code == 1
    assert "has no pairs" in said.stderr


def test_without_the_extra_it_says_what_to_install(shell: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    said = shell.run("cache", "evaluate", "--pairs", str(shell.home / "pairs.jsonl"))
    assert said.exit_code == 1
    assert "pip install 'sluicegate[semantic]'" in said.stderr
