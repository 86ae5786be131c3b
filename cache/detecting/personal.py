"""Questions about the asker's own affairs: a balance, an order, an appointment, what they did.

"My" is not enough. "How do I change my password" and "why was my card declined" have the same answer for everyone, and
a help desk lives on them; "what is my balance" has as many answers as there are customers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cache.detecting.signs import first, read_signs

if TYPE_CHECKING:
    from cache.detecting.reading import Reading

_SIGNS = read_signs("personal")
_HOW = re.compile(
    r"\bwie (?:kann|soll|muss|geht|\w+e) (?:ich|man)\b|\bcomment\b|\bcómo\b|\bcomo\b|\bhow (?:do|can|should|would|to"
    r"|could)\b|\b(?:what|where) (?:can|could|should|do|happens)\b|\bwhy\b|\bcan i\b|\bwhat (?:if|does)\b"
)


_SUPPOSED = re.compile(
    r"^(?:if|suppose|as an?|once)\b|(?<!know)(?<!me)(?<!see)(?<!check)(?<!wondering)(?<!out) if (?:i|my|the|an?|it"
    r"|we|you|someone|they)\b"
)


def spot(reading: Reading) -> str | None:
    """Say whose affair the question is about, or None when the answer is the same for everyone."""
    if reading.method and _HOW.search(reading.ask) and not reading.ask.startswith(("what do i ", "what do we ")):
        return None
    if _SUPPOSED.search(reading.ask):  # a rule is asked for, not a record
        return None
    return first(_SIGNS, reading.ask, reading.words)
