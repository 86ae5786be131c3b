"""The `routes` section of the policy.

Money is written here as the decimal dollars of the document: the router spends nothing, so it has no money type.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,199}$")]
"""What a model or route is called: it appears in headers, unescaped, and may look like `vendor/model:variant`."""

Share = Annotated[Decimal, Field(ge=0, le=1), WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Dollars = Annotated[Decimal, Field(gt=0), WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Calibrated(_Section):
    """A threshold found by calibration, from the aim it must meet; exactly one aim is given.

    Attributes:
        quality: The least share of the strong model's quality to keep.
        cost_share: The largest share of requests that may go to the strong model.
    """

    quality: Share | None = None
    cost_share: Share | None = None

    @model_validator(mode="after")
    def _one_aim(self) -> Self:
        if (self.quality is None) == (self.cost_share is None):
            raise PydanticCustomError("one_aim", "give either quality or cost_share")
        return self


def _threshold_form(value: object) -> str:
    return "aim" if isinstance(value, Mapping | Calibrated) else "number"


Threshold = Annotated[
    Annotated[Share, Tag("number")] | Annotated[Calibrated, Tag("aim")],
    Discriminator(_threshold_form),
]


class Shadow(_Section):
    """A sample of requests also answered by the strong model, to measure the weak one.

    Attributes:
        share: The part of requests sampled.
        usd_per_day: The most that sampling may cost in a day.
    """

    share: Share
    usd_per_day: Dollars


class RouteRule(_Section):
    """One route: a name that applications ask for in place of a model.

    Attributes:
        name: What applications put in `model`.
        weak: The cheap model, tried first.
        strong: The model that answers when the weak one should not.
        threshold: The predicted need of the strong model above which it answers, or the aim that sets it.
        fallbacks: Models tried after both, in order.
        shadow: Sampling that measures the weak model.
    """

    name: Label
    weak: Label
    strong: Label
    threshold: Threshold | None = None
    fallbacks: tuple[Label, ...] = ()
    shadow: Shadow | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Every model of the route, first choice first, each once."""
        return tuple(dict.fromkeys((self.weak, self.strong, *self.fallbacks)))
