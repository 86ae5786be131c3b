"""One request's context: measured and checked before the caches are asked, cut when an answer has to be bought.

The caches know a request by what its client sent, so the same request finds the same answer however it was cut; where
a policy lets prompts be cut, that is a part of what they know it by (`Weighed.known_by`). So a prompt that is answered
from a cache is never cut, and the cutting may depend on what a provider has in its own cache just now: a prompt is left
as it is where that is cheaper than a shorter one that begins otherwise.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import msgspec
from structlog.typing import FilteringBoundLogger

from gateway.catalogue import Catalogue, Model, Wish
from gateway.context.meanings import Nearness
from gateway.context.measures import Measures
from gateway.context.spared import NOTHING_SPARED, Spared
from gateway.counting.makeup import of_text
from gateway.counting.tally import Counting, Prompt, Tally
from gateway.prefix.prefixing import Prefixing
from gateway.steps.accounts import Bought
from gateway.steps.admission import Asked, Entitled
from gateway.steps.shaping import Shaped
from gateway.wire.request.chat_body import ChatFields
from governance.context.auditing import Audit, audit
from governance.context.cutting.trimming import Cut, Draft, Trimmed
from governance.context.rule import NOTHING_ASKED, ContextRule
from governance.errors import ContextTooLong

T = TypeVar("T")

BESIDE_BYTES: Final = 16_384
"""A larger request is measured and cut beside the event loop: it takes milliseconds."""

_TOLD: Final = 40
"""Cuts that the log lists."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A request whose context is known.

    Attributes:
        rule: what the policy asks of it.
        tokens: how many its prompt has, as estimated; 0 where nobody asks.
        found: what it is made of; None where nobody asks.
        tally: counts more of it; None where nobody asks.
    """

    rule: ContextRule
    tokens: int = 0
    found: Audit | None = None
    tally: Tally | None = None

    def known_by(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return what the caches know the request by: its body, and how it may be cut if it may."""
        rule = self.rule
        if rule.mode != "trim":
            return body
        return body | {"sluice_context": [rule.keep_last_turns, rule.target, rule.max_input_tokens]}

    def count(self, texts: Sequence[str]) -> float:
        """Return how many tokens texts have, about."""
        return 0.0 if self.tally is None else self.tally.calibration.estimate(of_text(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contexts:
    """The context step of chats.

    Attributes:
        counting: counts tokens.
        catalogue: knows what models cost.
        prefixing: knows what providers have in their caches.
        nearness: compares texts by meaning.
        measures: adds up what is found.
        log: is told what was cut: numbers and places, never text.
    """

    counting: Counting
    catalogue: Catalogue
    prefixing: Prefixing
    nearness: Nearness
    measures: Measures
    log: FilteringBoundLogger

    async def weigh(self, asked: Asked[ChatFields], entitled: Entitled, wish: Wish) -> Weighed:
        """Measure a request, and turn it away where it is too long for the policy and may not be cut.

        Raises:
            ContextTooLong: it is.
        """
        rule = entitled.grant.context
        if rule.idle or asked.pinned:
            return Weighed(NOTHING_ASKED)
        weighed = self._tallied(rule, wish, asked.body, asked.size)
        if rule.audit:
            found = await _beside(asked.size, lambda: audit(asked.body, weighed.count))
            weighed = replace(weighed, found=found)
        limits = [
            rule.max_input_tokens if rule.mode != "trim" else None,
            rule.target if rule.mode == "refuse" else None,
        ]
        _check(weighed.tokens, min((limit for limit in limits if limit is not None), default=None))
        return weighed

    async def cut(
        self, weighed: Weighed, asked: Asked[ChatFields], entitled: Entitled, wish: Wish, shaped: Shaped
    ) -> tuple[Shaped, Prompt]:
        """Return the request as it is to be bought, and its prompt, which knows what was cut of it.

        Raises:
            ContextTooLong: it is too long for the policy even so.
        """
        rule = weighed.rule
        if not rule.trims or (rule.target is not None and weighed.tokens <= rule.target):
            return shaped, Prompt(shaped.body, asked.size, Spared(weighed.found))
        trimmed = await self._trimmed(weighed, asked.size, shaped.body)
        size = asked.size if trimmed.body is shaped.body else len(msgspec.json.encode(trimmed.body))
        after = self._tallied(rule, wish, trimmed.body, size).tokens
        cut = Spared(weighed.found, "", max(0, weighed.tokens - after))
        spared = cut if rule.mode == "warn" else self._weighed_up(weighed, asked, entitled, wish, shaped, trimmed, cut)
        what = "warn" if rule.mode == "warn" else "trimmed" if spared.tokens else "kept"
        note = f"{what};tokens={weighed.tokens}->{after}" if trimmed.cuts else ""
        if note:
            self._tell(asked, what, weighed.tokens, after, trimmed.cuts)
        _check(after if what == "trimmed" else weighed.tokens, rule.max_input_tokens)
        if what != "trimmed":
            return shaped, Prompt(shaped.body, asked.size, Spared(weighed.found, note))
        return replace(shaped, body=trimmed.body), Prompt(trimmed.body, size, replace(spared, note=note))

    def booked(self, asked: Asked[ChatFields], entitled: Entitled, made: Sequence[Bought]) -> None:
        """Add the measures of a request that was bought to those of its feature, with what its prompt has cost."""
        if made and made[-1].spared.found is not None:
            self.measures.add(asked.at, entitled.attribution, made[-1].spared.found, made)

    def _tallied(self, rule: ContextRule, wish: Wish, body: dict[str, Any], size: int) -> Weighed:
        tally = self.counting.tally(self._first(wish), Prompt(body, size))
        return Weighed(rule, tally.likely, None, tally)

    def _first(self, wish: Wish) -> Model:
        """Return the model by whose tokens a request is counted: the first that it may go to."""
        target = wish.target
        return target if isinstance(target, Model) else self.catalogue.models[target.models[0]]

    async def _trimmed(self, weighed: Weighed, size: int, body: dict[str, Any]) -> Trimmed:
        draft = await _beside(
            size, lambda: Draft(body, weighed.rule, weighed.tokens, lambda text: weighed.count([text]))
        )
        nearest = await self.nearness.cosines(draft.questions, draft.chunks)
        return await _beside(size, lambda: draft.finish(nearest))

    def _weighed_up(
        self,
        weighed: Weighed,
        asked: Asked[ChatFields],
        entitled: Entitled,
        wish: Wish,
        shaped: Shaped,
        trimmed: Trimmed,
        spared: Spared,
    ) -> Spared:
        """Return nothing spared where the prompt is cheaper as it is, because a provider has its beginning already."""
        had = self.prefixing.of(asked, entitled, shaped.body).kept
        has = self.prefixing.of(asked, entitled, trimmed.body).kept if had else 0
        spared = replace(spared, lost=max(0, min(had, weighed.tokens) - has))
        too_long = weighed.rule.max_input_tokens is not None and weighed.tokens > weighed.rule.max_input_tokens
        price = self.catalogue.price(self._first(wish))
        if not spared.lost or too_long or price is None:
            return spared
        rates = price.for_prompt(weighed.tokens)
        fresh, read = rates.rate("fresh_input").nanos, rates.rate("cache_read").nanos
        return spared if spared.tokens * fresh > spared.lost * (fresh - read) else NOTHING_SPARED

    def _tell(self, asked: Asked[ChatFields], what: str, before: int, after: int, cuts: Sequence[Cut]) -> None:
        places = [_place(cut) for cut in cuts[:_TOLD]]
        self.log.info("context", request_id=asked.request_id, what=what, tokens=before, left=after, cuts=places)


def _place(cut: Cut) -> str:
    at = f"messages.{cut.message}" if cut.part is None else f"messages.{cut.message}.content.{cut.part}"
    return f"{at} {cut.how} {cut.tokens}"


def _check(tokens: int, limit: int | None) -> None:
    if limit is not None and tokens > limit:
        raise ContextTooLong(tokens, limit)


async def _beside(size: int, work: Callable[[], T]) -> T:
    return work() if size <= BESIDE_BYTES else await asyncio.to_thread(work)
