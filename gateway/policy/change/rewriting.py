"""Write one value into the text of a policy, and leave every other character as it was.

The edit is proved before anyone sees it: the new text must read as the old one does but for that value.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import yaml

from gateway.policy.positions import parse

if TYPE_CHECKING:
    from collections.abc import Sequence


class CannotEdit(Exception):
    """The value stands in the text in a way that an edit would break."""


def rewritten(text: str, path: Sequence[str | int], value: object, what: str) -> str:
    """Return the text of a policy with another value at a path.

    Args:
        text: A valid policy.
        path: Keys of mappings and indices of lists; all but the last are there, and something beside the last.
        value: Plain data; what reads as a number is written as one, even a text.
        what: What stands there, for the error.

    Raises:
        CannotEdit: The value cannot be replaced without touching something else.
    """
    written = flow(value)
    edited = _edited(text, path, written, what)
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
    """Write plain data as YAML on one line; a text that reads as a number is written as one."""
    if isinstance(part, dict):
        return f"{{{', '.join(f'{name}: {flow(value)}' for name, value in part.items())}}}"
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(flow, part))}]"
    if part is None:
        return "null"
    text = str(part)
    return text if not isinstance(part, str) or _plain(text) else json.dumps(text, ensure_ascii=False)


def _plain(text: str) -> bool:
    """Say whether a text reads as itself, or as the number that it spells, where it stands without quotes."""
    parsed = parse(f"value: [{text}]\n")
    read: Any = [] if parsed.faults else parsed.data
    match read:
        case {"value": [bool()]}:
            return False
        case {"value": [int() | Decimal()]}:
            return True
        case _:
            return bool(read == {"value": [text]})


def _edited(text: str, path: Sequence[str | int], written: str, what: str) -> str:
    """Put a value in the place of the one at a path, or before all others of its mapping where there is none."""
    shift = 1 if text.startswith("\ufeff") else 0
    holder: Any = None
    node: Any = yaml.compose(text[shift:], Loader=yaml.SafeLoader)
    for step in path:
        holder, node = node, node.value[step] if isinstance(step, int) else _value(node, step)
    if node is None:
        first = holder.value[0][0].start_mark
        line = "\r\n" if "\r\n" in text else "\n"
        then = ", " if holder.flow_style else line + " " * first.column
        start = first.index + shift
        return f"{text[:start]}{path[-1]}: {written}{then}{text[start:]}"
    start, end = node.start_mark.index + shift, _end(node) + shift
    if "#" in text[start:end]:
        raise CannotEdit(f"{what} has comments in it, which would be lost")
    return f"{text[:start]}{' ' if start == end else ''}{written}{text[end:]}"


def _value(node: Any, name: str) -> Any:
    return next((value for key, value in node.value if key.value == name), None)


def _end(node: Any) -> int:
    """Return the end of what is written; a block ends with its last part, and not with the space behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
