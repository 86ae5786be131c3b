"""Close the accounts of a request: the settlement the ledger keeps, and what logs and metrics say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from structlog.typing import FilteringBoundLogger

from cache.prefix.traces import NO_TRACE, Trace
from gateway.catalogue import Catalogue, Model
from gateway.context.spared import NOTHING_SPARED, Spared
from gateway.operations.metrics import Metrics
from gateway.wire.errors import shape_of
from gateway.wire.headers import Facts
from governance.errors import ContentBlocked
from governance.guardrails.rules import Rule
from governance.identity import Caller
from governance.ledger.events import Attempt, Opening, Settlement
from governance.money import ZERO, Nanodollars
from governance.prices import Price, Usage, billed, cost_of, spared_by_cache

CLIENT_LEFT = 499
"""The status of a request whose client did not wait for it, as nginx writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """What one upstream attempt came to.

    Attributes:
        usage: None when the provider sent nothing: such an attempt costs nothing.
        estimated: the usage is our guess.
        error: why the attempt failed, or None.
        left: the client went away before the end.
        prefix: what is known of its prompt in the provider's cache.
        spared: what was cut of its prompt.
    """

    model: Model
    price: Price
    purpose: Literal["answer", "embedding", "judge"]
    at: datetime
    seconds: float
    usage: Usage | None
    estimated: bool
    error: BaseException | None
    left: bool
    first_token_s: float | None = None
    prefix: Trace = NO_TRACE
    spared: Spared = NOTHING_SPARED


