"""Which models a machine of our own serves, and how fast, as its list of models tells."""

from typing import Any

from gateway.providers.upstream import Served


def served_of(models: dict[str, Any]) -> dict[str, Served]:
    """Return what a list of models says of each, by its name; nonsense says nothing."""
    entries = models.get("data")
    return {
        entry["id"]: _one_served(entry)
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("id"), str)
    }


def _one_served(entry: dict[str, Any]) -> Served:
    rates = entry.get("measured")
    prefill, decode = (
        rates.get(name) if isinstance(rates, dict) else None
        for name in ("prefill_tokens_per_second", "decode_tokens_per_second")
    )
    return Served(
        float(prefill) if isinstance(prefill, int | float) and prefill > 0 else None,
        float(decode) if isinstance(decode, int | float) and decode > 0 else None,
    )
