"""Which model of a route a prompt needs, by a router that has learned it: between the caches and the purse.

The embedding is the one that the semantic cache has computed for the same words, where it has; otherwise it is computed
now, in this process, so that no word leaves it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cache.errors import EmbeddingUnavailable
from gateway.catalogue import Catalogue, Wish
from gateway.steps.admission import Asked, Entitled
from gateway.steps.guarding.meanings import Places
from gateway.steps.reuse.slot import Slot
from gateway.wire.request.chat_body import ChatFields
from governance.attribution import UNATTRIBUTED
from router_models.artifact import open_scorer, require_embedding
from router_models.config import Calibrated, RouteRule, Threshold
from router_models.deciding import STRANGE, UNSCORED, Opinion, Sessions, opinion_of
from router_models.errors import ArtifactUnusable
from router_models.features import features_of

if TYPE_CHECKING:
    from router_models.learned import LearnedRouter


class OpenRouter:
    """The trained router of this installation, opened when the first request needs it: the one in its home, or ours."""

    def __init__(self, trained: Path) -> None:
        self._trained = trained
        self._open = cache(self._opened)

    def __call__(self) -> "LearnedRouter":
        """Return it.

        Raises:
            ArtifactUnusable: it cannot be opened, or what it needs is not installed.
        """
        return self._open()

    def _opened(self) -> "LearnedRouter":
        return open_scorer(self._trained if self._trained.exists() else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Asks the router.

    Attributes:
        catalogue: says which models a caller may use.
        router: returns the trained router.
        places: computes embeddings.
        sessions: what answered last in each session.
    """

    catalogue: Catalogue
    router: Callable[[], "LearnedRouter"]
    places: Places
    sessions: Sessions

    async def opinion(
        self, asked: Asked[ChatFields], entitled: Entitled, wish: Wish, body: Mapping[str, Any], slot: Slot
    ) -> Opinion | None:
        """Return which model of the wish should answer; None where there is nothing to choose."""
        rule = wish.target
        if not isinstance(rule, RouteRule) or rule.threshold is None or rule.weak == rule.strong or asked.pinned:
            return None
        if not all(self.catalogue.grants(name, entitled.grant) for name in (rule.weak, rule.strong)):
            return None
        text = last_words(body)
        if text is None:
            return STRANGE  # a picture, or a tool's result: nothing was learned of those
        try:
            router = self.router()
            vector = await self._vector(router, text, slot)
        except (EmbeddingUnavailable, ArtifactUnusable):
            return UNSCORED
        messages = body["messages"]
        turns = sum(1 for message in messages if message.get("role") == "user")
        score = router.score(vector, features_of(text, turns=turns, tools=len(body.get("tools") or ())))
        session = _session(entitled, rule)
        before = None if session is None else self.sessions.last(session)
        opinion = opinion_of(score, threshold_of(rule.threshold, router), before)
        if session is not None:
            self.sessions.keep(session, opinion)
        return opinion

    async def _vector(self, router: "LearnedRouter", text: str, slot: Slot) -> Any:
        """Return the vector of a text in the router's embedding.

        Raises:
            EmbeddingUnavailable: it cannot be had now.
            ArtifactUnusable: the router was made for another embedding.
        """
        sought = slot.sought
        if sought is not None and sought.cache.embedding == router.embedding and sought.asked.text == text:
            return sought.asked.vector
        name, vectors = await self.places.place([text])
        require_embedding(router, name)
        return vectors[0]


def threshold_of(threshold: Threshold, router: "LearnedRouter") -> float:
    """Return the need from which on the strong model answers, for what a policy says."""
    match threshold:
        case Calibrated(quality=None, cost_share=share) if share is not None:
            return router.thresholds.for_cost_share(float(share))
        case Calibrated(quality=quality) if quality is not None:
            return router.thresholds.for_quality(float(quality))
        case Calibrated():
            return 0.0
        case number:
            return float(number)


def last_words(body: Mapping[str, Any]) -> str | None:
    """Return the text of the last turn where it is the user's and nothing but text; None for any other."""
    messages: Sequence[Any] = body.get("messages") or ()
    last = messages[-1] if messages else None
    if not isinstance(last, Mapping) or last.get("role") != "user":
        return None
    content = last.get("content")
    if isinstance(content, list) and all(isinstance(part, Mapping) and part.get("type") == "text" for part in content):
        content = "\n".join(str(part.get("text", "")) for part in content)
    return content if isinstance(content, str) and content.strip() else None


def _session(entitled: Entitled, rule: RouteRule) -> tuple[str, str, str] | None:
    session = entitled.attribution.session
    return None if session in {"", UNATTRIBUTED} else (entitled.caller.key_id, session, rule.name)
