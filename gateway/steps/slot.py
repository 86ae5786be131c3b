"""Where in the exact cache an answer to this request would be, and for how long."""

from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec.structs import asdict

from cache.answers import AnswerCache
from cache.canonical import fingerprint
from cache.config import ExactSection
from cache.directives import Directives, parse_directives
from cache.partition import partition
from cache.stores import Stored
from gateway.catalogue import Catalogue, Wish
from gateway.steps.admission import Asked, Entitled
from governance.ledger.events import Settlement

_OFF = Directives(read=False, write=False)


@dataclass(frozen=True, slots=True)
class Slot:
    """One request's place in the cache.

    Attributes:
        key: the fingerprint of the request within its sharing group; empty when the policy has no exact cache.
        directives: what may be done there.
        ttl: how many seconds an answer may stay; 0 when it must not.
        whole: an answer that was cut for its length may not stay.
    """

    key: bytes
    directives: Directives
    ttl: int
    whole: bool = False

    @property
    def outcome(self) -> str:
        """What `x-sluice-cache` says of a request that was not answered from here."""
        return "miss" if self.directives.read else "bypass"


@dataclass(frozen=True, slots=True)
class ExactCache:
    """The exact cache as an endpoint sees it: one look-up before anything is bought, one answer kept after."""

    answers: AnswerCache
    section: ExactSection | None
    catalogue: Catalogue

    async def find(
        self, asked: Asked[object], entitled: Entitled, wish: Wish, body: dict[str, Any], *, any_age: bool = False
    ) -> tuple[Slot, Stored | None]:
        """Return the slot of a request, and the answer in it that this caller may have.

        An answer shared by several apps stays within the tiers of each. With `any_age` it may be older than the caller
        wishes, though never than the policy says.

        Raises:
            CacheError: the caller's cache controls make no sense, or the body is nested too deep.
        """
        slot = self._slot(asked, entitled, wish, body)
        wishes = replace(slot.directives, max_age=None) if any_age else slot.directives
        stored = await self.answers.find(slot.key, wishes)
        allowed = stored is not None and self.catalogue.grants(stored.model, entitled.grant)
        return slot, stored if allowed else None

    async def keep(
        self, asked: Asked[object], slot: Slot, model: str, settlement: Settlement, body: dict[str, Any]
    ) -> None:
        """Keep a complete answer for the next one who asks the same."""
        if slot.ttl and settlement.usage is not None:
            paid, usage = settlement.cost.nanos, asdict(settlement.usage)
            kept = Stored(msgspec.json.encode(body), model, paid, usage, asked.at.timestamp())
            await self.answers.put(slot.key, kept, slot.ttl)

    def _slot(self, asked: Asked[object], entitled: Entitled, wish: Wish, body: dict[str, Any]) -> Slot:
        directives = parse_directives(asked.controls.cache_control or None, asked.body.get("cache"))
        if self.section is None:
            return Slot(b"", _OFF, 0)
        caller = entitled.caller
        group = partition(
            self.section.shared_by,
            team=caller.team,
            app=caller.app,
            key_id=caller.key_id,
            namespace=directives.namespace,
        )
        key = fingerprint(body, partition=group, model_class=self.catalogue.meaning(wish), endpoint=asked.endpoint)
        return Slot(key, directives, directives.lifetime(self.section.ttl))
