"""How every model of every provider does: its breaker, and how many calls it is busy with.

This outlives policies: it is kept with the open provider, and two policies that share that share this.
"""

from collections.abc import Callable
from time import perf_counter
from weakref import WeakKeyDictionary

from gateway.attempts.breaker import Breaker
from gateway.errors import UpstreamError, UpstreamRefused, UpstreamResting
from gateway.providers.upstream import Upstream


class Deployment:
    """One model of one provider.

    Attributes:
        in_flight: how many calls are under way.
    """

    def __init__(self, provider: str, breaker: Breaker) -> None:
        self.breaker = breaker
        self.in_flight = 0
        self._provider = provider

    def begin(self) -> bool:
        """Count a call as under way, and say whether it is the breaker's probe; `end` must follow.

        Raises:
            UpstreamResting: it has failed lately and is left alone; nothing is sent.
        """
        if self.breaker.resting:
            text = f"Provider {self._provider!r} has failed lately and is left alone for a while."
            raise UpstreamResting(text, self._provider, None, self.breaker.rests_for_s or None)
        self.in_flight += 1
        return self.breaker.begin()

    def end(self, error: BaseException | None, *, probe: bool, answered: bool) -> None:
        """Take note of how a call ended.

        Args:
            error: what it failed with; a failure that is not the provider's, such as the request's own time being
                over, is None.
            probe: what `begin` returned.
            answered: the provider had begun to answer.
        """
        self.in_flight -= 1
        if isinstance(error, UpstreamRefused) or (error is None and answered):
            self.breaker.succeeded(probe=probe)
        elif isinstance(error, UpstreamError):
            self.breaker.failed(probe=probe)
        else:
            self.breaker.left_open(probe=probe)


class Deployments:
    """Every deployment that has been asked for, as long as its provider is open. `ticks` is a monotonic clock."""

    def __init__(self, ticks: Callable[[], float] = perf_counter) -> None:
        self._ticks = ticks
        self._found: WeakKeyDictionary[Upstream, dict[str, Deployment]] = WeakKeyDictionary()

    def of(self, upstream: Upstream, model: str) -> Deployment:
        """Return the deployment of a model, by the provider's own name of it."""
        models = self._found.setdefault(upstream, {})
        if model not in models:
            models[model] = Deployment(upstream.name, Breaker(self._ticks))
        return models[model]
