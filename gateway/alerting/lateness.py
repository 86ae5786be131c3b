"""Which windows are looked at: beside those that run, for a while those that ran before."""

from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from governance.windows import Span, Window, WindowKind, window

LATE: Final = timedelta(minutes=15)
"""How long after the end of a window its spending is still looked at; longer than any request may take."""


def late(span: Span, at: datetime, tz: ZoneInfo) -> Window | None:
    """Return the window before, if it is not long over; what is late for a rolling one is in the next cover too."""
    if not isinstance(span, WindowKind):
        return None
    before = window(span, window(span, at, tz).start - timedelta.resolution, tz)
    return before if at - before.end < LATE else None
