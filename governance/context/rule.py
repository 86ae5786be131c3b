"""What a policy asks of a request's context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Mode = Literal["off", "warn", "trim", "refuse"]

KEEP_LAST_TURNS: Final = 4
"""How many turns stay as they are where the policy does not say."""


@dataclass(frozen=True, slots=True)
class ContextRule:
    """How much context a request may carry, and what happens to one with more.

    Attributes:
        audit: What it is made of is recorded.
        max_input_tokens: The longest prompt that is sent anywhere; None for any.
        mode: With `trim` a prompt above the target is cut, with `warn` it is only said what would be cut, with `refuse`
            it is turned away.
        keep_last_turns: How many turns stay as they are, the one to be answered included.
        target_tokens: The length to which is cut; None for `max_input_tokens`. Without either only what is said twice
            and what only fills is cut.
    """

    audit: bool = False
    max_input_tokens: int | None = None
    mode: Mode = "off"
    keep_last_turns: int = KEEP_LAST_TURNS
    target_tokens: int | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is asked, so that no request need be looked at."""
        return not self.audit and self.max_input_tokens is None and self.mode == "off"

    @property
    def target(self) -> int | None:
        """The length above which something is done; None where length alone is no reason."""
        return self.max_input_tokens if self.target_tokens is None else self.target_tokens

    @property
    def trims(self) -> bool:
        """Whether it is to be found out what could be cut."""
        return self.mode in {"warn", "trim"}


NOTHING_ASKED: Final = ContextRule()
