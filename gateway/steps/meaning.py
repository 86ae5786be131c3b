"""The semantic cache as a request sees it: one look-up by meaning, when its exact repetition has no answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Protocol

from cache.config import SemanticSection
from cache.learning.learner import Learner
from cache.partition import partition
from cache.semantic.lookup import SemanticCache
from cache.semantic.question import Question, question_of
from cache.semantic.scope import scope_of
from cache.stores import Stored
from gateway.catalogue import Catalogue, Wish
from gateway.steps.admission import Asked, Entitled
from gateway.steps.slot import Slot
from gateway.wire.request.chat_body import ChatFields


class Semantics(Protocol):
    """What a semantic cache knows, whatever policy is in force."""

    @property
    def cache(self) -> SemanticCache | None:
        """The cache; None as long as it is not open."""
        ...

    def learner(self, feature: str, max_error: Decimal) -> Learner:
        """Return what decides the look-ups of a feature."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Looks up by meaning.

    Attributes:
        semantics: where answers are found, and what has been learned.
        section: what the policy allows; None when it has no semantic cache.
        catalogue: says which models are whose.
        epoch: names what in the policy shapes answers, as for the exact cache.
        clock: seconds since 1970, as `Stored.created` counts them.
    """

    semantics: Semantics
    section: SemanticSection | None
    catalogue: Catalogue
    epoch: str
    clock: Callable[[], float]

    async def find(
        self, asked: Asked[ChatFields], entitled: Entitled, wish: Wish, body: dict[str, Any], slot: Slot
    ) -> tuple[Slot, Stored | None]:
        """Return the slot with what was found by meaning, and the answer that this caller may have.

        Raises:
            CacheError: the body is nested too deep.
        """
        section, cache, owner = self.section, self.semantics.cache, entitled.attribution
        if section is None or cache is None or asked.deferred or not slot.directives.read:
            return slot, None
        if not section.takes(owner.app, owner.feature):
            return slot, None
        question = question_of(body)
        if question is None or (question.earlier and section.multi_turn == "off"):
            return slot, None
        sought = await cache.seek(
            question,
            self._scope(section, question, asked, entitled, wish, slot),
            self.semantics.learner(feature_of(entitled), section.max_error),
            lambda stored: self._fits(stored, entitled, slot, section),
            confirmed_only=question.earlier > 0,
            watched=f"{owner.app}/{owner.feature}" not in section.enabled,
        )
        if sought is None:
            return slot, None
        if sought.answer is not None and slot.flight is not None:
            slot.flight.land(None)  # this answer is to another question: those who wait look for themselves
        return replace(slot, sought=sought), sought.answer

    def _scope(
        self,
        section: SemanticSection,
        question: Question,
        asked: Asked[ChatFields],
        entitled: Entitled,
        wish: Wish,
        slot: Slot,
    ) -> bytes:
        caller = entitled.caller
        group = partition(
            section.shared_by,
            team=caller.team,
            app=caller.app,
            key_id=caller.key_id,
            namespace=slot.directives.namespace,
        )
        return scope_of(
            question,
            partition=group,
            feature=feature_of(entitled),
            model_class=self.catalogue.meaning(wish),
            endpoint=asked.endpoint,
            epoch=self.epoch,
        )

    def _fits(self, stored: Stored, entitled: Entitled, slot: Slot, section: SemanticSection) -> bool:
        wished = slot.directives.max_age
        oldest = section.ttl if wished is None else min(wished, section.ttl)
        return self.clock() - stored.created <= oldest and self.catalogue.grants(stored.model, entitled.grant)


def feature_of(entitled: Entitled) -> str:
    """Name the feature whose look-ups are decided and learned together."""
    owner = entitled.attribution
    return f"{owner.team}/{owner.app}/{owner.feature}"

