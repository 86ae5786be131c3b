"""Which of equal deployments a request should go to, by what each keeps of its prompt and what that is worth there."""

from collections.abc import Sequence
from typing import Final

from cache.prefix.affinity import Choice, by_affinity
from cache.prefix.memory import PrefixMemory
from gateway.catalogue import Catalogue, Model
from gateway.policy.reliability import Balance
from gateway.prefix.outlines import Outline
from governance.prices import Price, Usage, cost_of

_BYTES_PER_TOKEN: Final = 4
_TYPICAL_OUTPUT: Final = 1_000
"""By what deployments are compared whose prices differ."""


def place_of(model: Model) -> str:
    """Name a deployment by who serves what, so that it is the same under every policy."""
    return f"{model.provider}/{model.upstream_model}"


def leaned(
    models: Sequence[Model],
    outline: Outline,
    session: bytes | None,
    *,
    catalogue: Catalogue,
    memory: PrefixMemory,
    balance: Balance,
    now: float,
) -> Sequence[Model]:
    """Return equal deployments in the order in which they should answer; as they are where one has no price.

    Args:
        models: the deployments, as the policy's balance has put them.
        outline: the prefixes of the request.
        session: names its session, if any.
        catalogue: knows prices and how busy each is.
        memory: knows what each keeps.
        balance: the policy's.
        now: seconds.
    """
    digests = [end.digest for end in outline.ends] + ([] if session is None else [session])
    homes = memory.homes(digests, now)
    prompt = max(1, outline.size // _BYTES_PER_TOKEN)
    choices: list[Choice] = []
    for model in models:
        price, place = catalogue.price(model), place_of(model)
        if price is None:
            return models

        def cost(read: int, price: Price = price) -> int:
            return cost_of(Usage(fresh_input=prompt - read, cache_read=read, output=_TYPICAL_OUTPUT), price).nanos

        warm = cost(min(homes[place], prompt)) if place in homes else None
        choices.append(Choice(model.name, place, cost(0), warm, catalogue.deployment(model).in_flight))
    order = by_affinity(choices, session or outline.turns[0].digest, balance)
    return sorted(models, key=lambda model: order.index(model.name))
