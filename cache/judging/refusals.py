"""Answers that decline to answer."""

from __future__ import annotations

import re

_DECLINES = re.compile(
    r"\bi(?:'m| am)? (?:really |truly )?(?:sorry|afraid)\b.{0,80}\b(?:can(?:no|')t|can not|won't|unable|not able)\b"
    r"|\bi (?:really )?(?:can(?:no|')t|can not|won't|will not|(?:am|'m) (?:unable|not able) to|(?:don't|do not) have)"
    r" (?:\w+ )?(?:help|assist|answer|provide|comply|do that|discuss|share|access|information|enough|know)\b"
    r"|\bi(?:'m| am) (?:unable|not able) to (?:help|assist|answer|provide|comply|do|discuss|share|access)\b"
    r"|\bas an ai\b.{0,80}\b(?:can(?:no|')t|can not|don't|do not|unable)\b"
    r"|\bi (?:don't|do not) know\b"
)
_LOOKED_AT = 240
"""Characters at the beginning, where an answer declines if it does."""


def declines(words: str) -> bool:
    """Tell whether an answer declines to answer."""
    return _DECLINES.search(words[:_LOOKED_AT].replace("\u2019", "'").lower()) is not None
