"""Which of several equal deployments a request should go to, so that what one has kept of it is read there.

A deployment that keeps its prefix, or has served its session, goes first as far as the prefix is worth it. The first
placement is by rendezvous hashing (Thaler and Ravishankar, 1998) with bounded loads (Mirrokni et al., arXiv
1608.01350): workers agree on it without talking, a conversation that one of them has not met lands where the others
sent it, and a deployment that leaves moves only what it served.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

_SLACK: Final = 4
_TIMES: Final = 2
"""A deployment is full that has more calls under way than twice the average and four."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One deployment.

    Attributes:
        name: what the policy calls it.
        place: what remembers what it keeps.
        cost: of the request there, in any unit, if nothing of it is kept.
        warm_cost: of the request there with what is kept of it; None where nothing is.
        busy: calls under way.
    """

    name: str
    place: str
    cost: int
    warm_cost: int | None
    busy: int


def rendezvous(key: bytes, place: str) -> bytes:
    """Return the weight of a place for a key; the highest wins."""
    return blake2b(place.encode(), key=key[:64], digest_size=16).digest()


def by_affinity(choices: Sequence[Choice], key: bytes, balance: Literal["cheapest", "least_busy"]) -> list[str]:
    """Return the names of deployments, the one that should answer first.

    A deployment that keeps something goes first unless it is full or costs more, with what is kept, than another
    without: an affinity is never worth more than it saves.

    Args:
        choices: the deployments.
        key: what the first placement goes by, such as the digest of a conversation's start.
        balance: the policy's choice where nothing is kept. By price, the dearer ones come after all cheaper ones.
    """
    most = _TIMES * sum(choice.busy for choice in choices) / len(choices) + _SLACK
    lowest = min(choice.cost for choice in choices)

    def rank(choice: Choice) -> tuple[bool, int, bool, bytes]:
        full, weight = choice.busy > most, _inverted(rendezvous(key, choice.place))
        warm = None if full or choice.warm_cost is None else min(choice.warm_cost, choice.cost)
        cost = choice.cost if warm is None else warm
        first = warm is not None and warm <= lowest
        return not first, cost if first or balance == "cheapest" else 0, full, weight

    return [choice.name for choice in sorted(choices, key=rank)]


def _inverted(weight: bytes) -> bytes:
    return bytes(255 - byte for byte in weight)
