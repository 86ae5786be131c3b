"""The sections that watch over what goes in and comes out: sensitivity, guardrails and loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from cache.config import Duration
from governance.confinement.confined import ALLOW, UNREAD, Confinement
from governance.guardrails.schema import BadSchema, Schema
from governance.limits.loops import LoopRule
from governance.policy.patterns import Pattern
from governance.policy.sections import Count, Flag, LimitsSection, Name, Section
from governance.sensitivity.finding import Kind

Sentence = Annotated[str, Field(min_length=3, max_length=500)]
Scope = Annotated[str, Field(pattern=r"^[^/:\s]+(/[^/:\s]+){0,2}$")]
"""A team, an app of it (`team/app`), or a feature of that (`team/app/feature`)."""


def _schema(value: object) -> Schema:
    if isinstance(value, Schema):
        return value
    try:
        return Schema(value)
    except BadSchema as error:
        raise PydanticCustomError("schema", "{why}", {"why": str(error)}) from error


def _source(schema: Schema) -> Any:
    return schema.source


Shape = Annotated[
    Schema,
    PlainValidator(_schema),
    PlainSerializer(_source),
    WithJsonSchema({"type": ["object", "boolean"]}),
]
"""A field that holds a JSON Schema, compiled as the policy is read."""


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


class TopicsSection(Section):
    """What questions may be about, by sentences of the kind.

    Attributes:
        allow: What may be asked; whatever is like none of it is found.
        deny: What may not be asked; whatever is like any of it is found.
        threshold: How alike is alike: the cosine of the bundled embedding.
    """

    allow: tuple[Sentence, ...] = ()
    deny: tuple[Sentence, ...] = ()
    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.4

    @model_validator(mode="after")
    def _one_list(self) -> Self:
        if bool(self.allow) == bool(self.deny):
            raise PydanticCustomError("topics", "give sentences in either allow or deny")
        return self


class Guardrail(Section):
    """A rule over the text of requests or answers.

    Attributes:
        name: What it is called in headers, metrics and errors.
        on: What it reads: `input` or `output`.
        detect: It finds these kinds of text.
        pattern: It finds what matches.
        max_chars: It finds texts that are longer, all of a request or one answer.
        schema: It finds answers that are not JSON of this shape (`schema` in a document).
        topics: It finds questions about the wrong things.
        injection: It finds prompt injections: `true`, or the probability from which on.
        action: `block`, `redact` what was found, or `flag` it.
        reversible: What is redacted of a request is put back in the answer, for whoever asked.
        applies_to: The teams, apps (`team/app`) and features (`team/app/feature`) it is for; all of them by default.
    """

    name: Name
    on: Literal["input", "output"]
    detect: tuple[Kind, ...] | None = None
    pattern: Pattern | None = None
    max_chars: Count | None = None
    json_schema: Shape | None = Field(default=None, alias="schema")
    topics: TopicsSection | None = None
    injection: Literal[True] | Annotated[float, Field(strict=True, gt=0, lt=1)] | None = None
    action: Literal["block", "redact", "flag"]
    reversible: Flag = False
    applies_to: tuple[Scope, ...] = ()

    @model_validator(mode="after")
    def _looks_for_one_thing(self) -> Self:
        sought = [self.detect, self.pattern, self.max_chars, self.json_schema, self.topics, self.injection]
        if sum(one is not None for one in sought) != 1:
            raise PydanticCustomError(
                "guardrail", "give one of detect, pattern, max_chars, schema, topics and injection"
            )
        if self.action == "redact" and self.detect is None and self.pattern is None:
            raise PydanticCustomError("guardrail", "only what detect or pattern finds can be redacted")
        if self.json_schema is not None and self.on == "input":
            raise PydanticCustomError("guardrail", "a schema is for answers: on: output")
        if (self.topics is not None or self.injection is not None) and self.on == "output":
            raise PydanticCustomError("guardrail", "topics and injection are for requests: on: input")
        if self.reversible and (self.on, self.action) != ("input", "redact"):
            raise PydanticCustomError("guardrail", "only what is redacted of a request can be put back")
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
