"""Where in the exact cache an answer to this request would be, and for how long."""

from dataclasses import dataclass
from typing import Any

from cache.canonical import fingerprint
from cache.config import ExactSection
from cache.directives import Directives, parse_directives
from cache.partition import partition
from gateway.catalogue import Wish
from gateway.steps.admission import Asked, Entitled

_OFF = Directives(read=False, write=False)


@dataclass(frozen=True, slots=True)
class Slot:
    """One request's place in the cache.

    Attributes:
        key: the fingerprint of the request within its sharing group; empty when the policy has no exact cache.
        directives: what may be done there.
        ttl: how many seconds an answer may stay; 0 when it must not.
    """

    key: bytes
    directives: Directives
    ttl: int

    @property
    def outcome(self) -> str:
        """What `x-sluice-cache` says of a request that was not answered from here."""
        return "miss" if self.directives.read else "bypass"


def slot_of(
    asked: Asked[object], entitled: Entitled, wish: Wish, shaped: dict[str, Any], exact: ExactSection | None
) -> Slot:
    """Return the slot of a request, as the policy and the caller's wishes have it.

    Raises:
        CacheError: the caller's cache controls make no sense, or the body is nested too deep.
    """
    directives = parse_directives(asked.controls.cache_control or None, asked.body.get("cache"))
    if exact is None:
        return Slot(b"", _OFF, 0)
    caller = entitled.caller
    group = partition(
        exact.shared_by,
        team=caller.team,
        app=caller.app,
        key_id=caller.key_id,
        namespace=directives.namespace,
    )
    key = fingerprint(shaped, partition=group, model_class=wish.target.name, endpoint=asked.endpoint)
    return Slot(key, directives, directives.lifetime(exact.ttl))
