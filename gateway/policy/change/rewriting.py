"""Write one value into the text of a policy, and leave every other character as it was.

The edit is proved before anyone sees it: the new text must read as the old one does but for that value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from gateway.policy.positions import parse

if TYPE_CHECKING:
    from collections.abc import Sequence


class CannotEdit(Exception):
    """The value stands in the text in a way that an edit would break."""


def rewritten(text: str, path: Sequence[str | int], value: object, what: str) -> str:
    """Return the text of a policy with another value at a path that it has.

    Args:
        text: A valid policy.
        path: Keys of mappings and indices of lists.
        value: Plain data, whose texts need no quotes.
        what: What stands there, for the error.

    Raises:
        CannotEdit: The value cannot be replaced without touching something else.
    """
    written = flow(value)
    start, end = _place(text, path)
    if "#" in text[start:end]:
        raise CannotEdit(f"{what} has comments in it, which would be lost")
    edited = f"{text[:start]}{written}{text[end:]}"
    data: Any = parse(text).data
    holder = data
    for step in path[:-1]:
        holder = holder[step]
    read: Any = parse(f"value: {written}\n").data
    holder[path[-1]] = read["value"]
    after = parse(edited)
    if after.faults or after.data != data:
        raise CannotEdit(f"{what} is shared with other parts of the policy")
    return edited


def flow(part: object) -> str:
    """Write plain data as YAML on one line; its texts need no quotes."""
    if isinstance(part, dict):
        return f"{{{', '.join(f'{name}: {flow(value)}' for name, value in part.items())}}}"
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(flow, part))}]"
    return str(part)


def _place(text: str, path: Sequence[str | int]) -> tuple[int, int]:
    """Find where a value begins and ends, in characters."""
    shift = 1 if text.startswith("\ufeff") else 0
    node = yaml.compose(text[shift:], Loader=yaml.SafeLoader)
    for step in path:
        node = node.value[step] if isinstance(step, int) else _value(node, step)
    return node.start_mark.index + shift, _end(node) + shift


def _value(node: Any, name: str) -> Any:
    return next(value for key, value in node.value if key.value == name)


def _end(node: Any) -> int:
    """Return the end of what is written; a block ends with its last part, and not with the space behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
