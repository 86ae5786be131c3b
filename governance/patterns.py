"""Regular expressions out of a policy, refused when they are broken or can take exponential time.

Python's `re` backtracks, and what these patterns read is written by callers: one `(a+)+$` in a policy would let any
caller stop the process. A repeat of variable length inside another repeat is the usual shape of that, so it is refused;
the author makes it safe by making the inner repeat possessive (`(a++)+$`), which never gives back what it took.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

# The parsed form has no public module; `sre_parse`, its old name, is deprecated.
from re import _parser as parser  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # isort: skip

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def _repeats_a_repeat(node: object, *, inside_repeat: bool) -> bool:
    """Walk the parser's tree: operations are (opcode, arguments), and arguments nest operations."""
    if isinstance(node, tuple) and len(node) == 2 and str(node[0]) in {"MAX_REPEAT", "MIN_REPEAT"}:  # noqa: PLR2004 the tree's own shape
        low, high, body = node[1]
        if inside_repeat and high > 1 and low != high:
            return True
        return _repeats_a_repeat(body, inside_repeat=inside_repeat or high > 1)
    if isinstance(node, str | int) or node is None:
        return False
    children: Iterable[object] = node  # pyright: ignore[reportAssignmentType]  # lists, tuples and the parser's own list
    return any(_repeats_a_repeat(child, inside_repeat=inside_repeat) for child in children)
