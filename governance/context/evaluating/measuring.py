"""Cut a prompt to a share of its length, and see whether all that answers its question is still there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from governance.context.cutting.trimming import Counter, Draft
from governance.context.evaluating.conversations import Body, Case
from governance.context.rule import ContextRule

Compare = Callable[[Sequence[str], Sequence[str]], Awaitable[Sequence[float] | None]]
"""Says for each text its cosine with the nearest question; None to go by words alone."""

KEPT_TURNS = 2
"""Turns that stay as they are in an evaluation: no answer stands in them."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one prompt: its tokens before and after, and whether all that answers the question was kept."""

    kind: str
    kept: bool
    before: int
    after: int

    @property
    def share(self) -> float:
        """The share of its tokens that was cut."""
        return 1 - self.after / self.before


async def outcome(
    case: Case, share: float, count_body: Callable[[Body], float], count: Counter, compare: Compare
) -> Outcome:
    """Cut one prompt.

    Args:
        case: The prompt, and what answers its question.
        share: The share of its tokens to be cut.
        count_body: Counts the tokens of a request.
        count: Counts those of a text.
        compare: Compares texts by meaning.
    """
    before = round(count_body(case.body))
    rule = ContextRule(mode="trim", keep_last_turns=KEPT_TURNS, target_tokens=round(before * (1 - share)))
    draft = Draft(case.body, rule, before, count)
    trimmed = draft.finish(await compare(draft.questions, draft.chunks) if draft.chunks else None)
    text = "\n".join(str(message.get("content")) for message in trimmed.body["messages"])
    kept = all(answer in text for answer in case.answers)
    return Outcome(case.kind, kept, before, round(count_body(trimmed.body)))
