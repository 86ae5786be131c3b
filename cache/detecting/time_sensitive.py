"""Questions whose answer ages: the weather, a price on a market, a score, whether a thing works just now.

A word such as "now" or "current" is not enough: "how do I change my current password" has had the same answer for
years. A state must be asked for, and the time must be the asker's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import first, read_signs

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

*_SIGNS, _NOW = read_signs("time_sensitive")
_STILL_SO = re.compile(
    r"\b(?:used|relevant|spoken|known|found|matter|matters|important|seen|exist|exists|practi[sc]ed|popular"
    r"|valid) (?:\w+ ){0,2}(?:today|these days)\b|\bfrom yesterday to today\b|\b(?:days|months|weeks) in (?:this"
    r"|the)\b|\blive (?:in|with|without|on|longer|to|music|stream\w*|coding|data|objects?)\b|\bwhere do\b.*\blive\b"
)


def spot(reading: Reading) -> str | None:
    """Say what ages in the answer, or None when the answer stays true."""
    if reading.method:
        return None
    what = first(_SIGNS, reading.ask, reading.words)
    if what is None and not _STILL_SO.search(reading.ask):
        return first((_NOW,), reading.ask, reading.words)
    return what
