"""What can go wrong at the edge, beyond what the engines themselves refuse.

GatewayError
├── BadRequest                the body or a header is not what the API says
├── ModelNotFound             no model or route of that name for this caller
├── RequestNotFound           the caller's app has made no such request
├── UnknownPolicy             the history has no policy of that version
├── OutOfZone                 a request was about to leave the zone it is confined to, and was stopped
├── UpstreamError             an attempt failed and there is no other
│   ├── UpstreamRefused       the provider says the request itself is wrong
│   │   └── ContextTooLong    more tokens than the model can hold, with the counts
│   ├── UpstreamUnreached     no connection could be made: nothing was sent
│   │   ├── UpstreamStale     a connection kept from before had been closed meanwhile
│   │   └── UpstreamUnconnected   nor in time
│   ├── UpstreamTimeout       it did not answer in time
│   └── UpstreamOverloaded    it asks to come back later
│       └── UpstreamResting   it has failed lately and was not asked
└── CannotStart               this process cannot serve as it is told to; the message says what to do
    ├── CannotServe           the settings ask for what is not possible
    ├── HomeInUse             another gateway serves from the same home
    └── PortTaken             the address cannot be listened on
"""

from dataclasses import dataclass


@dataclass(eq=False)
class GatewayError(Exception):
    """Root of the edge's errors."""

    message: str

    def __str__(self) -> str:
        """Return the sentence a caller may read."""
        return self.message


@dataclass(eq=False)
class BadRequest(GatewayError):
    """The request is malformed; `param` names the field where one is to blame."""

    param: str | None = None


@dataclass(eq=False)
class ModelNotFound(GatewayError):
    """The policy has no such model or route."""

    model: str


@dataclass(eq=False)
class RequestNotFound(GatewayError):
    """The ledger has no such request of the caller's app."""

    request_id: str


@dataclass(eq=False)
class OutOfZone(GatewayError):
    """Somebody chose a provider that a request may not go to: a fault of ours, which ends the request.

    Attributes:
        provider: Who was chosen.
        zone: Where it is.
    """

    provider: str
    zone: str


@dataclass(eq=False)
class UnknownPolicy(GatewayError):
    """The policy's history has no such version."""

    version: str


@dataclass(eq=False)
class UpstreamError(GatewayError):
    """A provider failed; `status` is what it answered, if it answered."""

    provider: str
    status: int | None = None


@dataclass(eq=False)
class UpstreamRefused(UpstreamError):
    """The provider says the request is wrong; its words are passed on."""

    param: str | None = None


@dataclass(eq=False)
class ContextTooLong(UpstreamRefused):
    """The prompt and the answer do not fit the model; the counts are in the provider's words."""


@dataclass(eq=False)
class UpstreamUnreached(UpstreamError):
    """No connection could be made, so the provider has seen nothing of the request."""


@dataclass(eq=False)
class UpstreamStale(UpstreamUnreached):
    """The provider had closed a connection that was kept for the next call, so it has seen nothing of this one."""


@dataclass(eq=False)
class UpstreamUnconnected(UpstreamUnreached):
    """No connection could be made in the time there was for it."""


@dataclass(eq=False)
class UpstreamTimeout(UpstreamError):
    """The provider took too long to connect, to begin or to go on."""


@dataclass(eq=False)
class UpstreamOverloaded(UpstreamError):
    """The provider is busy; `retry_after_s` is its own estimate, if it gave one."""

    retry_after_s: float | None = None


@dataclass(eq=False)
class UpstreamResting(UpstreamOverloaded):
    """A model of the provider has failed lately and is left alone for a while: nothing was sent."""


@dataclass(eq=False)
class CannotStart(GatewayError):
    """This process cannot serve as it is told to."""


@dataclass(eq=False)
class CannotServe(CannotStart):
    """The settings ask for what is not possible."""


@dataclass(eq=False)
class HomeInUse(CannotStart):
    """Another gateway serves from this home; its counters in memory would not know of ours."""


@dataclass(eq=False)
class PortTaken(CannotStart):
    """The address cannot be listened on, for the `reason` the system gives."""

    host: str
    port: int
    reason: str
