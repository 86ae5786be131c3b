"""What happens to an answer upstream when the client that waited for it has left."""

from dataclasses import dataclass
from typing import Final

from governance.money import Nanodollars


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """One rule. Bounds are of what comes after the client has left, and the first that is reached ends the call.

    Attributes:
        reads_on: the answer is read to its end, or to a bound; otherwise the call is stopped at once.
        believes: what the provider has told by then is what was used; otherwise that is estimated from what was said.
        tokens: of output that are still read.
        seconds: that the call may still take.
        cost: that may still be made.
    """

    reads_on: bool
    believes: bool = True
    tokens: int | None = None
    seconds: float | None = None
    cost: Nanodollars | None = None


CANCEL: Final = Leave(reads_on=False)
DRAIN: Final = Leave(reads_on=True)
ESTIMATE: Final = Leave(reads_on=False, believes=False)
