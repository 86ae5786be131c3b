"""Whether two answers agree: asked once for each neighbour of a question that was answered anew."""

from dataclasses import dataclass
from typing import Protocol

from cache.judging import Verdict
from gateway.steps.admission import Asked
from gateway.wire.request.chat_body import ChatFields


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A new answer and a stored one, with their questions; `asked` is the request that got the new one."""

    asked: Asked[ChatFields]
    question: str
    answer: str
    stored_question: str
    stored_answer: str


class Judge(Protocol):
    """Compares answers."""

    async def compare(self, comparison: Comparison) -> Verdict:
        """Say whether the stored answer would have done; None where that cannot be told."""
        ...
