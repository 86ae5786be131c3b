"""The sections that watch over what goes in and comes out: sensitivity, guardrails and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from cache.config import Duration
from governance.confinement.confined import ALLOW, UNREAD, Confinement
from governance.limits.loops import LoopRule
from governance.policy.patterns import Pattern
from governance.policy.sections import Count, LimitsSection, Name, Section
from governance.sensitivity.finding import Kind


class Sensitivity(Section):
    """Where requests with sensitive text may go.

    Attributes:
        detect: What to look for.
        confine: For each kind: `allow`, `refuse`, or the zone that the request may not leave.
        sticky: With `session`, what was found holds for the rest of the session.
        zones: Zones from the widest to the strictest: what is confined to one may also run in those that are stricter.
        unread: Where a request may go of which a part has no text to look at, such as a picture.
    """

    detect: tuple[Kind, ...] = ()
    confine: Mapping[Kind, Name] = Field(default_factory=dict)
    sticky: Literal["request", "session"] = "request"
    zones: tuple[Name, ...] = ()
    unread: Name = ALLOW

    @property
    def rule(self) -> Confinement:
        """The rule as governance reads it; a kind that is confined is looked for, listed or not."""
        rules = {kind: to for kind, to in self.confine.items() if to != ALLOW}
        if self.unread != ALLOW:
            rules[UNREAD] = self.unread
        return Confinement(frozenset((*self.detect, *self.confine)), rules, self.zones, self.sticky == "session")


class Guardrail(Section):
    """A rule over the text of requests or answers: it finds kinds of text, or a pattern, and acts."""

    name: Name
    on: Literal["input", "output"]
    detect: tuple[Kind, ...] | None = None
    pattern: Pattern | None = None
    action: Literal["block", "redact", "flag"]

    @model_validator(mode="after")
    def _looks_for_one_thing(self) -> Self:
        if (self.detect is None) == (self.pattern is None):
            raise PydanticCustomError("guardrail", "give either detect or pattern")
        return self


class Loop(Section):
    """When an agent that goes round in circles is stopped; what is absent is not watched.

    Attributes:
        same_request: The most times the very same request may be made within the span.
        within: The span, in seconds; what is repeated is remembered up to half as long again.
        session_requests: The most requests of one session of one key.
    """

    same_request: Count | None = None
    within: Duration = 600
    session_requests: Count | None = None

    @property
    def rule(self) -> LoopRule:
        """The rule as governance reads it."""
        return LoopRule(self.same_request, self.within, self.session_requests)


class OrgLimits(LimitsSection):
    """Limits over everyone together."""

    loop: Loop | None = None
