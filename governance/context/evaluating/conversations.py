"""Long prompts with one fact that answers the question at the end, among a lot that does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from governance.context.evaluating.facts import PEOPLE, PLACES, THINGS, Fact, alike, facts, listed

Body = dict[str, Any]

_SUBJECTS: Final = listed(
    "The committee;A visitor;The northern team;An older report;The gardener;Our neighbour;The second survey;"
    "A local paper;The choir;The planning office;One of the engineers;The landlord;A retired captain;The night shift"
)
_VERBS: Final = listed(
    "described at length;was pleased with;compared several views of;wrote a short note about;asked again for;"
    "kept a record of;could not agree on;spent the week on;had doubts about;made a sketch of"
)
_OBJECTS: Final = listed(
    "the garden by the river;the colour of the curtains;an exhibition of old maps;the music at the summer festival;"
    "a path through the forest;the history of the clock tower;the shape of the new logo;a collection of stamps;"
    "the taste of the regional cheese;a poem about the sea;the weather of the last decade;the view from the bridge"
)
_ENDS: Final = listed(
    "as in most years;without any haste;although it rained;to the surprise of many;and nothing came of it;"
    "while others had lunch;for the third time;which took a while;as far as anybody remembers"
)
_CHAT: Final = listed(
    "Could you make this sound friendlier?;What would you add here?;That is fine, go on.;Shorter, please.;"
    "Can you put it in the past tense?;Thanks. And the next paragraph?;Give me another version of that."
)


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt, and the texts without which its question cannot be answered."""

    kind: str
    body: Body
    answers: tuple[str, ...]


Texts = Callable[[Random], str]
"""Draws a paragraph that answers nothing."""


def filler(chance: Random) -> str:
    """Draw a paragraph of sentences about nothing in particular."""
    return " ".join(_sentence(chance) for _ in range(chance.randint(3, 6)))


def cases(seed: int, count: int, texts: Texts = filler, *, reported: bool = True) -> list[Case]:
    """Build cases of every kind in turn, the same for the same seed.

    Args:
        seed: Of the draw.
        count: How many.
        texts: Draws what stands around the answers.
        reported: Of the facts that are reported, or those for development.
    """
    chance = Random(seed)  # noqa: S311  an evaluation must be repeatable
    made: list[Case] = []
    for n in range(count):
        (fact,) = facts(chance, 1, reported=reported)
        around = [*(texts(chance) for _ in range(30)), *alike(chance, 10, reported=reported)]
        chance.shuffle(around)
        made.append(_KINDS[n % len(_KINDS)](chance, fact, around))
    return made


def _documents(chance: Random, fact: Fact, around: Sequence[str]) -> Case:
    """Chunks between marks before the question."""
    chunks = _planted(chance, fact, around)
    pasted = "\n".join(f"<document id={n}>\n{chunk}\n</document>" for n, chunk in enumerate(chunks, 1))
    return _case("documents", fact, [_user(f"{pasted}\n\n{fact.question}")])


def _context(chance: Random, fact: Fact, around: Sequence[str]) -> Case:
    """Paragraphs under a title."""
    text = "\n\n".join(_planted(chance, fact, around))
    return _case("context", fact, [_user(f"Context:\n{text}\n\nQuestion: {fact.question}")])


def _search(chance: Random, fact: Fact, around: Sequence[str]) -> Case:
    """The results of a search as indented JSON."""
    results = [{"rank": n, "title": f"Note {n}", "text": text} for n, text in enumerate(_planted(chance, fact, around))]
    found = json.dumps({"query": fact.question, "results": results}, indent=2)
    return _case("search", fact, [_user(fact.question), *_called("search", fact.question, found)])


def _repeated(chance: Random, fact: Fact, around: Sequence[str]) -> Case:
    """An agent that reads the same pages again and again; one of them has the answer."""
    pages = ["\n".join(around[at : at + 8]) for at in range(0, len(around), 8)]
    place = chance.randrange(len(pages))
    pages[place] = _into(chance, pages[place], fact.answer)
    messages = [_user("Read the notes, then I will ask you something."), _assistant("I will.")]
    for n in range(len(pages) * 2):
        messages += _called("read", f"page {n % len(pages)}", pages[n % len(pages)])
    return _case("repeated", fact, [*messages, _assistant("I have read them."), _user(fact.question)])


def _logs(chance: Random, fact: Fact, around: Sequence[str]) -> Case:
    """A log in which one line has the answer."""
    lines = [
        f"2026-03-{chance.randint(1, 28):02} 08:{n % 60:02}:11 INFO {text.split('. ')[0]}"
        for n, text in enumerate(around)
    ]
    lines += [
        f"2026-03-02 09:{n % 60:02}:07 DEBUG heartbeat {chance.choice(THINGS)} ok in {chance.randint(2, 90)} ms"
        for n in range(160)
    ]
    lines.insert(chance.randrange(len(lines)), f"2026-03-02 09:31:07 WARN {fact.answer}")
    return _case("logs", fact, [_user(fact.question), *_called("logs", "today", "\n".join(lines))])


def _chat(chance: Random, fact: Fact, around: Sequence[str]) -> Case:
    """A long chat in whose older turns the answer was said."""
    place = chance.randrange(2, len(around) - 6)
    messages: list[Body] = []
    for n, text in enumerate(around):
        said = _into(chance, text, fact.answer) if n == place else text
        messages += [_user(f"{chance.choice(_CHAT)}\n{said}"), _assistant(f"Here it is. {_sentence(chance)}")]
    return _case("chat", fact, [*messages, _user(fact.question)])


_KINDS: Final = (_documents, _context, _search, _repeated, _logs, _chat)


def _planted(chance: Random, fact: Fact, around: Sequence[str]) -> list[str]:
    chunks = list(around)
    place = chance.randrange(len(chunks))
    chunks[place] = _into(chance, chunks[place], fact.answer)
    return chunks


def _into(chance: Random, text: str, answer: str) -> str:
    """Put a sentence among those of a text."""
    sentences = text.split(". ")
    place = chance.randint(0, len(sentences) - 1)
    parts = [". ".join(sentences[:place]), answer.removesuffix("."), ". ".join(sentences[place:])]
    return ". ".join(part for part in parts if part)


def _sentence(chance: Random) -> str:
    name = chance.choice((*PLACES, *PEOPLE, *THINGS))
    return (
        f"{chance.choice(_SUBJECTS)} {chance.choice(_VERBS)} {chance.choice(_OBJECTS)} near {name} "
        f"{chance.choice(_ENDS)}."
    )


def _case(kind: str, fact: Fact, messages: Sequence[Body]) -> Case:
    system = {"role": "system", "content": "Answer the question from what you are given. Say so if it is not there."}
    return Case(kind, {"messages": [system, *messages]}, (fact.answer.removesuffix("."),))


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _assistant(text: str) -> Body:
    return {"role": "assistant", "content": text}


def _called(tool: str, query: str, result: str) -> list[Body]:
    call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": json.dumps({"q": query})}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": result},
    ]
