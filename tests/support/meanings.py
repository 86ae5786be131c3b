"""The semantic cache as the gateway asks it, for any caller and any policy, beside no gateway at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from cache.config import SemanticSection, SharedBy
from cache.directives import Directives
from cache.epoch import epoch
from cache.learning.learner import Learner
from cache.semantic.lookup import SemanticCache, Sought
from cache.stores import Stored
from gateway.catalogue import Catalogue, Model, Wish
from gateway.providers.absent import AbsentUpstream
from gateway.steps.admission import Asked, Entitled
from gateway.steps.reuse.meaning import Lesson, Meaning
from gateway.steps.reuse.slot import Slot
from gateway.wire.request.chat_body import ChatFields
from gateway.wire.request.controls import Controls
from governance.attribution import Attribution, Offered
from governance.confinement.confined import UNCONFINED
from governance.identity import Caller
from governance.policy.rules import Grant, OutputRule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = {name: Model(name, "cloud", name, "cloud", "chat", None) for name in ("large", "small")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Who asks, and where: all of a request that is not its body."""

    shared_by: SharedBy = SharedBy.APP
    team: str = "t"
    app: str = "a"
    key_id: str = "k"
    feature: str = "f"
    namespace: str | None = None
    model: str = "large"
    version: str | None = None
    endpoint: str = "chat"


class Meanings:
    """Looks requests up by meaning, with one learner for all features: the worst that could be."""

    def __init__(self, cache: SemanticCache, learner: Learner) -> None:
        self.cache = cache
        self._learner = learner
        self._catalogue = Catalogue([*MODELS.values()], [], {"cloud": AbsentUpstream("cloud", "cloud", "")}, None)

    def bind(self, max_error: Decimal) -> None:
        """Have no bound but the learner's own."""

    def learner(self, feature: str, embedding: str) -> Learner:
        """Return the one learner."""
        return self._learner

    def begin(self, lesson: Lesson) -> None:
        """Learn nothing."""

    def hit(self, asked: Asked[ChatFields], feature: str, slot: Slot, stored: Stored) -> None:
        """Note nothing."""

    async def find(
        self, place: Place, body: dict[str, Any], *, watched: bool = False, multi_turn: str = "confirmed"
    ) -> tuple[Sought | None, Stored | None]:
        """Return what a look-up came to, and what was served."""
        takes_part = {"observe" if watched else "enabled": [f"{place.app}/{place.feature}"]}
        wished = {"max_error": 0.5, "ttl": "1h", "shared_by": place.shared_by, "multi_turn": multi_turn}
        meaning = Meaning(
            semantics=self,
            lessons=self,
            section=SemanticSection.model_validate(takes_part | wished),
            catalogue=self._catalogue,
            epoch=epoch(place.version),
            clock=NOW.timestamp,
        )
        slot = Slot(b"", Directives(read=True, write=True, namespace=place.namespace), 0)
        wish = Wish(place.model, MODELS[place.model])
        slot, stored = await meaning.find(_asked(place, body), _entitled(place), wish, body, slot)
        return slot.sought, stored

    async def keep(self, sought: Sought, answer: Mapping[str, str]) -> None:
        """Keep an answer to what was looked up."""
        stored = Stored(
            body=msgspec.json.encode(answer),
            model="large",
            cost_nanos=1,
            usage={},
            created=NOW.timestamp(),
            question=sought.asked.text,
            marks=sought.asked.marks,
        )
        await self.cache.keep(sought, stored, 3_600)


def _asked(place: Place, body: dict[str, Any]) -> Asked[ChatFields]:
    return Asked(
        request_id="req_1",
        at=NOW,
        tick=0.0,
        endpoint=place.endpoint,
        caller=Caller(place.key_id, place.team, place.app),
        offered=Offered({}, {}),
        controls=Controls(None, None, ""),
        body=body,
        size=100,
        fields=msgspec.convert({"model": place.model} | body, ChatFields),
        model=place.model,
        limit_s=10.0,
    )


def _entitled(place: Place) -> Entitled:
    caller = Caller(place.key_id, place.team, place.app)
    grant = Grant(tiers=("cloud",), route=None, budgets=(), rates=(), output=OutputRule())
    return Entitled(caller, Attribution(team=place.team, app=place.app, feature=place.feature), grant, UNCONFINED)
