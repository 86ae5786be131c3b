"""Who asks, for whom, and what the policy lets them do; and the record of those who are turned away."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from cache.errors import CacheError
from gateway.errors import ModelNotFound
from gateway.providers.batching import Carrier
from gateway.providers.upstream import Dialect
from gateway.steps.accounts import Accounts
from gateway.wire.errors import Shape, shape_of
from gateway.wire.request.controls import Controls, Credential
from governance.attribution import UNATTRIBUTED, Attribution, Offered, attribute
from governance.confinement.confined import UNCONFINED, Confined
from governance.errors import BudgetExhausted, GovernanceError, UnknownTeam
from governance.identity import UNNARROWED, Caller, Keyring
from governance.ledger.events import Opening
from governance.policy.rules import Grant, Rules
from governance.purse import Purse
from router_models.errors import NoRoute

Refusal = (GovernanceError, NoRoute, CacheError, ModelNotFound)
"""What turns a request away before money is held."""


QUEUED = Shape(202, "queued", retry=False)
"""How a request ends that a budget lets wait: it comes back as another one when there is money again."""

FieldsT_co = TypeVar("FieldsT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[FieldsT_co]):
    """One request of a caller we know, decoded but not yet believed.

    Attributes:
        request_id: ours, unique; a client's own id is never used as one.
        at: when it arrived; its budget windows and the age of its answer follow this instant.
        tick: the same moment on the monotonic clock, in seconds.
        endpoint: which API it speaks: `chat`, `completions`, `responses`, `messages` or
            `embeddings`; `judge` where the gateway itself asks.
        body: the JSON object as it came, and `size` its bytes on the wire.
        fields: those of its fields that we act on, checked.
        limit_s: the longest it may take from `tick` on, by its caller's wish or the endpoint's own limit.
        model: the model or route it names.
        dialect: what its client speaks, for providers that speak the same.
        deferred: nobody waits for its answer.
        purpose: what its calls are for, as the ledger says.
        carrier: carries its call to a provider's batches, where that may be; None for a call at once.
    """

    request_id: str
    at: datetime
    tick: float
    endpoint: str
    caller: Caller
    offered: Offered
    controls: Controls
    body: dict[str, Any]
    size: int
    fields: FieldsT_co
    model: str
    limit_s: float
    stream: bool = False
    dialect: Dialect = "chat"
    deferred: bool = False
    purpose: Literal["answer", "judge"] = "answer"
    carrier: Carrier | None = None

    @property
    def pinned(self) -> bool:
        """Whether its call is out already, so that it must be paid for whatever the policy says now."""
        return self.carrier is not None and self.carrier.pinned

    @property
    def may_queue(self) -> bool:
        """Whether a budget may let it wait instead of refusing it."""
        return self.deferred or not (self.stream or self.controls.interactive)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A caller we know, whose request it is, and what it may do; where it may go is not known yet."""

    caller: Caller
    attribution: Attribution
    grant: Grant


@dataclass(frozen=True, slots=True)
class Entitled(Admitted):
    """An admitted request of which it is known where it may go: `gateway.steps.confining` makes it."""

    confined: Confined


class Admission:
    """The first step of every endpoint."""

    def __init__(self, keyring: Keyring, rules: Rules, purse: Purse, policy_version: str, accounts: Accounts) -> None:
        self._keyring = keyring
        self._rules = rules
        self._purse = purse
        self._version = policy_version
        self._accounts = accounts

    def identify(self, credential: Credential, at: datetime) -> Caller:
        """Return whose key this is.

        Raises:
            Unauthenticated: the key opens nothing.
        """
        return self._keyring.authenticate(credential.text, at)

    def admit(self, caller: Caller, offered: Offered) -> Admitted:
        """Return whose cost a request is, and what it may do.

        Raises:
            UnknownTeam: the key outlived its team or app in the policy.
        """
        app = self._rules.app(caller.team, caller.app)
        if app is None:
            raise UnknownTeam(caller.team, caller.app)
        attribution = attribute(
            caller,
            offered,
            settable=app.settable,
            defaults=app.defaults,
            segment_of=app.segment_of,
            hash_user=app.hash_user,
        )
        terms = None if caller.terms is UNNARROWED else caller.terms
        return Admitted(caller, attribution, self._rules.grant(attribution, caller.key_id, terms))

    def opening(
        self,
        asked: Asked[object],
        entitled: Admitted,
        *,
        model: str,
        provider: str = "",
        route: str = "",
        cache: str = "",
        context: str = "",
    ) -> Opening:
        """Return what the ledger should know of a request before any money is spent."""
        confined = entitled.confined if isinstance(entitled, Entitled) else UNCONFINED
        return Opening(
            request_id=asked.request_id,
            at=asked.at,
            endpoint=asked.endpoint,
            attribution=entitled.attribution,
            key_id=entitled.caller.key_id,
            model=model,
            policy_version=self._version,
            provider=provider,
            route=route,
            cache=cache,
            stream=asked.stream,
            context=context,
            zone=confined.zone or "",
            labels=",".join(confined.labels),
        )

    @contextmanager
    def refusals_recorded(self, asked: Asked[object], entitled: Admitted) -> Generator[None]:
        """Write one `refused` event for whatever turns the request away inside the block, and let it through."""
        try:
            yield
        except Refusal as refusal:
            if asked.pinned:
                raise  # it has a hold already, which somebody else must end
            shape = shape_of(refusal)
            if isinstance(refusal, BudgetExhausted) and refusal.queues and asked.may_queue:
                shape = QUEUED
            # A name that is no model's is the caller's own text: it names no row, label or line of a log.
            model = UNATTRIBUTED if isinstance(refusal, ModelNotFound) else asked.model
            opening = self.opening(asked, entitled, model=model)
            self._purse.refused(opening, shape.code, shape.status)
            self._accounts.refused(opening, shape.code, getattr(refusal, "scope", None))
            raise
