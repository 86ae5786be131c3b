"""A way for a call to go other than at once: through a provider's own batch API, for less money."""

from typing import Final, Protocol

from gateway.catalogue import Model
from gateway.providers.upstream import Upstream

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
