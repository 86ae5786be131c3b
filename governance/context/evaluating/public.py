"""Long prompts of public texts: problems whose question is asked apart from what it is about, and real conversations.

A row is that of a data set of prompts (`{"source", "prompt"}`), of pairs of questions (`{"a", "b", "same"}`), or of
pairs of conversations, where `a` and `b` are lists of messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from random import Random
from typing import Any, Final

from governance.context.evaluating.conversations import Body, Case

_AROUND: Final = 24
_FEWEST_WORDS: Final = 6
_END: Final = re.compile(r"(?<=[.!?])\s+")


def public_cases(rows: Sequence[Mapping[str, Any]], seed: int, count: int) -> list[Case]:
    """Build cases of the rows, the same for the same seed; at most so many of each kind."""
    chance = Random(seed)  # noqa: S311  an evaluation must be repeatable
    problems = [str(row["prompt"]) for row in rows if "prompt" in row]
    chats = [row["a"] for row in rows if isinstance(row.get("a"), list)]
    pairs = [(row["a"], row["b"]) for row in rows if row.get("same") is True and isinstance(row.get("a"), str)]
    return [
        case
        for kind in (_problems(chance, problems), _replies(chance, chats), _reworded(chance, pairs))
        for case in islice(kind, count)
    ]


def _problems(chance: Random, prompts: Sequence[str]) -> Iterator[Case]:
    """Problems as documents; the question of one is asked, and all its other sentences are needed for the answer."""
    split = [parts for prompt in prompts if len(parts := _END.split(prompt.strip())) > 1 and parts[-1].endswith("?")]
    if len(split) <= _AROUND:
        return
    while True:
        *facts, question = chance.choice(split)
        others = [" ".join(parts[:-1]) for parts in chance.sample(split, _AROUND)]
        others.insert(chance.randrange(_AROUND), " ".join(facts))
        pasted = "\n".join(f"<document>\n{text}\n</document>" for text in others)
        yield Case("problems", {"messages": [_said("user", f"{pasted}\n\n{question}")]}, tuple(facts))


def _replies(chance: Random, chats: Sequence[Sequence[Body]]) -> Iterator[Case]:
    """Conversations one after another; something that was asked in one is asked again, and its reply is needed."""
    if len(chats) < _AROUND:
        return
    while True:
        drawn = chance.sample(chats, 8)
        messages = [message for chat in drawn for message in _answered(chat)]
        texts = [message["content"] for message in messages]
        asked = [
            at
            for at in range(0, len(texts) - 12, 2)
            if len(texts[at].split()) >= _FEWEST_WORDS and texts[at].endswith("?")
        ]
        if not asked:
            continue
        at = chance.choice(asked)
        question = _said("user", f"Remind me: {messages[at]['content']}")
        yield Case("replies", {"messages": [*messages, question]}, (messages[at + 1]["content"],))


def _reworded(chance: Random, pairs: Sequence[tuple[str, str]]) -> Iterator[Case]:
    """Many questions, each with a reply that has no word of it; one of them is asked again in other words."""
    if len(pairs) <= _AROUND:
        return
    while True:
        drawn = chance.sample(pairs, _AROUND + 1)
        place = chance.randrange(_AROUND - 3)
        replies = [
            f"Desk {chance.randint(10, 99)} handles that, under reference {chance.randint(10**5, 10**6)}."
            for _ in drawn
        ]
        messages = [
            _said(role, text)
            for (question, _), reply in zip(drawn, replies, strict=True)
            for role, text in (("user", question), ("assistant", reply))
        ]
        yield Case("reworded", {"messages": [*messages, _said("user", drawn[place][1])]}, (replies[place],))


def _answered(chat: Sequence[Body]) -> list[Body]:
    """Return the messages that come in pairs of a question and its reply."""
    pairs = zip(chat[::2], chat[1::2], strict=False)
    texts = ((one, other) for one, other in pairs if (one["role"], other["role"]) == ("user", "assistant"))
    return [message for pair in texts for message in pair if isinstance(message["content"], str)]


def _said(role: str, text: str) -> Body:
    return {"role": role, "content": text}
