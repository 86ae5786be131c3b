"""The engine's figures in Prometheus' text format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client.core import Metric

    from local_engine.measure.stats import Stats
    from local_engine.measure.throughput import Throughput

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
_PHASES = {
    "prefill": "prompts, what was found in the cache not counted",
    "decode": "answers",
}


class _Figures(Collector):
    def __init__(self, stats: Stats, throughputs: Mapping[str, Throughput]) -> None:
        self._stats = stats
        self._throughputs = throughputs

    def collect(self) -> Iterator[Metric]:
        for name, meaning in _GAUGES.items():
            yield GaugeMetricFamily(f"sluice_engine_{name}", meaning, value=getattr(self._stats, name))
        for name, meaning in _COUNTERS.items():
            yield CounterMetricFamily(f"sluice_engine_{name}", meaning, value=getattr(self._stats, name))
        for phase, meaning in _PHASES.items():
            tokens = CounterMetricFamily(f"sluice_engine_{phase}_tokens", f"Tokens of {meaning}.", labels=["model"])
            seconds = CounterMetricFamily(
                f"sluice_engine_{phase}_seconds", f"Seconds of the machine for {meaning}.", labels=["model"]
            )
            for model, throughput in self._throughputs.items():
                if (pace := getattr(throughput, phase)) is not None:
                    tokens.add_metric([model], pace.tokens)
                    seconds.add_metric([model], pace.seconds)
            yield from (tokens, seconds)


def exposition(stats: Stats, throughputs: Mapping[str, Throughput]) -> bytes:
    """Return the figures as `text/plain; version=0.0.4`.

    Args:
        stats: Of the text model's engine.
        throughputs: What each model has computed, by its name.
    """
    registry = CollectorRegistry()
    registry.register(_Figures(stats, throughputs))
    return generate_latest(registry)
