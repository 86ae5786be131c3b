"""The width and height of a picture in a data URL, from the first bytes of its file.

Nothing is decoded beyond what tells the size, and nothing in a file can raise: what is not understood has no size.
Spec: PNG (ISO 15948) 11.2.2; JPEG (ITU T.81) B.2.2; GIF89a 18; WebP container (RFC 9649) 2.5 to 2.7.
"""

import re
from base64 import b64decode
from binascii import Error
from typing import Final

_DATA_URL: Final = re.compile(r"data:[^,]{0,200};base64,", re.IGNORECASE)
_MOST_CHARACTERS: Final = 256 * 1024
"""How much of a URL is looked at: the size in a JPEG comes after its thumbnail and colour profile."""

_FIRST_CHARACTERS: Final = 64
_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def size_of(url: str) -> tuple[int, int] | None:
    """Return the width and height in pixels of the picture in a data URL; None where they cannot be read."""
    start = _DATA_URL.match(url)
    if start is None:
        return None
    head = _decoded(url, start.end(), _FIRST_CHARACTERS)
    if head.startswith(b"\xff\xd8"):
        size = _jpeg(_decoded(url, start.end(), _MOST_CHARACTERS))
    elif head.startswith(b"\x89PNG\r\n\x1a\n"):
        size = _big(head, 16, 4), _big(head, 20, 4)
    elif head.startswith((b"GIF87a", b"GIF89a")):
        size = _little(head, 6, 2), _little(head, 8, 2)
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp(head)
    else:
        return None
    return size if size is not None and all(size) else None


def _decoded(url: str, start: int, characters: int) -> bytes:
    text = url[start : start + characters]
    try:
        return b64decode(text[: len(text) // 4 * 4])
    except (Error, ValueError):
        return b""


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Walk from marker to marker until a frame tells its size."""
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:  # noqa: PLR2004  what every marker begins with
        marker = data[place + 1]
        if marker in _JPEG_FRAMES:
            return _big(data, place + 7, 2), _big(data, place + 5, 2)
        place += 1 if marker == 0xFF else 2 + max(2, _big(data, place + 2, 2))  # noqa: PLR2004  a byte that fills
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8 ":
            return _little(head, 26, 2) & 0x3FFF, _little(head, 28, 2) & 0x3FFF
        case b"VP8L":
            packed = _little(head, 21, 4)
            return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return _little(head, 24, 3) + 1, _little(head, 27, 3) + 1
        case _:
            return None


def _big(data: bytes, start: int, length: int) -> int:
    return int.from_bytes(data[start : start + length], "big")


def _little(data: bytes, start: int, length: int) -> int:
    return int.from_bytes(data[start : start + length], "little")
