"""A policy's text as it may be shown: secrets that were written into it are not told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gateway.policy.environment import EXPANDED
from gateway.policy.positions import parse
from gateway.policy.references import select

if TYPE_CHECKING:
    from collections.abc import Iterator

_MASK: Final = "********"
_UNSHOWN: Final = "# This policy has a secret in it that cannot be told from the rest; it is not shown.\n"


def masked(text: str) -> str:
    """Return a policy's text with every secret masked that is written out and not named as `${NAME}`."""
    found = sorted(set(secrets_in(text)), key=len, reverse=True)
    for secret in found:
        text = text.replace(secret, _MASK)
    return _UNSHOWN if set(found) & set(secrets_in(text)) else text


def secrets_in(text: str) -> Iterator[str]:
    """Find the secrets that are written out: keys, addresses of alerts, and addresses with a password."""
    data = parse(text).data
    for pattern in EXPANDED:
        for path, value in select(data, pattern):
            if isinstance(value, str) and "${" not in value and value != _MASK and _tells(path[-1], value):
                yield value


def _tells(field: int | str, value: str) -> bool:
    return field != "base_url" or "@" in value
