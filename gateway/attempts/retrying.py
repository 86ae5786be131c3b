"""Which failure is worth another attempt, where, and how soon.

The table is by the kind of error, and by status where a provider answered with one that says nothing else. A provider
that blames the request is believed: no other attempt is made.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from gateway.errors import (
    UpstreamError,
    UpstreamOverloaded,
    UpstreamRefused,
    UpstreamResting,
    UpstreamStale,
    UpstreamTimeout,
    UpstreamUnreached,
)


class Again(Enum):
    """Where another attempt may be made."""

    HERE = "here"
    """On the same deployment, after a pause; or elsewhere when that is too long or was in vain."""

    AT_ONCE = "at once"
    """On the same deployment, without a pause: the connection was to blame."""

    ELSEWHERE = "elsewhere"
    """On another deployment or model: here it would fail again."""

    NOWHERE = "nowhere"


FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 8.0
PATIENCE_S: Final = 2.0
"""How long a request waits for one deployment while there is another."""

LONGEST_WAIT_S: Final = 30.0
"""How long it waits where there is no other; a provider that asks for more is left to the client to wait for."""

BY_KIND: Final[Mapping[type[UpstreamError], Again]] = {
    UpstreamRefused: Again.NOWHERE,
    UpstreamStale: Again.AT_ONCE,
    UpstreamUnreached: Again.HERE,
    UpstreamResting: Again.ELSEWHERE,
    UpstreamOverloaded: Again.HERE,
    UpstreamTimeout: Again.ELSEWHERE,
}
"""The nearest class above an error's own decides."""

BY_STATUS: Final[Mapping[int | None, Again]] = {
    None: Again.HERE,  # it broke off before the answer, or sent nonsense in its place
    408: Again.HERE,
    409: Again.HERE,
    500: Again.HERE,
    502: Again.HERE,
    504: Again.HERE,
}
"""For errors of no other kind; what is not here, such as a key that is refused, fails here every time."""


def again(error: UpstreamError) -> Again:
    """Say where another attempt may be made after this failure."""
    kinds = (BY_KIND[kind] for kind in type(error).__mro__ if kind in BY_KIND)
    return next(kinds, None) or BY_STATUS.get(error.status, Again.ELSEWHERE)


def pause_s(error: UpstreamError, retry: int, chance: float) -> float:
    """Return how many seconds to wait before a retry: exponential with full jitter, or as the provider asks.

    Args:
        error: what the last attempt failed with.
        retry: how many there have been on this deployment.
        chance: from 0 up to 1.
    """
    if again(error) is Again.AT_ONCE:
        return 0.0
    asked_s = error.retry_after_s if isinstance(error, UpstreamOverloaded) else None
    return max(asked_s or 0.0, chance * min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**retry))
