"""What can go wrong at the edge, beyond what the engines themselves refuse.

GatewayError
├── BadRequest                the body or a header is not what the API says
│   └── ContextTooLong        more tokens than the model can hold, with the counts
├── ModelNotFound             no model or route of that name for this caller
├── UpstreamError             an attempt failed and there is no other
│   ├── UpstreamRefused       the provider says the request itself is wrong
│   ├── UpstreamTimeout       it did not answer in time
│   └── UpstreamOverloaded    it asks to come back later
└── NotReady                  this process cannot serve (yet, or any more)
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
class ContextTooLong(BadRequest):
    """The prompt and the answer do not fit the model, by the provider's own count."""


@dataclass(eq=False)
class ModelNotFound(GatewayError):
    """The policy has no such model or route."""

    model: str


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
class UpstreamTimeout(UpstreamError):
    """The provider took too long to connect, to begin or to go on."""


@dataclass(eq=False)
class UpstreamOverloaded(UpstreamError):
    """The provider is busy; `retry_after_s` is its own estimate, or ours."""

    retry_after_s: float = 1.0


@dataclass(eq=False)
class NotReady(GatewayError):
    """This process is starting, stopping or behind with its ledger."""

    retry_after_s: float = 1.0
