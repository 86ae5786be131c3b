"""Requests for a deed: an answer that was kept says "done" where nothing was done.

A request to do something with text, numbers or code is not a deed: "delete the spaces from this string", "how do I
cancel my order" and "write an e-mail" change nothing in the world.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import first, read_signs

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_SIGNS = read_signs("acting")
_IN_CODE = re.compile(
    r"\b(?:in|using|with|via) (?:python|java|javascript|typescript|sql|bash|c\+\+|c#|rust|ruby|php|go|golang|excel"
    r"|pandas|numpy|curl|git|django|react|node|postman|docker|kubectl|postgres\w*|mysql|regex|powershell|terraform"
    r"|ansible|swift|kotlin|r|vim|html|css|word|google sheets)\b|\b(?:regex|dataframe|json|boolean|string|array"
    r"|tuple|linked list)\b"
)


def spot(reading: Reading) -> str | None:
    """Say what deed is asked for, or None when only words are."""
    if reading.method and not reading.polite and not reading.start.startswith(("i want", "i need")):
        return None
    if _IN_CODE.search(reading.ask):
        return None
    return first(_SIGNS, reading.start, reading.words)
