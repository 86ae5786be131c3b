"""The shipped starting point of a feature's model, so that a cache need not begin by knowing nothing.

Fitted on the BANKING77 (CC BY 4.0) and CLINC150 (CC BY 3.0) questions replayed as streams; `prior.json` holds a few
dozen numbers and no text.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec

from cache.learning.logistic import Logistic


class Prior(msgspec.Struct, frozen=True):
    """A starting point.

    Attributes:
        centre: What is taken off each feature.
        scale: What each is then divided by.
        mean: Coefficients for the log-odds that a hit is wrong, on the features so scaled.
        deviation: How far each may be off, as a standard deviation.
    """

    centre: tuple[float, ...]
    scale: tuple[float, ...]
    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    def scaled(self, features: tuple[float, ...]) -> tuple[float, ...]:
        """Put features on the model's scale."""
        return tuple((f - c) / s for f, c, s in zip(features, self.centre, self.scale, strict=True))

    def model(self) -> Logistic:
        """Return a model that knows only this."""
        size = len(self.mean)
        spread = [[self.deviation[row] ** 2 if row == column else 0.0 for column in range(size)] for row in range(size)]
        return Logistic(mean=list(self.mean), covariance=spread)


def shipped() -> Prior:
    """Return the prior that comes with the package."""
    return msgspec.json.decode(files("cache.learning").joinpath("prior.json").read_bytes(), type=Prior)
