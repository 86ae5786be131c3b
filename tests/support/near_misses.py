"""Pairs of questions that look alike, written for the purpose: may the answer to one be served for the other?

A family is a file of `tests/cache/near_misses/`; its lines are what `sluice cache evaluate --pairs` reads. In most
families `a` and `b` are texts; in those of `APART` they are whole requests, and its traps differ in something other
than the last thing the user said, so that no similarity may ever bring them together.

The families of `MULTI_TURN` are conversations. Their traps have the same last words after another history; their true
pairs differ in the history too, in its words or by small talk, so that only a judge could bring them together.

Nothing that decides in the product may be fitted to these pairs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "cache" / "near_misses"
APART = frozenset(
    {"attachments", "feature", "persona", "response_schema", "sampling", "system_prompt", "tenant", "tools", "turn"}
)
FAMILIES = tuple(sorted(path.stem for path in FOLDER.glob("*.jsonl")))
MULTI_TURN = tuple(sorted(f"multi_turn/{path.stem}" for path in FOLDER.glob("multi_turn/*.jsonl")))

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Two questions alike.

    Attributes:
        a: What was asked first: a text, or a request as the families of `APART` have it.
        b: What is asked now.
        same: An answer to `a` is a right answer to `b`.
        kind: The family.
    """

    a: str | Request
    b: str | Request
    same: bool
    kind: str


def near_misses(*families: str) -> list[NearMiss]:
    """Read the pairs of some families, or of all when none is named."""
    return [
        NearMiss(**json.loads(line))
        for family in families or FAMILIES
        for line in (FOLDER / f"{family}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def last_words(question: str | Request) -> str:
    """Return the text of the last user turn."""
    if isinstance(question, str):
        return question
    content = question["messages"][-1]["content"]
    return content if isinstance(content, str) else next(part["text"] for part in content if part["type"] == "text")


def surroundings(question: str | Request) -> str:
    """Return everything of a request but the text of its last user turn, as canonical JSON; "" for a text."""
    if isinstance(question, str):
        return ""
    *earlier, last = question["messages"]
    content = last["content"]
    attached = [] if isinstance(content, str) else [part for part in content if part["type"] != "text"]
    return json.dumps({**question, "messages": earlier, "attached": attached}, sort_keys=True)
