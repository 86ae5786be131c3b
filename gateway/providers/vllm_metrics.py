"""What a vLLM server says of its own work, and the speeds of the busy machine that follow from it.

A token should cost the machine time it takes. In a batch, requests share the machine: while `n` are at work, a second
of one request is 1/n of a second of the machine. vLLM tells, of each request that has ended, how many seconds it spent
in prefill and in decode, and how many tokens it computed and made there. With P and D these seconds summed over the
requests of a span, and B the seconds of the span in which the machine was busy at all, it spent

    B * P / (P + D) on prefill    and    B * D / (P + D) on decode,

and the speeds are the tokens of each by these. So the tokens of a span cost together what the machine cost while it
was busy: no more for being alone on it, and idle time is nobody's. What this cannot see is that a request's prefill
slows those that decode beside it: of a step they share, each is given the same part, so long prompts in a large batch
come out somewhat cheap and answers somewhat dear.

B is not told; it is watched. While requests run at two looks in a row, the time between is busy; where none does at
either, those that came and went between are taken to have run one after the other, as far as they fit. Until enough
has been watched, all requests since the server's start are taken so, which makes them dear rather than cheap.

Prompt tokens from the prefix cache are not computed and not counted here; they cost nothing. Spec: vLLM, "Production
metrics"; the names are those of 0.12 and later.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from gateway.providers.upstream import Served

ENOUGH_S: Final = 10.0
"""Seconds of a busy machine after which it is judged by what was watched."""

_HALF_LIFE_S: Final = 600.0
"""Busy seconds after which what was watched counts half."""

_NAMES: Final = (
    "vllm:request_prefill_kv_computed_tokens_sum",
    "vllm:request_generation_tokens_sum",
    "vllm:request_prefill_time_seconds_sum",
    "vllm:request_decode_time_seconds_sum",
    "vllm:num_requests_running",
)
_SILENT: Final = Served(unmeasured="cannot be measured: its server shows no metrics of vLLM 0.12 or later")
_UNUSED: Final = Served(unmeasured="has no measured price yet: its server has answered nothing yet, ask it once")


class Work(NamedTuple):
    """What requests came to: tokens of prompts computed, tokens made, and seconds of requests in either phase."""

    prompt: float = 0.0
    made: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0

    @property
    def seconds(self) -> float:
        """Seconds of requests in both phases, each counted as if it had been alone."""
        return self.prefill_s + self.decode_s


def read_metrics(page: str) -> tuple[Work, bool] | None:
    """Return the work of all requests that have ended, and whether any is running; None where a page does not tell.

    Every series counts, whatever its labels: one server is one machine.
    """
    lines = [line for line in page.splitlines() if line.startswith(_NAMES)]
    try:
        families = list(text_string_to_metric_families("\n".join([*lines, ""])))
    except ValueError:
        return None
    totals = dict[str, float]()
    for family in families:
        for sample in family.samples:
            totals[sample.name] = totals.get(sample.name, 0.0) + sample.value
    told = [totals.get(name, -1.0) for name in _NAMES]
    if not all(0 <= each < float("inf") for each in told):
        return None
    return Work(*told[:-1]), told[-1] > 0


@dataclass(slots=True)
class Watch:
    """Watches the machine of one vLLM server from look to look."""

    _before: tuple[Work, bool, float] | None = None
    _watched: Work = field(default_factory=Work)
    _busy_s: float = 0.0
    _known: Served = _SILENT

    def look(self, page: str, at: float) -> Served:
        """Return the machine's speeds as far as they are known; one page that does not tell changes nothing.

        Args:
            page: what `/metrics` answered; empty when it did not.
            at: when, in seconds of a clock that only goes forward.
        """
        told = read_metrics(page)
        if told is None:
            return self._known
        work, runs = told
        if self._before is not None:
            self._follow(work, runs, at, *self._before)
        self._before = work, runs, at
        watched = _speeds(self._watched, self._busy_s) if self._busy_s >= ENOUGH_S else None
        self._known = watched or _speeds(work, work.seconds) or _UNUSED
        return self._known

    def _follow(self, work: Work, runs: bool, at: float, before: Work, ran: bool, since: float) -> None:
        if any(now < then for now, then in zip(work, before, strict=True)):
            before, ran = Work(), False  # the server has started anew
        more, elapsed = Work(*(now - then for now, then in zip(work, before, strict=True))), at - since
        busy_s = elapsed * (ran + runs) / 2 if ran or runs else min(elapsed, more.seconds)
        kept = 0.5 ** (busy_s / _HALF_LIFE_S)
        self._busy_s = self._busy_s * kept + busy_s
        self._watched = Work(*(old * kept + new for old, new in zip(self._watched, more, strict=True)))


def _speeds(work: Work, busy_s: float) -> Served | None:
    """Return tokens of each phase by its part of the machine's time; None where one of them is still unknown."""
    if min(work) <= 0 or busy_s <= 0:
        return None
    alone = work.seconds / min(busy_s, work.seconds)  # how many requests were at work at a time
    return Served(_steady(work.prompt / work.prefill_s * alone), _steady(work.made / work.decode_s * alone))


def _steady(speed: float) -> float:
    """Round to three digits, so that a price does not change with every look."""
    return float(f"{speed:.3g}")
