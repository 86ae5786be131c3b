"""The detector of prompt injection: how it is fitted and measured, and what the head that comes with us is worth."""

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
from governance.guardrails.injection import fitting, measuring  # noqa: E402
from governance.guardrails.injection.head import Head, open_head  # noqa: E402


def drawn(apart: float = 2.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    labels = rng.random(400) < 0.5
    return (rng.normal(size=(400, 5)) + apart * labels[:, None] * [1, 0, 0, 0, 0]).astype(np.float32), labels


def test_a_fit_is_where_the_loss_is_least() -> None:
    vectors, labels = drawn()
    weights, bias = fitting.fit(vectors, labels, ridge=1.0)

    def loss(w: Any, b: float) -> float:
        scores = vectors @ w + b
        return float(np.logaddexp(0, np.where(labels, -scores, scores)).sum() + 0.5 * (w * w).sum())

    least = loss(weights, bias)
    for axis in np.eye(5):
        assert least < min(loss(weights + 0.01 * axis, bias), loss(weights - 0.01 * axis, bias))
    assert least < min(loss(weights, bias + 0.01), loss(weights, bias - 0.01))


def test_what_is_measured_is_what_was_counted() -> None:
    scores, labels = np.array([0.1, 0.4, 0.35, 0.8, 0.8]), np.array([False, False, True, True, False])
    assert measuring.auc(scores, labels) == pytest.approx(3.5 / 6)
    assert measuring.found_at(np.array([3.0, 2, 1, 0]), np.array([True, False, True, False])) == 0.5
    told = measuring.measured(*drawn_scores(), threshold=1.0)
    assert all(
        told[name]["low"] <= told[name]["value"] <= told[name]["high"] for name in ("auc", "found", "false_alarms")
    )


def drawn_scores() -> tuple[Any, Any]:
    vectors, labels = drawn()
    return vectors[:, 0].astype(float), labels


def test_the_head_that_comes_with_us_is_as_good_as_its_card_says() -> None:
    metrics = open_head().metrics
    assert metrics["auc"]["value"] >= 0.98
    assert metrics["found_at_1_percent"]["value"] >= 0.75
    card = (Path(fitting.__file__).parent / "README.md").read_text()
    for name in ("auc", "found_at_1_percent", "found", "false_alarms"):
        value = metrics[name]
        assert f"| {value['value']:.3f} | {value['low']:.3f} to {value['high']:.3f} |" in card


def test_a_head_is_read_as_it_was_written(tmp_path: Path) -> None:
    head = Head(embedding="e", weights=(1.0, -1.0), bias=0.5, threshold=0.9, data="d", metrics={})
    head.save(tmp_path / "head.json")
    again = open_head(tmp_path / "head.json")
    assert again == head
    assert again.probabilities(np.array([[0.5, 1.0]], np.float32)) == [0.5]
