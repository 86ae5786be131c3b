"""What a router says of a prompt: how likely the strong model is needed, and how far that may be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from router_models.features import PromptFeatures


@dataclass(frozen=True, slots=True)
class Score:
    """What a router says of one prompt.

    Attributes:
        need: The calibrated probability that the strong model does better than the weak one, 0 to 1.
        known: How much this prompt is like those that were learned from: the share of held-out training prompts that
            lay no nearer to the others, 0 to 1.
        in_distribution: Whether it is like them enough for `need` to mean anything; where it is not, ask the strong
            model.
    """

    need: float
    known: float
    in_distribution: bool


class Scorer(Protocol):
    """Scores prompts for one pair of models.

    Attributes:
        name: What made it, and from what.
        embedding: The name of the embedding whose vectors it was trained on; those of another are worth nothing to it.
    """

    @property
    def name(self) -> str: ...  # noqa: D102  an attribute, described above

    @property
    def embedding(self) -> str: ...  # noqa: D102

    def score(self, vector: NDArray[np.float32], features: PromptFeatures) -> Score:
        """Score one prompt, without blocking: some tenths of a millisecond of arithmetic.

        Args:
            vector: The unit vector of the last user turn, float32 [dimensions].
            features: What is counted in the same text.
        """
        ...
