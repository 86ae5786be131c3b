"""Where a request may go: what is sensitive in it, in its session and in its caller's wish, decides before all else.

What comes of it is an `Entitled`, without which no model can be chosen, priced or called. Whatever goes wrong here
ends the request: a text that could not be read through goes nowhere.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import anyio

from gateway.steps.admission import Admitted, Asked, Entitled
from governance.attribution import UNATTRIBUTED
from governance.confinement.confined import UNCONFINED, UNREAD, Confined, Confinement
from governance.confinement.decisions import Decision, DecisionLog
from governance.confinement.sessions import SessionLabels
from governance.errors import Unconfinable
from governance.sensitivity import Kind, detect, texts_of, unread_of

_LARGE: Final = 16_384
"""Bytes of a body above which it is read in a thread, so that others need not wait."""

SESSIONS_KEPT: Final = timedelta(days=90)
"""How long a session's labels hold after they were found."""

SESSIONS_S: Final = 3_600.0
"""How often older ones are forgotten."""

FieldsT = TypeVar("FieldsT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Confining:
    """Finds out where requests may go, and keeps the record of it.

    Attributes:
        rule: what the policy says.
        sessions: what was found in sessions before.
        log: where decisions and calls are written down.
        now: an aware clock.
    """

    rule: Confinement
    sessions: SessionLabels
    log: DecisionLog
    now: Callable[[], datetime]

    async def confine(self, asked: Asked[FieldsT], admitted: Admitted) -> tuple[Asked[FieldsT], Entitled]:
        """Return the request as all that is made of it must be treated, and what it may do.

        Raises:
            Unconfinable: it may go nowhere.
            StoreUnavailable: its session is not known, or the decision cannot be written down.
        """
        labels = await self._labels(asked, admitted)
        wished = asked.controls.zone
        if not labels and wished is None:
            return asked, unconfined(admitted)
        try:
            confined = self.rule.confine(labels, wished)
        except Unconfinable as refusal:
            await self.log.write(
                Decision(at=asked.at, act="refused", request_id=asked.request_id, labels=refusal.kinds)
            )
            raise
        within = tuple(sorted(confined.within))
        await self.log.write(
            Decision(at=asked.at, act="decided", request_id=asked.request_id, labels=confined.labels, zones=within)
        )
        # What is asked later on behalf of this request, by a judge or to renew its answer, is confined as it is.
        controls = replace(asked.controls, zone=confined.zone)
        return replace(asked, controls=controls), _entitled(admitted, confined)

    async def called(self, asked: Asked[Any], entitled: Entitled, provider: str, zone: str) -> None:
        """Write down that a request goes to a provider now.

        Raises:
            StoreUnavailable: it cannot be written down, so that the call must not be made.
        """
        if entitled.confined.zone is not None or entitled.confined.labels:
            await self.log.write(
                Decision(at=self.now(), act="called", request_id=asked.request_id, provider=provider, zone=zone)
            )

    async def _labels(self, asked: Asked[Any], admitted: Admitted) -> Collection[str]:
        rule, session = self.rule, admitted.attribution.session
        found: Collection[str] = ()
        if rule.kinds or UNREAD in rule.rules:
            if asked.size > _LARGE:
                found = await anyio.to_thread.run_sync(labels_of, asked.body, rule.kinds)
            else:
                found = labels_of(asked.body, rule.kinds)
        if UNREAD not in rule.rules:
            found = [label for label in found if label != UNREAD]
        if rule.sticky and session not in {None, "", UNATTRIBUTED}:
            return await self.sessions.raised(admitted.caller.key_id, session, found, asked.at)
        return found


def labels_of(body: dict[str, Any], kinds: Collection[Kind]) -> frozenset[str]:
    """Return what is found in a body: the kinds of sensitive text, and `unread` where a part has no text to read."""
    found: set[str] = {UNREAD} if next(unread_of(body), None) is not None else set()
    for _, text in texts_of(body):
        if not found.issuperset(kinds):
            found.update(one.kind for one in detect(text, kinds))
    return frozenset(found)


def unconfined(admitted: Admitted) -> Entitled:
    """Return what a request may do in which nothing is sensitive."""
    return _entitled(admitted, UNCONFINED)


def _entitled(admitted: Admitted, confined: Confined) -> Entitled:
    return Entitled(admitted.caller, admitted.attribution, admitted.grant, confined)
