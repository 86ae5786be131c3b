"""Count tokens where no model has taught how: as common tokenizers make them on the average."""

from __future__ import annotations

from typing import Any

from gateway.counting.calibration import Calibration
from gateway.counting.makeup import makeup, of_text

CALIBRATION = Calibration()


def tokens_of(body: dict[str, Any]) -> int:
    """Return about how many tokens the prompt of a request has."""
    return round(CALIBRATION.estimate(makeup(body).measures))


def tokens_in(text: str) -> float:
    """Return about how many tokens a text has."""
    return CALIBRATION.estimate(of_text([text]))
