"""What a submitter asked of the gateway for all lines of a batch, in a form that waits with the batch.

Whose cost the lines are and where they may run is settled when the batch is handed in: the headers of that moment
count, as they would have counted for each request.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from gateway.wire.request.attribution import read_offered
from gateway.wire.request.controls import Controls, Headers, read_controls
from governance.attribution import Offered

_BETAS = "anthropic-beta"


class Wishes(msgspec.Struct, frozen=True):
    """The wishes.

    Attributes:
        headers: the dimensions offered by headers.
        user: the end user, where a header or the batch names one.
        zone: the zone that no line may leave.
        cache_control: the raw `Cache-Control` value.
        timeout_s: the longest that each line may take.
        body: the digest of the one request that is asked for under an idempotency key; empty where there is none.
        betas: the raw `anthropic-beta` value, which goes on to the provider.
    """

    headers: dict[str, str]
    user: str | None = None
    zone: str | None = None
    cache_control: str = ""
    timeout_s: float | None = None
    betas: str = ""
    body: str = ""

    @property
    def spoken(self) -> Headers:
        """The headers that have a say in how a line is understood."""
        return {_BETAS: self.betas} if self.betas else {}

    @property
    def controls(self) -> Controls:
        """What each line asks of the gateway itself."""
        return Controls(self.zone, self.timeout_s, self.cache_control)

    def offered(self, metadata: Mapping[str, Any] | None, user: str | None) -> Offered:
        """Return the dimensions of a line: those of the batch, and what the line's own body says."""
        own = read_offered({}, metadata, user)
        return replace(own, headers=self.headers, user=own.user or self.user)

    def written(self) -> str:
        """Return them as text."""
        return msgspec.json.encode(self).decode()


def read_wishes(headers: Headers, metadata: Mapping[str, Any] | None = None) -> Wishes:
    """Read the wishes that go with a batch from its headers and its metadata.

    Raises:
        BadRequest: a control header has a value that means nothing.
    """
    controls, offered = read_controls(headers), read_offered(headers, metadata, None)
    said = dict(offered.metadata) | dict(offered.headers)
    return Wishes(
        said, offered.user, controls.zone, controls.cache_control, controls.timeout_s, headers.get(_BETAS, "")
    )


def parse_wishes(text: str) -> Wishes:
    """Return wishes that were `written`."""
    return msgspec.json.decode(text, type=Wishes)
