"""The probability that a text would have a model follow it instead of its instructions.

A logistic regression on the unit vector of the text (Cox, 1958). It goes by what a text means as far as its embedding
does: it knows the injections that people write, and is no proof against one who knows it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUNDLED: Final = Path(__file__).parent / "head.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A head as it was fitted.

    Attributes:
        embedding: The embedding whose vectors it is for.
        weights: One weight for each dimension.
        bias: What the weights are added to.
        threshold: The probability from which on one in a hundred harmless texts of the fit, by heads that were fitted
            without them, is taken for an injection.
        data: The SHA-256 of the texts it was fitted on.
        metrics: How good it was on texts that it was not fitted on.
    """

    embedding: str
    weights: tuple[float, ...]
    bias: float
    threshold: float
    data: str
    metrics: dict[str, Any]

    def probabilities(self, vectors: NDArray[np.float32]) -> list[float]:
        """Return the probability of each of the vectors, float32 [texts, dimensions]."""
        import numpy as np  # noqa: PLC0415  of an extra

        scores = vectors.astype(np.float64) @ np.asarray(self.weights) + self.bias
        return [float(p) for p in 1 / (1 + np.exp(-scores))]

    def save(self, path: Path) -> None:
        """Write it down."""
        path.write_bytes(msgspec.json.encode(asdict(self)) + b"\n")


@lru_cache(maxsize=4)
def open_head(path: Path = BUNDLED) -> Head:
    """Read a head."""
    return msgspec.json.decode(path.read_bytes(), type=Head)
