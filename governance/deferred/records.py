"""What deferred work is made of, as values that never change."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Owner:
    """The app whose files and batches these are; every key of it sees them, and no other key."""

    team: str
    app: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file: uploaded, or what came of a batch. `size` is in bytes."""

    id: str
    owner: Owner
    purpose: str
    filename: str
    size: int
    created_at: datetime


class BatchStatus(StrEnum):
    """How far a batch has come, in the words of the OpenAI API."""

    VALIDATING = "validating"
    FAILED = "failed"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    EXPIRED = "expired"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"


RUNNING = (BatchStatus.VALIDATING, BatchStatus.IN_PROGRESS, BatchStatus.CANCELLING)
"""What a batch may be in while something is still to be done for it."""


class LineState(StrEnum):
    """How far a line has come. The first three have no result yet; all others have one that stays.

    A line that is `carried` has been handed to a provider's own batch API.
    """

    WAITING = "waiting"
    RUNNING = "running"
    CARRIED = "carried"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


OPEN = (LineState.WAITING, LineState.RUNNING, LineState.CARRIED)
UNANSWERED = (LineState.FAILED, LineState.EXPIRED, LineState.CANCELLED)
"""The states of lines whose results are in a batch's error file."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the input of a batch; `line` counts from 1."""

    code: str
    message: str
    line: int | None = None
    param: str | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """How many lines a batch has, how many were answered, and how many ended without an answer."""

    total: int = 0
    completed: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A batch as it is handed in.

    Attributes:
        key_id: The public id of the key that pays.
        endpoint: Where its lines would be posted, such as `/v1/chat/completions`.
        completion_window: In how much time it should be done, as it was asked for.
        asked: What its submitter asked of the gateway for all lines, as the gateway wrote it down.
        input_file_id: Where its lines are; None for one that was handed in as a single request.
    """

    id: str
    owner: Owner
    key_id: str
    endpoint: str
    completion_window: str
    expires_at: datetime
    asked: str
    input_file_id: str | None = None
    metadata: dict[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Submission):
    """A batch as it stands; instants are None for what has not happened."""

    status: BatchStatus
    created_at: datetime
    counts: Counts = field(default_factory=Counts)
    waits_until: datetime | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    faults: tuple[Fault, ...] = ()
    in_progress_at: datetime | None = None
    finalizing_at: datetime | None = None
    completed_at: datetime | None = None
    failed_at: datetime | None = None
    expired_at: datetime | None = None
    cancelling_at: datetime | None = None
    cancelled_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewLine:
    """A line as it was handed in; `n` counts from 1, and `body` is the JSON of its request."""

    n: int
    custom_id: str
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A request that is handed to a provider's own batch API instead of being made.

    Attributes:
        request_id: What the ledger calls it; the provider is told the same name.
        provider: The policy's name of the provider.
        path: Where it would be posted, below the provider's address.
        model: The policy's name of the model.
        upstream_model: The provider's own name of it: some take one model at a time.
        asked_at: The instant whose budget windows pay for it.
        body: The JSON that would be posted.
    """

    request_id: str
    provider: str
    path: str
    model: str
    upstream_model: str
    asked_at: datetime
    body: bytes


class ShipmentState(StrEnum):
    """How far a shipment has come. One that is `sending` may or may not have reached the provider."""

    PACKED = "packed"
    SENDING = "sending"
    SENT = "sent"
    OVER = "over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipment:
    """Parcels that go to one provider as one batch of its own; `upstream_id` is what the provider calls it."""

    id: str
    provider: str
    path: str
    state: ShipmentState
    upstream_id: str | None
    created_at: datetime
    size: int


@dataclass(frozen=True, slots=True)
class Delivered:
    """What a provider's batch says of one parcel: the status and the body that a call would have got."""

    request_id: str
    status: int
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that a worker has claimed.

    Attributes:
        generation: How often it has been claimed, this time included.
        failures: How many of its runs came to nothing for a reason that may pass.
        parcel: What is on its way to a provider, or back; None while nothing is.
    """

    batch_id: str
    n: int
    custom_id: str
    owner: Owner
    key_id: str
    endpoint: str
    asked: str
    body: bytes
    generation: int
    failures: int
    expires_at: datetime
    parcel: "Parcel | None" = None

    @property
    def request_id(self) -> str:
        """What the ledger calls this run of the line: a run is recorded once, and each run is a request of its own."""
        return f"{self.batch_id}-{self.n}-{self.generation}"
