"""Roll-ups: the ledger added up by hour, team and dimension, so that a report over months reads hours and not requests.

A row is one value of one dimension, within one team, in one hour of UTC. A row for each *combination* of dimensions
would multiply their numbers of values; this adds them, and the team in the key still lets a team lead see every
dimension of their own team alone. The rows of any one dimension add up to the whole, so there is no row for the total.
Sessions and end users are as many as requests: they have no roll-up, and reports by session read the events.

A request is counted in the hour in which it arrived, however late it ends, as budgets count it.
"""

from collections.abc import Iterable
from typing import Final

from governance.attribution import DIMENSIONS
from governance.ledger.events import EventKind
from governance.ledger.rows import Row
from governance.prices import Usage

HOUR: Final = 3_600_000_000
"""Microseconds."""

ROLLED: Final = tuple(name for name in DIMENSIONS if name != "session")
KEY: Final = ("dimension", "hour", "team", "value")
SAVINGS: Final = ("saved_cache_nanos", "saved_prefix_nanos", "saved_routing_nanos", "saved_context_nanos")
"""What each lever has saved."""

AMOUNTS: Final = (*Usage.__struct_fields__, "cost_nanos", *SAVINGS)
FIGURES: Final = ("requests", "refused", "cached", *AMOUNTS)


def rolled_up(events: Iterable[Row]) -> list[Row]:
    """Add terminal events up, in the order of their keys, so that concurrent writers lock rows in one order."""
    sums: dict[tuple[str, int, str, str], list[int]] = {}
    for event in events:
        figures = _figures(event)
        hour, team = _whole(event["at"]) // HOUR * HOUR, str(event["team"])
        for dimension in ROLLED:
            key = (dimension, hour, team, str(event[dimension]))
            so_far = sums.get(key)
            sums[key] = figures if so_far is None else [a + b for a, b in zip(so_far, figures, strict=True)]
    return [dict(zip((*KEY, *FIGURES), (*key, *sums[key]), strict=True)) for key in sorted(sums)]


def is_hit(cache: str) -> bool:
    """Tell whether a request was answered from a cache."""
    return cache == "exact" or cache.startswith("semantic")


def _figures(event: Row) -> list[int]:
    refused = event["kind"] == EventKind.REFUSED.value
    return [1, int(refused), int(is_hit(str(event["cache"]))), *(_whole(event[name]) for name in AMOUNTS)]


def _whole(value: str | float | None) -> int:
    """A whole number of a row; tokens that nobody told are none."""
    return int(value or 0)
