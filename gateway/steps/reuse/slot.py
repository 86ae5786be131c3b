"""Where in the exact cache an answer to this request would be, for how long, and who is making it just now."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

import anyio
import msgspec
from msgspec.structs import asdict

from cache.answers import AnswerCache
from cache.canonical import fingerprint
from cache.config import ExactSection, SharedBy
from cache.directives import Directives, parse_directives
from cache.errors import NoAnswerInTime
from cache.flights import Flight
from cache.partition import partition
from cache.semantic.lookup import Sought
from cache.stores import Stored
from cache.tags import tags_of
from gateway.catalogue import Catalogue, Wish
from gateway.steps.admission import Asked, Entitled
from gateway.wire.departure import Departure
from governance.ledger.events import Settlement


@dataclass(frozen=True, slots=True)
class Slot:
    """One request's place in the cache.

    Attributes:
        key: the fingerprint of the request within its sharing group; empty when no answer to it is cached.
        directives: what may be done there.
        ttl: how many seconds an answer may stay; 0 when it must not.
        whole: an answer that was cut for its length may not stay.
        flight: those who wait for the answer to this request; None when nobody can.
        sought: what was found by meaning; None when nothing was looked up so.
        waited_s: how long it has waited for the answer of another, in seconds: that is no work of ours.
    """

    key: bytes
    directives: Directives
    ttl: int
    whole: bool = False
    flight: Flight | None = None
    sought: Sought | None = None
    waited_s: float = 0.0

    @property
    def outcome(self) -> str:
        """What `x-sluice-cache` says of a request that was not answered from here."""
        return "miss" if self.directives.read and (self.key or self.sought) else "bypass"

    @property
    def hit(self) -> str:
        """What `x-sluice-cache` says of a request that was answered from here."""
        return "exact" if self.sought is None else f"semantic;similarity={self.sought.similarity:.2f}"

    @property
    def unkept(self) -> "Slot":
        """The same place for an answer that may not stay."""
        return replace(self, ttl=0)


@dataclass(frozen=True, slots=True)
class ExactCache:
    """The exact cache as an endpoint sees it: one look-up before anything is bought, one answer kept after.

    Attributes:
        answers: where they are, and who is making them.
        section: what the policy allows; None when it has no exact cache.
        catalogue: says which models are whose.
        epoch: names what in the policy shapes answers: those of another epoch are not found.
        refresh: has an answer made anew in the background, for a request that was given an old one.
        ticks: a monotonic clock in seconds.
    """

    answers: AnswerCache
    section: ExactSection | None
    catalogue: Catalogue
    epoch: str
    refresh: Callable[[Asked[Any], bytes], None]
    ticks: Callable[[], float]

    async def find(
        self,
        asked: Asked[object],
        entitled: Entitled,
        wish: Wish,
        body: dict[str, Any],
        stack: AsyncExitStack,
        departure: Departure | None = None,
        *,
        any_age: bool = False,
    ) -> tuple[Slot, Stored | None]:
        """Return the slot of a request, and the answer in it that this caller may have.

        Where another request is making the answer, it is waited for, unless this one's client leaves. An answer shared
        by several apps stays within the tiers of each. With `any_age` it may be older than the caller wishes, though
        never than the policy says, and is not refreshed.

        Raises:
            CacheError: the caller's cache controls make no sense, the body is nested too deep, or the answer that
                another request is making is not complete in time.
        """
        slot = self._slot(asked, entitled, wish, body)
        section = self.section
        if section is None or not slot.directives.read:
            return slot, None
        wishes = replace(slot.directives, max_age=None) if any_age else slot.directives
        most_age = section.ttl + section.stale
        stored = await self.answers.find(slot.key, wishes, most_age)
        if stored is None and slot.ttl and not asked.deferred:
            began = self.ticks()
            stored = await self._made_by_another(asked, slot, stack, departure)
            slot = replace(slot, waited_s=self.ticks() - began)
            if isinstance(stored, Flight):
                return replace(slot, flight=stored), None
        if stored is None or not self.answers.accepts(stored, wishes, most_age):
            return slot, None
        if not self.catalogue.grants(stored.model, entitled.grant):
            return slot, None
        if self.answers.age(stored) > section.ttl and not any_age:
            self.refresh(asked, slot.key)
        return slot, stored

    async def keep(
        self,
        asked: Asked[object],
        entitled: Entitled,
        slot: Slot,
        model: str,
        settlement: Settlement,
        body: dict[str, Any],
    ) -> None:
        """Keep a complete answer for the next one who asks the same, and give it to those who wait for it."""
        kept = answer_of(asked, entitled, slot, model, settlement, body) if slot.ttl else None
        if slot.flight is not None:
            slot.flight.land(kept)
        if kept is not None:
            await self.answers.put(slot.key, kept, slot.ttl)

    async def _made_by_another(
        self, asked: Asked[object], slot: Slot, stack: AsyncExitStack, departure: Departure | None
    ) -> Stored | Flight | None:
        """Wait for the answer that another request is making, or lead; None when this one is on its own."""
        left_s = asked.limit_s - (self.ticks() - asked.tick)
        with anyio.move_on_after(left_s) as scope:
            if departure is None:
                return await self.answers.flights.join(slot.key, stack)
            with departure.meanwhile(scope.cancel):
                return await self.answers.flights.join(slot.key, stack)
        if departure is not None and departure.happened:
            return None
        raise NoAnswerInTime(asked.limit_s)

    def _slot(self, asked: Asked[object], entitled: Entitled, wish: Wish, body: dict[str, Any]) -> Slot:
        directives = parse_directives(asked.controls.cache_control or None, asked.body.get("cache"))
        section = self.section
        if section is None or (section.only == "deterministic" and not _deterministic(asked.endpoint, body)):
            return Slot(b"", directives, 0)
        key = fingerprint(
            body,
            partition=group_of(section.shared_by, entitled, directives),
            model_class=self.catalogue.meaning(wish),
            endpoint=asked.endpoint,
            epoch=self.epoch,
        )
        return Slot(key, directives, directives.lifetime(section.ttl, section.stale))


def group_of(shared_by: SharedBy, entitled: Entitled, directives: Directives) -> str:
    """Name those who share answers with a caller."""
    caller = entitled.caller
    return partition(shared_by, team=caller.team, app=caller.app, key_id=caller.key_id, namespace=directives.namespace)


def answer_of(
    asked: Asked[object],
    entitled: Entitled,
    slot: Slot,
    model: str,
    settlement: Settlement,
    body: dict[str, Any],
    sought: Sought | None = None,
) -> Stored | None:
    """Return an answer as it is stored, perhaps to be found by meaning; None when nobody knows what it cost."""
    if settlement.usage is None:
        return None
    owner = entitled.attribution
    tags = tags_of(
        slot.directives.tags,
        team=owner.team,
        app=owner.app,
        feature=owner.feature,
        model=model,
        key_id=entitled.caller.key_id,
        request_id=asked.request_id,
    )
    return Stored(
        body=msgspec.json.encode(body),
        model=model,
        cost_nanos=settlement.cost.nanos,
        usage=asdict(settlement.usage),
        created=asked.at.timestamp(),
        question=None if sought is None else sought.asked.text,
        marks=b"" if sought is None else sought.asked.marks,
        tags=tags,
    )


def _deterministic(endpoint: str, body: Mapping[str, Any]) -> bool:
    """Say whether a request asks for the one likeliest answer, as far as sampling goes; vectors are always that."""
    return endpoint == "embeddings" or (body.get("temperature") == 0 and body.get("n") in {None, 1})