class Accounts:
    """Makes settlements, and tells the log and the metrics of every ending."""

    def __init__(self, catalogue: Catalogue, log: FilteringBoundLogger, metrics: Metrics) -> None:
        self._catalogue = catalogue
        self._log = log
        self._metrics = metrics

    def settlement(self, made: Sequence[Bought], error: BaseException | None) -> Settlement:
        """Return how a paid request ended, priced once, with what its route spared against the baseline.

        The route's saving is worked out as if no provider had cached anything: what its cache spares or costs stands
        beside it, and the two add up to what the baseline would have cost without a cache, less the cost.

        Args:
            made: the calls that were made for it, in their order.
            error: what it failed with; None for an answer, or when the client left.
        """
        last = made[-1] if made else None
        outcome, status, code = _ending(error, left=last is not None and last.left)
        attempts = tuple(self.attempt(bought) for bought in made)
        usage = None if last is None else last.usage
        uncached = sum((attempt.cost + attempt.saved_prefix for attempt in attempts), ZERO)
        return Settlement(
            outcome=outcome,
            status=status,
            attempts=attempts,
            usage=usage,
            estimated=last is not None and last.estimated,
            code=code,
            saved_routing=ZERO if usage is None else _saved_by_routing(self._catalogue, usage.uncached, uncached),
            first_token_ms=None if last is None or last.first_token_s is None else last.first_token_s * 1000,
            saved_context=ZERO if last is None else last.spared.worth(last.usage, last.price),
        )

    def attempt(self, bought: Bought) -> Attempt:
        """Return one call as the ledger keeps it."""
        outcome, status, _ = _ending(bought.error, left=bought.left)
        return Attempt(
            at=bought.at,
            purpose=bought.purpose,
            provider=bought.model.provider,
            model=bought.model.name,
            upstream_model=bought.model.upstream_model,
            outcome=outcome,
            price=bought.price if bought.usage is None else billed(bought.usage, bought.price),
            cost=ZERO if bought.usage is None else cost_of(bought.usage, bought.price),
            duration_ms=bought.seconds * 1000,
            status=status,
            usage=bought.usage,
            saved_prefix=ZERO if bought.usage is None else spared_by_cache(bought.usage, bought.price),
            prefix_wrote=bought.prefix.wrote,
            prefix_read=bought.prefix.read,
            zone=self._catalogue.upstream(bought.model).zone,
        )

    def hit(self, usage: Mapping[str, int], spared: Nanodollars) -> Settlement:
        """Return how a request ended that the cache answered: free, and sparing what the answer once cost."""
        counted = Usage(**usage)
        return Settlement(
            outcome="ok",
            status=200,
            usage=counted,
            saved_cache=spared,
            saved_routing=_saved_by_routing(self._catalogue, counted, spared),
        )

    def overshot(self, opening: Opening, beyond: Nanodollars) -> None:
        """Tell of a provider that reported more than was held.

        It broke the bound of a request of that size, or the policy holds what prompts usually come to. The ledger has
        what will be billed, so the report is believed; that it was more must be seen.
        """
        self._metrics.overshot.labels(opening.provider).inc(beyond.nanos / 1e9)
        self._log.warning("overshot", **_identity(opening), beyond_usd=beyond.usd)

    def failed(self, opening: Opening, bought: Bought) -> None:
        """Tell of a call that failed, which another may follow."""
        shape = shape_of(bought.error) if isinstance(bought.error, Exception) else None
        if shape is not None and not isinstance(bought.error, ContentBlocked):  # which is none of its provider's
            self._metrics.failures.labels(bought.model.provider, bought.model.name, shape.code).inc()
            # A provider's words may quote the request, so they are told of none that may go nowhere but where it went.
            said = None if opening.zone or opening.labels else str(bought.error)
            self._log.warning("attempt failed", **_identity(opening), code=shape.code, reason=said)

    def answered(self, facts: Facts) -> None:
        """Tell how long the gateway itself took over a request that was answered in full."""
        self._metrics.overhead.labels(facts.opening.endpoint).observe(facts.overhead_s)

    def settled(self, opening: Opening, settlement: Settlement) -> None:
        """Tell of a request that was admitted and has ended."""
        usage = settlement.usage or Usage()
        who = (opening.attribution.team, opening.attribution.app, opening.model)
        cache = opening.cache.partition(";")[0]
        self._metrics.requests.labels(*who, cache, settlement.code or "ok").inc()
        self._metrics.cost.labels(*who).inc(settlement.cost.nanos / 1e9)
        self._metrics.saved.labels(*who).inc(max(0, settlement.saved.nanos) / 1e9)
        self._metrics.tokens.labels(*who, "input").inc(usage.input_tokens)
        self._metrics.tokens.labels(*who, "output").inc(usage.output_tokens)
        if any(attempt.price.unknown for attempt in settlement.attempts):
            self._metrics.flagged.labels(opening.provider, opening.model).inc(settlement.cost.nanos / 1e9)
            self._log.warning("unknown price", **_identity(opening), counted_usd=settlement.cost.usd)
        self._log.info(
            "request",
            **_identity(opening),
            outcome=settlement.outcome,
            status=settlement.status,
            code=settlement.code or None,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_usd=settlement.cost.usd,
            saved_usd=settlement.saved.usd,
            estimated=settlement.estimated,
        )

    def refused(self, opening: Opening, code: str, scope: str | None) -> None:
        """Tell of a request that was turned away, and by which budget or limit if it was one."""
        who = (opening.attribution.team, opening.attribution.app, opening.model)
        self._metrics.requests.labels(*who, "", code).inc()
        self._log.info("refused", **_identity(opening), code=code, scope=scope)

    def guarded(self, request_id: str, caller: Caller, rule: Rule) -> None:
        """Tell of a rule that found something in a request or its answer, and never what."""
        self._metrics.guardrails.labels(rule.name, rule.on, rule.action).inc()
        self._log.info(
            "guardrail",
            request_id=request_id,
            key_id=caller.key_id,
            team=caller.team,
            app=caller.app,
            rule=rule.name,
            on=rule.on,
            action=rule.action,
        )

    def given_up(self, opening: Opening) -> None:
        """Tell of a request whose client left before anything was bought for it."""
        who = (opening.attribution.team, opening.attribution.app, opening.model)
        self._metrics.requests.labels(*who, opening.cache, "client_left").inc()
        self._log.info("given up", **_identity(opening))

    def unauthenticated(self, request_id: str, reason: str) -> None:
        """Tell of a request without a valid key."""
        self._metrics.rejected.inc()
        self._log.info("unauthenticated", request_id=request_id, reason=reason)

    def turned_away(self, request_id: str, error: Exception) -> None:
        """Tell of a request that nobody's ledger can hold: it is malformed, or its key outlived its app.

        The error's own words may quote the request, so the log gets its kind and the field alone.
        """
        self._metrics.requests.labels("", "", "", "", "turned_away").inc()
        field = getattr(error, "param", None)
        self._log.info("turned away", request_id=request_id, kind=type(error).__name__, field=field)

    def crashed(self, request_id: str, error: Exception) -> None:
        """Tell of an error that nobody foresaw."""
        self._log.error("crashed", request_id=request_id, exc_info=error)


def _saved_by_routing(catalogue: Catalogue, usage: Usage, cost: Nanodollars) -> Nanodollars:
    """Return what the chosen model spared against the baseline; negative when it was the dearer one."""
    baseline = catalogue.baseline_cost(usage)
    return ZERO if baseline is None else baseline - cost


def _ending(error: BaseException | None, *, left: bool) -> tuple[Literal["ok", "failed", "left"], int, str]:
    if isinstance(error, Exception):
        shape = shape_of(error)
        return "failed", shape.status, shape.code
    if left or error is not None:
        return "left", CLIENT_LEFT, "client_left"
    return "ok", 200, ""


def _identity(opening: Opening) -> dict[str, Any]:
    return {
        "request_id": opening.request_id,
        "endpoint": opening.endpoint,
        "key_id": opening.key_id,
        "team": opening.attribution.team,
        "app": opening.attribution.app,
        "model": opening.model,
        "provider": opening.provider,
        "route": opening.route,
        "cache": opening.cache,
        "stream": opening.stream,
    }
