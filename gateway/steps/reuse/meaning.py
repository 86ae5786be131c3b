"""The semantic cache as a request sees it: one look-up by meaning, when its exact repetition has no answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Protocol

from cache.answers import APART_S
from cache.config import SemanticSection
from cache.judging.refusals import declines
from cache.learning.learner import Learner
from cache.semantic.lookup import SemanticCache, Sought
from cache.semantic.question import Question, question_of
from cache.semantic.scope import scope_of
from cache.stores import Stored
from gateway.catalogue import Catalogue, Wish
from gateway.steps.admission import Asked, Entitled
from gateway.steps.reuse.slot import Slot, answer_of, group_of
from gateway.wire.request.chat_body import ChatFields
from governance.ledger.events import Settlement


class Lessons(Protocol):
    """Takes note of what the caches did, and learns from what they did not."""

    def begin(self, lesson: "Lesson") -> None:
        """Learn from an answer, beside whatever comes next."""
        ...

    def hit(self, asked: Asked[ChatFields], feature: str, slot: Slot, stored: Stored) -> None:
        """Put on record which stored answer was served."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A new answer to a question that was looked up by meaning.

    Attributes:
        asked: the request.
        feature: whose look-up it was.
        section: what the policy in force says.
        sought: what was found.
        completion: the answer.
        stored: the answer as it may be kept; None when it may not.
        ttl: for how long, in seconds.
    """

    asked: Asked[ChatFields]
    feature: str
    section: SemanticSection
    sought: Sought
    completion: dict[str, Any]
    stored: Stored | None
    ttl: int


class Semantics(Protocol):
    """What a semantic cache knows, whatever policy is in force."""

    @property
    def cache(self) -> SemanticCache | None:
        """The cache; None as long as it is not open."""
        ...

    def bind(self, max_error: Decimal) -> None:
        """Set the bound of every feature, from now on."""
        ...

    def learner(self, feature: str, embedding: str) -> Learner:
        """Return what decides the look-ups of a feature whose questions are placed by an embedding."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """Looks up by meaning.

    Attributes:
        semantics: where answers are found, and what has been learned.
        lessons: what follows.
        section: what the policy allows; None when it has no semantic cache.
        catalogue: says which models are whose.
        epoch: names what in the policy shapes answers, as for the exact cache.
        clock: seconds since 1970, as `Stored.created` counts them.
    """

    semantics: Semantics
    lessons: Lessons
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
        self.semantics.bind(section.max_error)
        sought = await cache.seek(
            question,
            self._scope(section, question, asked, entitled, wish, slot),
            self.semantics.learner(feature_of(entitled), cache.embedding),
            lambda stored: self._fits(stored, entitled, slot, section),
            confirmed_only=question.earlier > 0,
            watched=f"{owner.app}/{owner.feature}" not in section.enabled,
        )
        if sought is None:
            return slot, None
        if sought.answer is not None and slot.flight is not None:
            slot.flight.land(None)  # this answer is to another question: those who wait look for themselves
        return replace(slot, sought=sought), sought.answer

    def served(self, asked: Asked[ChatFields], entitled: Entitled, slot: Slot, stored: Stored) -> None:
        """Note that a stored answer was served, from whichever cache."""
        self.lessons.hit(asked, feature_of(entitled), slot, stored)

    def learn(
        self,
        asked: Asked[ChatFields],
        entitled: Entitled,
        slot: Slot,
        model: str,
        settlement: Settlement,
        completion: dict[str, Any],
    ) -> None:
        """Learn from an answer that was bought, and keep it, beside whatever comes next."""
        section, sought = self.section, slot.sought
        if section is None or sought is None:
            return
        ttl = slot.directives.lifetime(section.ttl)
        said = text_of(completion)
        keeps = ttl and said is not None and not slot.whole and not declines(said)
        stored = answer_of(asked, entitled, slot, model, settlement, completion, sought) if keeps else None
        self.lessons.begin(
            Lesson(
                asked=asked,
                feature=feature_of(entitled),
                section=section,
                sought=sought,
                completion=completion,
                stored=stored,
                ttl=ttl,
            )
        )

    def _scope(
        self,
        section: SemanticSection,
        question: Question,
        asked: Asked[ChatFields],
        entitled: Entitled,
        wish: Wish,
        slot: Slot,
    ) -> bytes:
        return scope_of(
            question,
            partition=group_of(section.shared_by, entitled, slot.directives),
            feature=feature_of(entitled),
            zone=asked.controls.zone,
            model_class=self.catalogue.meaning(wish),
            endpoint=asked.endpoint,
            epoch=self.epoch,
        )

    def _fits(self, stored: Stored, entitled: Entitled, slot: Slot, section: SemanticSection) -> bool:
        wished = slot.directives.max_age
        oldest = section.ttl if wished is None else min(wished, section.ttl)
        return -APART_S <= self.clock() - stored.created <= oldest and self.catalogue.grants(
            stored.model, entitled.grant
        )


def feature_of(entitled: Entitled) -> str:
    """Name the feature whose look-ups are decided and learned together."""
    owner = entitled.attribution
    return f"{owner.team}/{owner.app}/{owner.feature}"


def text_of(completion: dict[str, Any]) -> str | None:
    """Return the words of an answer that is nothing else and came to its own end; None for any other."""
    choices: Sequence[dict[str, Any]] = completion.get("choices") or ()
    if len(choices) != 1 or choices[0].get("finish_reason") != "stop" or "sluice" in completion:
        return None
    message = choices[0].get("message") or {}
    content = message.get("content")
    beside = any(message.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))
    return content if isinstance(content, str) and content.strip() and not beside else None
