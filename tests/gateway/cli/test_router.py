"""`sluice router`: labelled prompts in, a router out, and what it is worth on others."""

import json
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine

pytest.importorskip("onnxruntime")

PLACES = ("Oslo", "Quito", "Lima", "Cairo", "Delhi", "Perth", "Turin", "Osaka", "Lagos", "Dakar", "Miami", "Sofia")


def labelled(path: Path, numbers: range) -> Path:
    """Sums that the weak model fails, questions on places that it knows; every ninth goes the other way."""
    lines = list[str]()
    for number in numbers:
        hard = number % 2 == 0
        place, other = PLACES[number % len(PLACES)], PLACES[number * 7 % len(PLACES)]
        text = f"What is {number * 37} times {number * 91 + 4}?" if hard else f"Is {place} {number} miles from {other}?"
        right = hard == (number % 9 == 0)
        lines.append(json.dumps({"id": number, "prompt": text, "outcomes": {"small": float(right), "large": 1.0}}))
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_a_router_is_trained_measured_on_unseen_prompts_and_calibrated(shell: CommandLine) -> None:
    train, rest = labelled(shell.home / "a.jsonl", range(160)), labelled(shell.home / "b.jsonl", range(150, 230))
    learned = shell.json("router", "train", "--data", str(train))
    assert learned["pairs"] == [{"weak": "small", "strong": "large"}]
    assert Path(learned["artifact"]) == shell.home / "router.safetensors"
    found = shell.json("router", "evaluate", "--data", str(rest), "--draws", "20")
    assert found["dropped"]["same"] >= 5
    assert found["apgr"]["low"] <= found["apgr"]["value"] <= found["apgr"]["high"]
    assert found["apgr"]["value"] > 0.6
    assert {"cpt50", "cpt80", "quality_at_cost_share", "auc", "n"} <= set(found)
    assert {"random", "length", "knn", "oracle", "single_feature"} == set(found["baselines"])
    held = ("router", "calibrate", "--data", str(rest), "--out", str(shell.home / "c.safetensors"))
    aims = shell.json(*held, "--quality", "0.8", "--cost-share", "0.5")
    assert 0 <= aims["threshold_for_quality"] <= 1
    assert aims["thresholds"][0]["strong_share"] == 1.0
    said = shell.run("router", "evaluate", "--data", str(rest), "--router", str(shell.home / "c.safetensors"))
    assert "single feature" in said.stdout


def test_data_of_no_such_models_are_refused(shell: CommandLine) -> None:
    file = labelled(shell.home / "a.jsonl", range(4))
    said = shell.run("router", "train", "--data", str(file), "--weak", "tiny", "--strong", "large")
    assert said.exit_code == 1
    assert "large, small" in said.stderr
