"""The engine's figures in Prometheus' text format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.core import Metric

    from local_engine.engine import Stats

_GAUGES = {
    "running": "Sequences that hold cache blocks.",
    "waiting": "Sequences that wait for their turn.",
    "blocks_used": "Cache blocks that running sequences need.",
    "blocks_cached": "Cache blocks in the prefix tree, idle ones included.",
    "blocks_total": "Cache blocks in the pool.",
}
_COUNTERS = {
    "prompt_tokens": "Prompt tokens of admitted sequences.",
    "prefix_hit_tokens": "Prompt tokens that were found in the cache.",
    "generation_tokens": "Tokens generated.",
    "preemptions": "Times a sequence lost its place for want of blocks.",
    "steps": "Forward passes.",
}


class _Figures(Collector):
    def __init__(self, stats: Stats) -> None:
        self._stats = stats

    def collect(self) -> Iterator[Metric]:
        for name, meaning in _GAUGES.items():
            yield GaugeMetricFamily(f"sluice_engine_{name}", meaning, value=getattr(self._stats, name))
        for name, meaning in _COUNTERS.items():
            yield CounterMetricFamily(f"sluice_engine_{name}", meaning, value=getattr(self._stats, name))


def exposition(stats: Stats) -> bytes:
    """Return the figures as `text/plain; version=0.0.4`."""
    registry = CollectorRegistry()
    registry.register(_Figures(stats))
    return generate_latest(registry)
