"""The `cache` section of the policy, and the durations it is written with."""

from __future__ import annotations

import re
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

ANSWERS = "answers"
"""The judge that needs no model: it compares the two answers' words and meaning itself."""

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"([1-9][0-9]{0,6})([smhdw])")


def parse_duration(value: object) -> int:
    """Read a duration such as `30s`, `10m`, `24h`, `7d` or `2w` as seconds."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise PydanticCustomError("duration", "should be a duration such as 30s, 10m, 24h or 7d")
    return int(match[1]) * _UNITS[match[2]]


Duration = Annotated[
    int,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": "string", "pattern": f"^{_DURATION.pattern}$", "examples": ["24h", "7d"]}),
]


class SharedBy(StrEnum):
    """Who may be served an answer that another caller paid for."""

    KEY = "key"
    APP = "app"
    TEAM = "team"
    ORG = "org"


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ExactSection(_Section):
    """Serve a stored answer to the very same request.

    Attributes:
        ttl: How long an answer may be served, in seconds.
        shared_by: Who shares answers.
        stale: For how long after that it may still be served while it is made anew in the background, in seconds.
        only: `deterministic` leaves out requests that do not ask for temperature 0 and one answer.
    """

    ttl: Duration
    shared_by: SharedBy = SharedBy.APP
    stale: Duration = 0
    only: Literal["all", "deterministic"] = "all"


class SemanticSection(_Section):
    """Serve a stored answer to a request that means the same.

    Attributes:
        enabled: Features, as `app/feature`, that take part.
        observe: Features that only learn what taking part would have done: every request is still answered anew.
        max_error: The largest share of lookups that may be served a wrong answer.
        ttl: How long an answer may be served, in seconds.
        shared_by: Who shares answers.
        max_entries: The most answers kept.
        embedding: The model that places questions: the bundled one, or any that sentence-transformers can load.
        judge: Who compares a new answer with a stored one: `answers`, which is free, or a model of the policy.
        multi_turn: Whether a turn in the middle of a conversation may be answered, which takes the very same turns
            before it and answers to it that were found to agree.
    """

    enabled: tuple[str, ...] = ()
    observe: tuple[str, ...] = ()
    max_error: Annotated[
        Decimal, Field(gt=0, lt=1), WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1})
    ]
    ttl: Duration
    shared_by: SharedBy = SharedBy.APP
    max_entries: Annotated[int, Field(strict=True, gt=0)] = 100_000
    embedding: Annotated[str, Field(min_length=1, max_length=200)] = "all-minilm-l6-v2"
    judge: Annotated[str, Field(min_length=1, max_length=100)] = ANSWERS
    multi_turn: Literal["off", "confirmed"] = "off"

    def takes(self, app: str, feature: str) -> bool:
        """Say whether a feature takes part, or is watched as if it did."""
        return (name := f"{app}/{feature}") in self.enabled or name in self.observe


class PrefixSection(_Section):
    """Use of the providers' own prefix caches.

    Attributes:
        provider_breakpoints: `auto` marks the stable start of a prompt for providers that want it marked, where that
            pays, and says requests so that equal ones begin equally; `off` sends every request as it came.
        longest: How long a mark may ask a provider to keep what it marks, at most; where an hour may be asked for, it
            is where it pays.
        affinity: `auto` sends what one of several equal deployments has served there again, as far as that saves.
    """

    provider_breakpoints: Literal["auto", "off"] = "auto"
    longest: Literal["5m", "1h"] = "5m"
    affinity: Literal["auto", "off"] = "auto"


class CacheSection(_Section):
    """The `cache` section; a kind of cache that is absent is off.

    Attributes:
        version: Of the knowledge or the prompts behind the answers: those of another version are not found.
        exact: Answers to the very same request.
        semantic: Answers to requests that mean the same.
        prefix: The providers' own caches.
    """

    version: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    exact: ExactSection | None = None
    semantic: SemanticSection | None = None
    prefix: PrefixSection | None = None
