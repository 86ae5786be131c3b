"""What a prompt is made of, in tokens: whose it is, how much is said twice, and what is carried along for nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from governance.context.cutting.edges import in_the_middle
from governance.context.cutting.ranking import scored
from governance.context.reading import ROLES, Passage, Role, called_in, messages_of, passages_of, tools_of
from governance.context.repeating import Said

_LONG: Final = 8_000
"""Characters from which a prompt has a middle that is overlooked."""

_LARGE: Final = 200
"""Characters from which a paragraph is placed by what it has to do with the question."""

CountTexts = Callable[[Sequence[str]], float]
"""Counts the tokens of texts together, about."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The measures of one prompt, in tokens, about.

    Attributes:
        tokens: All of them.
        by_role: Those of each role, in the order of `ROLES`.
        same: Those of what is said word for word a second time, in any message.
        near: Those of what is nearly so.
        unused: Those of the schemas of tools that the conversation has not called.
        offered: The names of all tools.
        idle: The names of those that were not called.
        lead: Those of tools and system prompt, which other prompts of the feature begin with as well.
        stable: Those of all that stands before the last turn: what a provider may keep of a growing conversation.
        turns: How many turns there are.
        grown: What the last turn has added, with the answers and results since the one before.
        edge: Those of the paragraphs that have most to do with the question and stand at an edge of the prompt.
        middle: The same, of those that stand in its middle, where models overlook them.
    """

    tokens: int
    by_role: tuple[int, int, int, int, int]
    same: int
    near: int
    unused: int
    offered: tuple[str, ...]
    idle: tuple[str, ...]
    lead: int
    stable: int
    turns: int
    grown: int
    edge: int
    middle: int

    @property
    def repeated(self) -> int:
        """Tokens of all that is said again."""
        return self.same + self.near


def audit(body: Mapping[str, Any], count: CountTexts, *, near: bool = True) -> Audit:
    """Measure a prompt.

    Args:
        body: The request.
        count: Counts tokens.
        near: Look for what is said nearly twice as well.
    """
    passages, tools = passages_of(body), tools_of(body)
    texts: dict[Role, list[str]] = defaultdict(list, {"tools": list(tools.values())})
    for passage in passages:
        texts[passage.role].append(passage.text)
    by_role = [round(count(texts[role])) if texts[role] else 0 for role in ROLES]
    tokens = sum(by_role)
    size = sum(len(text) for listed in texts.values() for text in listed)
    each = tokens / max(1, size)
    same, near_to = _repeated(passages, near=near)
    idle = tuple(name for name in tools if name not in called_in(body))
    last = sum(len(one.text) for one in passages if one.turn == 0 and one.role != "system")
    edge, middle = _placed(passages) if size >= _LONG else (0, 0)
    lead = by_role[0] + by_role[1]
    return Audit(
        tokens=tokens,
        by_role=(by_role[0], by_role[1], by_role[2], by_role[3], by_role[4]),
        same=round(same * each),
        near=round(near_to * each),
        unused=round(by_role[1] * sum(len(tools[name]) for name in idle) / max(1, sum(map(len, tools.values())))),
        offered=tuple(tools),
        idle=idle,
        lead=lead,
        stable=max(lead, tokens - round(last * each)),
        turns=1 + max((one.turn for one in passages), default=0) if messages_of(body) else 0,
        grown=round(last * each),
        edge=round(edge * each),
        middle=round(middle * each),
    )


def _repeated(passages: Sequence[Passage], *, near: bool) -> tuple[int, int]:
    """Count the characters of paragraphs that are said again: word for word, and nearly so."""
    said, same, near_to = Said(), 0, 0
    for passage in passages:
        for paragraph in _paragraphs(passage.text):
            again = said.again(paragraph, near=near)
            same += len(paragraph) * (again == "same")
            near_to += len(paragraph) * (again == "near")
    return same, near_to


def _paragraphs(text: str) -> list[str]:
    return text.split("\n\n") if "\n\n" in text else text.split("\n")


def _placed(passages: Sequence[Passage]) -> tuple[int, int]:
    """Count the characters of the paragraphs that have most to do with the question, at the edges and in the middle."""
    question = "\n".join(one.text for one in passages if one.role == "user")
    found: list[tuple[int, str]] = []
    at = 0
    for passage in passages:
        counts = passage.role in {"history", "retrieved"} and not passage.fixed
        for text in passage.text.split("\n\n"):
            if counts and len(text) >= _LARGE:
                found.append((at, text))
            at += len(text) + 2
    if not question.strip() or len(found) < 2:  # noqa: PLR2004  one paragraph stands where it stands
        return 0, 0
    scores = scored([question], [text for _, text in found], None)
    best = sorted(range(len(found)), key=lambda place: -scores[place])[: max(1, len(found) // 10)]
    middle = sum(len(found[place][1]) for place in best if in_the_middle(found[place][0] / max(1, at)))
    return sum(len(found[place][1]) for place in best) - middle, middle
