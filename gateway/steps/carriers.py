"""A way for a call to go other than at once: through a provider's own batch API, for less money."""

from typing import Final, Protocol

from msgspec.structs import replace

from gateway.catalogue import Model
from gateway.providers.upstream import Upstream
from governance.money import Nanodollars
from governance.prices import Price

CARRIED_S: Final = 26 * 3600.0
"""The longest that a carried call may take: providers promise a day, and may be asked a little later."""


class Carrier(Protocol):
    """Carries the call of one request.

    `pinned` tells that it has been on its way since before this process began: it is paid for as it was then.
    """

    @property
    def pinned(self) -> bool:
        """Whether the call is out already, to the very model that the request names."""
        ...

    def upstream(self, model: Model, upstream: Upstream) -> Upstream | None:
        """Return what the provider of a model is spoken to through; None when it takes nothing but calls."""
        ...


def batch_price(price: Price) -> Price:
    """Return what a provider's batch API asks for what costs `price` otherwise: half, at OpenAI and Anthropic."""
    return replace(
        price,
        input=_half(price.input),
        output=_half(price.output),
        cached_input=None if price.cached_input is None else _half(price.cached_input),
        cache_write=None if price.cache_write is None else _half(price.cache_write),
        source=f"{price.source} (batch)",
    )


def _half(rate: Nanodollars) -> Nanodollars:
    return Nanodollars(-(-rate.nanos // 2))
