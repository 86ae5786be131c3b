"""What is wrong with a policy, told all at once and with places: `policy.yaml:12:7: teams.support.tiers: ...`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic_core import ErrorDetails

    from gateway.policy.positions import Fault, Parsed, Path


_QUOTED = re.compile(r"'([^']*)'")
_IN_YAML = {
    "string_type": "should be text, in quotes if need be",
    "int_type": "should be a whole number",
    "bool_type": "should be true or false",
    "decimal_type": "should be a number",
    "tuple_type": "should be a list",
    "mapping_type": "should be a mapping",
    "model_type": "should be a mapping",
}
"""Pydantic's words for types of Python, in those of a YAML document."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong, or worth a warning, and where.

    Attributes:
        file: The document's name.
        line: Counts from 1.
        column: Counts from 1.
        path: The part concerned, such as `teams.support.tiers`; empty for the whole document.
        message: What is the matter with it.
        hint: What would be right, where that can be guessed.
    """

    file: str
    line: int
    column: int
    path: str
    message: str
    hint: str = ""

    @property
    def place(self) -> str:
        """Where it is, in the form that editors and CI jump to."""
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def told(self) -> str:
        """What is the matter, with which part, and what would be right."""
        about = f"{self.path}: " if self.path else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{about}{self.message}{hint}"

    def __str__(self) -> str:
        """Return the problem as one line."""
        return f"{self.place}: {self.told}"


class PolicyInvalid(Exception):
    """A document that cannot be a policy; `problems` holds everything that is wrong with it, in its order."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.column)))
        super().__init__("\n".join(map(str, self.problems)))


@dataclass(frozen=True, slots=True)
class Reporter:
    """Makes problems about one document."""

    file: str
    parsed: Parsed

    def at(self, path: Path, message: str, hint: str = "", *, key: bool = False) -> Problem:
        """Make a problem about a part; `key` points at its name rather than its value."""
        place = self.parsed.place_of(path, key=key)
        return Problem(self.file, place.line, place.column, describe(path, self.parsed.data), message, hint)

    def fault(self, fault: Fault) -> Problem:
        """Make a problem of something that the parser did not allow."""
        path = describe(fault.path, self.parsed.data)
        return Problem(self.file, fault.place.line, fault.place.column, path, fault.message)

    def shape(self, error: ErrorDetails, fields: Iterable[str]) -> Problem:
        """Make a problem of pydantic's finding; `fields` are the names known where an unknown one was found."""
        path = self.path_of(error["loc"])
        context = error.get("ctx", {})
        match error["type"]:
            case "extra_forbidden":
                return self.at(path, "unknown field", did_you_mean(str(path[-1]), fields), key=True)
            case "missing":
                return self.at(path, f'needs "{error["loc"][-1]}"')
            case "union_tag_invalid":
                known = context["expected_tags"].replace("'", "").split(", ")
                return self.at((*path, "kind"), f'unknown kind "{context["tag"]}"', one_of(context["tag"], known))
            case "literal_error" | "enum":
                known = _QUOTED.findall(context["expected"])
                return self.at(path, f"should be {context['expected']}", did_you_mean(str(self._value(path)), known))
            case "union_tag_not_found":
                return self.at(path, 'needs "kind"')
            case kind:
                message = _IN_YAML.get(kind) or error["msg"].removeprefix("Input ").removeprefix("String ")
                return self.at(path, message, str(context.get("hint", "")), key=error["loc"][-1:] == ("[key]",))

    def _value(self, path: Path) -> object:
        value = self.parsed.data
        for step in path:
            value = _step(value, step)
        return value

    def path_of(self, location: tuple[str | int, ...]) -> Path:
        """Follow pydantic's location through the data, leaving out the steps that are its own (tags of unions)."""
        path: list[str | int] = []
        data = self.parsed.data
        for step in location:
            if isinstance(data, dict | list) and (isinstance(step, int) if isinstance(data, list) else step in data):
                data = _step(data, step)
                path.append(step)
        return tuple(path)


def describe(path: Path, data: object) -> str:
    """Write a path as people would: items of a list by their name where they have one, `[2]` where they have none."""
    text = ""
    for position, step in enumerate(path):
        data = _step(data, step)
        name = data.get("name") if isinstance(data, dict) and isinstance(step, int) else None
        if isinstance(name, str):
            text += f".{name}"
        elif isinstance(step, str):
            text += f".{step}"
        elif position < len(path) - 1 or isinstance(data, dict | list):
            text += f"[{step}]"
    return text.removeprefix(".")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Guess what was meant; empty when nothing else that is known is close."""
    close = get_close_matches(name, set(known) - {name}, n=1)
    return f'did you mean "{close[0]}"?' if close else ""


def one_of(name: str, known: Iterable[str]) -> str:
    """Guess what was meant, or name all that is known."""
    listed = sorted(known)
    return did_you_mean(name, listed) or f"known: {', '.join(listed) or 'none'}"


def _step(data: object, step: str | int) -> object:
    if isinstance(data, dict):
        return data.get(step)
    return data[step] if isinstance(data, list | tuple) and isinstance(step, int) and step < len(data) else None
