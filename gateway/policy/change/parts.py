"""A policy laid out flat: every part by its name, so that two policies can be compared part by part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from pydantic import AnyUrl, SecretStr

if TYPE_CHECKING:
    from gateway.policy.document import Policy

Path = tuple[str, ...]


def parts(document: Policy) -> dict[Path, object]:
    """Name every part that says something, such as `("teams", "support", "apps", "bot", "headers")`.

    Items with a name are found by it wherever they stand, and a list of plain values is one part. Budgets are left
    out: `differences.py` compares them by scope and what they are for.
    """
    found: dict[Path, object] = {}
    _collect(document.model_dump(by_alias=True), (), found)
    return found


def worded(path: Path, part: object) -> str:
    """Write a part for people; a secret is not told, nor what an address may carry of one.

    Of where alerts go only the host is told: whoever knows the rest of it can post there.
    """
    if path[-1] == "webhook" and isinstance(part, AnyUrl):
        return f"{part.scheme}://{part.host}/…"
    return _worded(part)


def _worded(value: object) -> str:
    match value:
        case bool():
            text = "yes" if value else "no"
        case SecretStr():
            text = "a secret"
        case re.Pattern():
            text = str(value.pattern)
        case ZoneInfo():
            text = value.key
        case AnyUrl():
            text = f"{value.scheme}://{value.host}{f':{value.port}' if value.port else ''}{value.path or ''}"
        case list() | tuple():
            text = ", ".join(map(_worded, value))
        case _:
            text = str(value)
    return text


def _collect(part: Any, path: Path, found: dict[Path, object]) -> None:
    if isinstance(part, Mapping):
        for key, child in part.items():
            if key != "budgets":
                _collect(child, (*path, str(key)), found)
    elif isinstance(part, list | tuple) and part and all(isinstance(item, Mapping) for item in part):
        for index, item in enumerate(part):
            _collect(item, (*path, str(item.get("name", index))), found)
    elif part is not None and part not in ((), []):
        found[path] = part
