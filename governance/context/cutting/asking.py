"""What is asked at the end of a chat, to which the rest of it may have more or less to do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from governance.context.cutting.ranking import terms_of
from governance.context.marking import unlabelled
from governance.context.reading import Passage, arguments_of, turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FEW_TERMS: Final = 5
"""A turn that points back and has fewer words that mean something is read together with the one before."""

_POINTING: Final = re.compile(
    r"\b(?:it|its|they|them|their|that|this|those|these|he|him|she|her|there|one|ones|other)\b", re.IGNORECASE
)
_BEFORE: Final = 200

_QUESTION: Final = 1_500


def questions_of(passages: Sequence[Passage], messages: list[Mapping[str, Any]]) -> list[str]:
    """Return what is asked: the last turn, with the one before where it points there, and what was last called for."""
    asked = _asked(passages, turn=0)
    found = [asked]
    if len(terms_of(asked)) < _FEW_TERMS and _POINTING.search(asked) and (before := _asked(passages, turn=1)):
        found.append(f"{before[-_BEFORE:]}\n{asked}")
    latest = (
        arguments_of(message)
        for message, after in zip(messages[::-1], turns_of(messages)[::-1], strict=True)
        if not after
    )
    calls = next((texts for texts in latest if texts), [])
    return [text for text in (*found, " ".join(calls)[-_QUESTION:]) if text.strip()]


def _asked(passages: Sequence[Passage], turn: int) -> str:
    roles = {"user"} if turn == 0 else {"history"}
    users = [one for one in passages if one.turn == turn and one.role in roles and not one.fixed]
    first = min((one.message for one in users), default=0)
    own = users if turn == 0 else [one for one in users if one.message == first]
    return "\n".join(text for one in own if (text := unlabelled(one.text)))[-_QUESTION:]
