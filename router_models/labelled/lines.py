"""Labelled prompts from JSON Lines, plain or gzip: one prompt and the score of each model that answered it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from router_models.errors import BadExample

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class _Part(msgspec.Struct):
    type: str = "text"
    text: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Part] | None = None


class _Line(msgspec.Struct):
    prompt: str | list[_Message]
    outcomes: dict[str, float]
    id: str | int = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A prompt and what models made of it.

    Attributes:
        text: The text of the last user turn.
        turns: How many turns the user has had.
        outcomes: The score of each model, 0 to 1.
        source: Where it is from.
    """

    text: str
    turns: int
    outcomes: dict[str, float]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two models that a router chooses between, by the names of the data."""

    weak: str
    strong: str


def read_examples(paths: Iterable[Path]) -> list[Example]:
    """Read labelled prompts.

    Raises:
        BadExample: A line is no labelled prompt.
    """
    decoder = msgspec.json.Decoder(_Line)
    found = list[Example]()
    for path in paths:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            lines = [line for line in enumerate(file, 1) if line[1].strip()]
        found += [_example(line, decoder, f"{path}:{number}") for number, line in lines]
    return found


def pair_of(examples: Sequence[Example], weak: str | None, strong: str | None) -> Pair:
    """Say which pair is meant; where there are but two models, the one with the better scores is the strong one.

    Raises:
        BadExample: The data know no such model, or more than two and one was not named.
    """
    names = sorted({name for one in examples for name in one.outcomes})
    unknown = [name for name in (weak, strong) if name is not None and name not in names]
    if unknown or (weak is not None and weak == strong):
        raise BadExample(f"no pair {weak}, {strong} in the data, which know {', '.join(names)}")
    if weak is not None and strong is not None:
        return Pair(weak, strong)
    rest = [name for name in names if name not in {weak, strong}]
    if len(names) != 2:  # noqa: PLR2004  a pair
        raise BadExample(f"name the pair by --weak and --strong; the data know {', '.join(names)}")
    if weak is not None or strong is not None:
        return Pair(weak or rest[0], strong or rest[0])
    low, high = sorted(names, key=lambda name: _mean(examples, name))
    return Pair(low, high)


def _mean(examples: Sequence[Example], name: str) -> float:
    scores = [one.outcomes[name] for one in examples if name in one.outcomes]
    return sum(scores) / len(scores)


def _example(line: bytes, decoder: msgspec.json.Decoder[_Line], where: str) -> Example:
    try:
        read = decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadExample(f"{where}: {error}") from error
    text, turns = _question(read.prompt)
    if not text.strip():
        raise BadExample(f"{where}: the prompt has no text of a user")
    if any(not 0 <= score <= 1 for score in read.outcomes.values()):
        raise BadExample(f"{where}: an outcome is not between 0 and 1")
    return Example(text, turns, read.outcomes, read.source)


def _question(prompt: str | list[_Message]) -> tuple[str, int]:
    if isinstance(prompt, str):
        return prompt, 1
    said = [message.content for message in prompt if message.role == "user" and message.content]
    if not said:
        return "", 0
    last = said[-1]
    return last if isinstance(last, str) else "\n".join(part.text for part in last if part.type == "text"), len(said)
