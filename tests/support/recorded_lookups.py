"""Look-ups as a gateway puts them on record, made up for a test."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from cache.learning.lookups import Action, Decision, Observation, Verdict
from cache.learning.prior import shipped
from gateway.caching.learned import evidence_of
from governance.lookups.records import Lookup, LookupKind
from tests.support.requests import NOON

FEATURE: Final = "red/bot/faq"
ENTRY: Final = bytes(32)
FRESH: Final = bytes([1] * 32)
_KINDS: Final[Mapping[Action, LookupKind]] = {
    Action.SERVE: "semantic",
    Action.EXPLORE: "explored",
    Action.ASK: "asked",
}


def found(
    action: Action,
    *,
    explored: float = 1.0,
    same: bool = True,
    risk: float = 0.001,
    feature: str = FEATURE,
    at: datetime = NOON,
    writer: str = "one",
    embedding: str = "",
) -> Lookup:
    """Return a look-up that found something, and what a judge said of it, unless it was served."""
    served, width = action is Action.SERVE, len(shipped().mean)
    near = () if served else (ENTRY,)
    decision = Decision(action, ENTRY, near, risk, 0.1, explored, features=(0.0,) * width)
    verdicts = tuple(Verdict(each, same) for each in near)
    seen = Observation(decision, None if served else FRESH, verdicts, embedding=embedding)
    return word(_KINDS[action], evidence_of(seen), feature, at, writer)


def missed(feature: str = FEATURE, at: datetime = NOON, writer: str = "one") -> Lookup:
    """Return a look-up that found nothing."""
    decision = Decision(Action.ASK, None, (), 1.0, 0.1, 1.0)
    return word("asked", evidence_of(Observation(decision, FRESH)), feature, at, writer)


def word(
    kind: LookupKind, evidence: bytes = b"", feature: str = FEATURE, at: datetime = NOON, writer: str = "one"
) -> Lookup:
    """Return one row on record."""
    return Lookup(request_id="req_1", at=at, feature=feature, kind=kind, entry=ENTRY, evidence=evidence, writer=writer)
