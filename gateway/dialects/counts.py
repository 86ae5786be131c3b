"""Read the counts of tokens that a provider tells; what makes no sense is no count."""

from collections.abc import Mapping
from typing import Any


def count(usage: Mapping[str, Any], name: str) -> int:
    """Return a count, 0 where there is none."""
    value = usage.get(name)
    return value if type(value) is int and value >= 0 else 0


def newest(usage: dict[str, Any], told: object) -> dict[str, Any]:
    """Return `usage` with what `told` says anew: counts in a stream are totals so far, and not all come each time."""
    return usage | {
        name: value for name, value in (told.items() if isinstance(told, dict) else ()) if value is not None
    }
