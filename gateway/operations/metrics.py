"""What Prometheus may read. Labels come from the policy and from fixed words, so their number is bounded."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_OVERHEAD = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5)


class Metrics:
    """The gateway's counters, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        who = ("team", "app", "model")
        self.requests = Counter(
            "sluice_requests", "Requests by how they ended.", (*who, "cache", "code"), registry=self.registry
        )
        self.cost = Counter("sluice_cost_usd", "Money spent, in USD.", who, registry=self.registry)
        self.saved = Counter("sluice_saved_usd", "Money not spent, in USD.", who, registry=self.registry)
        self.tokens = Counter("sluice_tokens", "Tokens by direction.", (*who, "direction"), registry=self.registry)
        self.seconds = Histogram(
            "sluice_request_seconds", "From the request's first byte to the reply's last.", ("endpoint",),
            registry=self.registry, buckets=_SECONDS,
        )  # fmt: skip
        self.overhead = Histogram(
            "sluice_overhead_seconds", "What the gateway itself adds to an answer.", ("endpoint",),
            registry=self.registry, buckets=_OVERHEAD,
        )  # fmt: skip
        self.overshot = Counter(
            "sluice_overshot_usd", "Money that providers reported beyond what was held.", ("provider",),
            registry=self.registry,
        )  # fmt: skip
        self.failures = Counter(
            "sluice_attempt_failures", "Calls to providers that failed, whether or not another made them good.",
            ("provider", "model", "code"), registry=self.registry,
        )  # fmt: skip
        self.guardrails = Counter(
            "sluice_guardrails", "Requests and answers in which a rule found something.", ("rule", "on", "action"),
            registry=self.registry,
        )  # fmt: skip
        self.estimate_error = Gauge(
            "sluice_token_estimate_error", "Relative error that a share of recent estimates of prompts kept to.",
            ("model", "quantile"), registry=self.registry,
        )  # fmt: skip
        self.flagged = Counter(
            "sluice_flagged_usd", "What models without a price were counted at.", ("provider", "model"),
            registry=self.registry,
        )  # fmt: skip
        self.semantic_open = Gauge(
            "sluice_semantic_cache_open", "1 when the semantic cache serves a feature.", ("feature",),
            registry=self.registry,
        )  # fmt: skip
        self.semantic_error = Gauge(
            "sluice_semantic_cache_error", "Share of look-ups served a wrong answer.", ("feature", "limit"),
            registry=self.registry,
        )  # fmt: skip
        self.rejected = Counter("sluice_unauthenticated", "Requests without a valid key.", registry=self.registry)
        self.deferred = Counter(
            "sluice_deferred_lines", "Lines of batches by how they ended.", ("team", "app", "state"),
            registry=self.registry,
        )  # fmt: skip
        self.batch_lag = Gauge(
            "sluice_provider_batch_lag_seconds", "Since the batch at a provider was seen that was seen longest ago.",
            ("provider",), registry=self.registry,
        )  # fmt: skip
        self.in_flight = Gauge("sluice_requests_in_flight", "Requests being answered now.", registry=self.registry)
        self.ledger_queue = Gauge("sluice_ledger_queue", "Ledger entries not yet stored.", registry=self.registry)
        self.ledger_dropped = Gauge(
            "sluice_ledger_dropped", "Refusals that a full queue only counted.", registry=self.registry
        )
        self.ledger_rejected = Gauge(
            "sluice_ledger_rejected", "Entries that the database would not take.", registry=self.registry
        )
        self.ledger_lost = Gauge(
            "sluice_ledger_lost", "Places where the disk lost what the journal had.", registry=self.registry
        )
        self.ledger_oldest = Gauge(
            "sluice_ledger_oldest_seconds", "Age of the oldest entry not yet stored.", registry=self.registry
        )
        self.ledger_journal = Gauge(
            "sluice_ledger_journal_bytes", "Disk space the journal has set aside.", registry=self.registry
        )
        self.policy = Gauge("sluice_policy", "1 for the policy in force.", ("version",), registry=self.registry)
        self.policy_refused = Gauge(
            "sluice_policy_refused", "1 when a newer policy could not be put in force here.", registry=self.registry
        )
        self.provider_up = Gauge(
            "sluice_provider_available", "1 when calls may be sent.", ("provider",), registry=self.registry
        )

    def page(self) -> bytes:
        """Return the exposition text."""
        return generate_latest(self.registry)
