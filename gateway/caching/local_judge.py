"""The judge that needs no model: it compares the words and the meaning of two answers."""

from dataclasses import dataclass

from cache.judging import Verdict
from gateway.caching.comparing import Comparison
from gateway.caching.semantics import OpenSemantics


@dataclass(frozen=True, slots=True)
class LocalJudge:
    """Compares answers by `cache.judging`, with the embedding of the semantic cache."""

    semantics: OpenSemantics

    async def compare(self, comparison: Comparison) -> Verdict:
        """Return what a comparison of the texts says; nothing when they cannot be placed just now."""
        cache = self.semantics.cache
        if cache is None:
            return Verdict(None, "there is no semantic cache any more")
        return await cache.judge.compare(comparison.answer, comparison.stored_answer)
