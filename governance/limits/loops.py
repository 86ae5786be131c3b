"""Loops: the very same request again and again, or a session that does not end.

Agents go round in circles. A request that comes for the first time costs this guard one look into a table of bounded
size, and no counter: only what has been seen before is counted, in the same step that holds the money. So memory is
bounded by the table and by the repetitions within the span, not by how many different requests there are.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from governance.attribution import UNATTRIBUTED
from governance.windows import SESSION, Rolling

SEEN: Final = 65_536
"""Requests that are remembered as seen. One that returns after so many others counts as new: that is no tight loop."""

_DIGEST: Final = 12
_REMEMBERED: Final = 4_096


@dataclass(frozen=True, slots=True)
class LoopRule:
    """When a caller that goes round in circles is stopped; None where it is not.

    Attributes:
        same_request: The most times a key may make the very same request within the span.
        within_s: The span, in seconds.
        session_requests: The most requests of one key's session.
    """

    same_request: int | None = None
    within_s: int = 600
    session_requests: int | None = None


@dataclass(frozen=True, slots=True)
class Repeats:
    """A counter of repetitions that a request is counted on, and how far it may go."""

    scope: str
    window: Rolling
    limit: int

    def __hash__(self) -> int:
        return hash(self.scope)


class LoopGuard:
    """Says what a request has to be counted on, by one rule. Each process has its own table of requests seen."""

    def __init__(self, rule: LoopRule | None, seen: int = SEEN) -> None:
        self._rule = rule
        self._most = seen
        self._seen: OrderedDict[bytes, None] = OrderedDict()

    @property
    def wants_fingerprints(self) -> bool:
        """Whether it must know which requests are the same."""
        return self._rule is not None and self._rule.same_request is not None

    def repeats(self, key_id: str, fingerprint: bytes, session: str) -> tuple[Repeats, ...]:
        """Return the counters of a request.

        Args:
            key_id: The public id of its key: loops are those of one caller.
            fingerprint: What only the very same request has too; empty when it has none.
            session: Its session; a request without one is in no session's count.
        """
        rule = self._rule
        if rule is None:
            return ()
        found: list[Repeats] = []
        digest = fingerprint[:_DIGEST]
        if rule.same_request is not None and digest and self._again(key_id.encode() + digest):
            # The first time was not counted.
            found.append(_of_request(key_id, digest, rule.within_s, max(0, rule.same_request - 1)))
        if rule.session_requests is not None and session != UNATTRIBUTED:
            found.append(_of_session(key_id, session, rule.session_requests))
        return tuple(found)

    def _again(self, name: bytes) -> bool:
        if name in self._seen:
            self._seen.move_to_end(name)
            return True
        self._seen[name] = None
        if len(self._seen) > self._most:
            self._seen.popitem(last=False)
        return False


@lru_cache(maxsize=_REMEMBERED)
def _of_request(key_id: str, digest: bytes, within_s: int, limit: int) -> Repeats:
    # Half a span is precise enough to tell a loop, and two counters fewer than a budget's sixths.
    return Repeats(f"key:{key_id}?request={digest.hex()}", Rolling(within_s, parts=2), limit)


@lru_cache(maxsize=_REMEMBERED)
def _of_session(key_id: str, session: str, limit: int) -> Repeats:
    return Repeats(f"key:{key_id}?session={quote(session, safe='')}", SESSION, limit)
