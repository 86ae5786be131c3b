"""Attribution: whom a request's cost belongs to.

Eight dimensions describe each ledger row. Who may say what is decided here and nowhere else: team and app come from the
key alone, so a caller can never move its cost to somebody else.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from governance.identity import Caller

DIMENSIONS: Final = ("team", "app", "feature", "workflow", "model", "segment", "environment", "session")
UNATTRIBUTED: Final = "unattributed"
LONGEST: Final = 200


@dataclass(frozen=True, slots=True)
class Offered:
    """What a caller says about its request: `x-sluice-<dimension>` headers, body metadata, and the end user's name."""

    headers: Mapping[str, str]
    metadata: Mapping[str, str]
    user: str | None = None


class Attribution(Struct, frozen=True, gc=False):
    """The resolved dimensions of a request, less `model`, which the route decides; and its end user, if known."""

    team: str
    app: str
    feature: str = UNATTRIBUTED
    workflow: str = UNATTRIBUTED
    segment: str = UNATTRIBUTED
    environment: str = UNATTRIBUTED
    session: str = UNATTRIBUTED
    user: str | None = None


def attribute(
    caller: Caller,
    offered: Offered,
    *,
    settable: frozenset[str],
    defaults: Mapping[str, str],
    segment_of: Callable[[str], str | None],
    hash_user: bool,
) -> Attribution:
    """Resolve each dimension from its strongest source.

    The order is: bound to the key, header, body metadata (both only for dimensions in `settable`), for the segment what
    the policy makes of the end user, the app's default, `unattributed`.

    Args:
        caller: Who the key belongs to.
        offered: What the request says.
        settable: The dimensions that callers of this app may set.
        defaults: The app's own values.
        segment_of: The policy's map from an end user to a segment.
        hash_user: Whether to keep only a hash of the end user, salted with the team so that teams cannot be joined.
    """
    user = _clean(offered.user)

    def resolve(dimension: str, bound: str | None = None, derived: str | None = None) -> str:
        if bound:
            return _clean(bound) or UNATTRIBUTED
        if dimension in settable:
            said = _clean(offered.headers.get(dimension)) or _clean(offered.metadata.get(dimension))
            if said:
                return said
        return _clean(derived) or _clean(defaults.get(dimension)) or UNATTRIBUTED

    return Attribution(
        team=caller.team,
        app=caller.app,
        feature=resolve("feature", bound=caller.feature),
        workflow=resolve("workflow"),
        segment=resolve("segment", derived=segment_of(user) if user else None),
        environment=resolve("environment"),
        session=resolve("session"),
        user=_hashed(user, caller.team) if user and hash_user else user,
    )


def is_plain(text: str) -> bool:
    """Say whether a text can be a value of a dimension just as it is."""
    return bool(text) and _clean(text) == text


def _clean(text: str | None) -> str | None:
    """Trim, drop what does not print (control and bidirectional characters), and cut to the longest length."""
    if not text:
        return None
    if not text.isprintable():
        text = "".join(character for character in text if character.isprintable())
    return text.strip()[:LONGEST].rstrip() or None


def _hashed(user: str, team: str) -> str:
    return "sha256:" + hashlib.sha256(f"{team}\0{user}".encode()).hexdigest()[:32]
