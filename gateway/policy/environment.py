"""`${NAME}` in a policy: secrets and addresses that come from the environment of the process.

Only the fields below are filled in. Elsewhere the text stays as it is, because a policy whose meaning depends on who
reads it cannot be reviewed.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.policy.references import select

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.policy.positions import Path

EXPANDED = (
    "providers.*.api_key",
    "providers.*.access_key_id",
    "providers.*.secret_access_key",
    "providers.*.session_token",
    "providers.*.base_url",
    "alerts.webhook",
    "teams.*.alerts.webhook",
)
UNSET_URL = "http://unset.invalid"
"""What stands for an address that is not set: a host that can never exist (RFC 2606)."""

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class Expanded:
    """A document's data with the environment filled in.

    Attributes:
        data: A copy; a secret that is not set is None in it, an address `UNSET_URL`.
        unset: Where a name was used that is not set, and the name.
        literal: Where `${NAME}` stands in a field that is not filled in.
    """

    data: object
    unset: tuple[tuple[Path, str], ...]
    literal: tuple[Path, ...]


def expand(data: object, env: Mapping[str, str]) -> Expanded:
    """Fill in `${NAME}`; a name that is empty counts as not set."""
    filled = copy.deepcopy(data)
    unset: list[tuple[Path, str]] = []
    places: set[Path] = set()
    for pattern in EXPANDED:
        for path, value in select(data, pattern):
            places.add(path)
            if isinstance(value, str):
                missing = [name for name in _REFERENCE.findall(value) if not env.get(name)]
                unset += [(path, name) for name in missing]
                absent = UNSET_URL if path[-1] == "base_url" else None
                _put(filled, path, absent if missing else _REFERENCE.sub(lambda match: env[match[1]], value))
    literal = tuple(path for path, text in _texts(data, ()) if path not in places and _REFERENCE.fullmatch(text))
    return Expanded(filled, tuple(unset), literal)


def _put(data: object, path: Path, value: object) -> None:
    for step in path[:-1]:
        data = data[step]  # pyright: ignore[reportIndexIssue]  # the path was found in the data
    data[path[-1]] = value  # pyright: ignore[reportIndexIssue]


def _texts(part: object, path: Path) -> list[tuple[Path, str]]:
    if isinstance(part, str):
        return [(path, part)]
    return [found for key_path, child in select(part, "*") for found in _texts(child, path + key_path)]
