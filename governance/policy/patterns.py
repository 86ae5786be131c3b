"""Regular expressions out of a policy, refused when they are broken or can take exponential time.

Python's `re` backtracks, and what these patterns read is written by callers: one `(a+)+$` in a policy would let any
caller stop the process. A repeat of variable length inside another repeat is the usual shape of that, so it is refused;
the author makes it safe by making the inner repeat possessive (`(a++)+$`), which never gives back what it took.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, cast

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

# The parsed form has no public module; `sre_parse`, its old name, is deprecated.
from re import _parser as parser  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_PATTERN = 500


def parse_pattern(value: object) -> re.Pattern[str]:
    """Compile a pattern of the policy.

    Raises:
        PydanticCustomError: It is no text, too long, malformed, or repeats a repeat.
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
    if _repeats_a_repeat(tree, inside_repeat=False):
        hint = "make the inner repeat possessive: a++ in place of a+"
        raise PydanticCustomError("pattern", "may take exponential time: it repeats a repeat", {"hint": hint})
    return compiled


Pattern = Annotated[re.Pattern[str], PlainValidator(parse_pattern), WithJsonSchema({"type": "string", "minLength": 1})]
"""A field that holds a regular expression, compiled as the policy is read."""


_GIVES_BACK = frozenset({"MAX_REPEAT", "MIN_REPEAT"})
_NEVER_GIVES_BACK = frozenset({"ATOMIC_GROUP", "POSSESSIVE_REPEAT"})


def _repeats_a_repeat(node: object, *, inside_repeat: bool) -> bool:
    """Walk the parser's tree: operations are (opcode, arguments), and arguments nest operations."""
    if isinstance(node, str | int) or node is None:
        return False
    parts = cast("Sequence[object]", node)  # lists, tuples and the parser's own kind of list
    operation = str(parts[0]) if parts else ""
    if operation in _NEVER_GIVES_BACK:
        return _repeats_a_repeat(parts[1], inside_repeat=False)
    if operation in _GIVES_BACK:
        low, high, body = cast("tuple[int, int, object]", parts[1])
        if inside_repeat and high > 1 and low != high:
            return True
        return _repeats_a_repeat(body, inside_repeat=inside_repeat or high > 1)
    return any(_repeats_a_repeat(part, inside_repeat=inside_repeat) for part in parts)
