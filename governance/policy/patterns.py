"""Regular expressions out of a policy, refused when they are broken or can take long.

Python's `re` backtracks, and what these patterns read is written by callers: one `(a+)+$` in a policy would let any
caller stop the process. So a pattern is accepted only when the ways in which it can try to match a text are few: two
repeats of unbounded length in a row are, a third is not, nor is a repeat of what can itself match in several ways. An
author makes such a pattern safe by making its inner parts possessive (`(a++)+$`): they never give back what they took.

The bound holds for texts of at most `LONGEST_TEXT` characters; whoever matches a pattern keeps to it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, Protocol, cast

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

# The parsed form has no public module; `sre_parse`, its old name, is deprecated.
from re import _parser as parser  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PATTERN: Final = 500
LONGEST_TEXT: Final = 256
"""Characters of a text that patterns are made to read."""

MOST_WAYS: Final = 100_000
"""Ways to match from one place of a text: some tens of milliseconds in all, at worst."""


def parse_pattern(value: object) -> re.Pattern[str]:
    """Compile a pattern of the policy.

    Raises:
        PydanticCustomError: It is no text, too long, malformed, or can match in too many ways.
    """
    if isinstance(value, re.Pattern):
        return value
    if not isinstance(value, str) or not 0 < len(value) <= MAX_PATTERN:
        raise PydanticCustomError(
            "pattern", "should be a regular expression of 1 to {most} characters", {"most": MAX_PATTERN}
        )
    try:
        tree = parser.parse(value)
        compiled = re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise PydanticCustomError("pattern", "is no regular expression: {why}", {"why": str(error)}) from error
    why = _why_slow(tree)
    if why:
        hint = "make the inner parts possessive: a++ in place of a+, b?+ in place of b?"
        raise PydanticCustomError("pattern", "may take too long: it {why}", {"why": why, "hint": hint})
    return compiled


Pattern = Annotated[re.Pattern[str], PlainValidator(parse_pattern), WithJsonSchema({"type": "string", "minLength": 1})]
"""A field that holds a regular expression, compiled as the policy is read."""


_TOO_MANY = "has too many parts that may be longer or shorter"


class _TooManyWays(Exception):
    """A pattern can match in more ways than can be tried."""


class _Steps(Protocol):
    """The parser's own kind of sequence; a step is an operation's code and its argument."""

    def getwidth(self) -> tuple[int, int]:
        """Return the fewest and the most characters that are matched."""
        ...


def _why_slow(tree: object) -> str:
    try:
        return _TOO_MANY if _ways(tree) > MOST_WAYS else ""
    except _TooManyWays as reason:
        return str(reason)


def _ways(steps: object, before: int = 1) -> int:
    """Return a bound on how many ways there are to match `steps` from one place.

    `before` are the ways to come to that place: what stands there is gone through that often.
    """
    ways = 1
    for code, argument in cast("Sequence[tuple[object, object]]", steps):
        ways *= _ways_of_step(str(code), argument, before * ways)
    return ways


def _ways_of_step(code: str, argument: object, before: int) -> int:
    match code:
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _ways_of_repeat(*cast("tuple[int, int, _Steps]", argument), before)
        case "POSSESSIVE_REPEAT":
            _, high, body = cast("tuple[int, int, _Steps]", argument)
            _walk(before, high * body.getwidth()[1])
            return _once(_ways_of_repeat(*cast("tuple[int, int, _Steps]", argument), before))
        case "ATOMIC_GROUP":
            _walk(before, cast("_Steps", argument).getwidth()[1])
            return _once(_ways(argument, before))
        case "BRANCH":
            return _ways_of_branch(cast("tuple[object, Sequence[object]]", argument)[1], before)
        case "SUBPATTERN" | "ASSERT" | "ASSERT_NOT" | "GROUPREF_EXISTS":
            parts = [part for part in cast("Sequence[object]", argument) if hasattr(part, "getwidth")]
            return sum(_ways(part, before) for part in parts)
        case _:
            if code.startswith("GROUPREF"):
                _walk(before, LONGEST_TEXT)
            return 1


def _walk(before: int, longest: int) -> None:
    """Check what is one way and yet as much work as it is long, each time that it is come to."""
    if before * min(longest, LONGEST_TEXT) > MOST_WAYS:
        raise _TooManyWays("goes too often through a part that may be long")


def _ways_of_repeat(low: int, high: int, body: _Steps, before: int) -> int:
    ways = _ways(body, before)
    if high <= 1:
        return ways + (low != high)
    if ways > 1:
        raise _TooManyWays("repeats what can match in several ways")
    if body.getwidth()[0] == 0:
        raise _TooManyWays("repeats what may be empty")
    return max(min(high, LONGEST_TEXT) - low, 0) + 1


def _once(ways: int) -> int:
    """Check the ways within what gives nothing back: they are tried at each place anew, but never multiplied."""
    if ways > LONGEST_TEXT + 1:
        raise _TooManyWays(_TOO_MANY)
    return 1


def _ways_of_branch(alternatives: Sequence[object], before: int) -> int:
    """Add up the ways, except where the next character decides between the alternatives."""
    ways = [_ways(alternative, before) for alternative in alternatives]
    first = {_first_letter(alternative) for alternative in alternatives}
    return max(ways) if None not in first and len(first) == len(ways) else sum(ways)


def _first_letter(steps: object) -> str | None:
    """Return the ASCII character that `steps` must begin with, whatever its case; None when there is no such one."""
    step = next(iter(cast("Sequence[tuple[object, object]]", steps)), None)
    if step is None or str(step[0]) != "LITERAL":
        return None
    letter = chr(cast("int", step[1]))
    return letter.lower() if letter.isascii() else None
