"""Private keys: PEM (RFC 7468), OpenSSH, PGP (RFC 9580), PuTTY, age, and JSON Web Keys (RFC 7517)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_BEGIN: Final = re.compile(r"-{2,5} ?BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{2,5}")
_END: Final = re.compile(r"-{2,5} ?END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{2,5}")
_BODY: Final = re.compile(r"[A-Za-z0-9+/=\s:,.\-]{16,20000}")
_PUTTY: Final = re.compile(r"PuTTY-User-Key-File-\d:[^\n]{1,80}\n(?:[^\n]{0,200}\n?){0,80}")
_AGE: Final = re.compile(r"AGE-SECRET-KEY-1[0-9A-Z]{20,64}")
_JWK: Final = re.compile(r"\{[^{}]{0,4000}\"kty\"[^{}]{0,4000}\}")
_JWK_PRIVATE: Final = re.compile(r"\"(?:d|k)\"\s{0,3}:\s{0,3}\"[A-Za-z0-9_-]{20,}\"")
_LONGEST: Final = 20_000


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where keys are, from their first line to their last, or as far as they go."""
    if "PRIVATE KEY" in text:
        yield from _blocks(text)
    if "PuTTY-User-Key-File" in text:
        yield from ((match.start(), match.end()) for match in _PUTTY.finditer(text) if "Private-Lines" in match[0])
    if "AGE-SECRET-KEY-1" in text:
        yield from ((match.start(), match.end()) for match in _AGE.finditer(text))
    if '"kty"' in text:
        yield from ((match.start(), match.end()) for match in _JWK.finditer(text) if _JWK_PRIVATE.search(match[0]))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield blocks between a first and a last line; no part of the text is read twice, however many lines begin one."""
    done, ends = 0, _END.finditer(text)
    end = next(ends, None)
    for begin in _BEGIN.finditer(text):
        if begin.start() < done:
            continue
        while end is not None and end.start() < begin.end():
            end = next(ends, None)
        body = _BODY.match(text, begin.end())
        if end is not None and end.start() - begin.end() <= _LONGEST:
            done = end.end()
        elif body is not None:  # cut off
            done = body.end()
        else:
            continue
        yield begin.start(), done
