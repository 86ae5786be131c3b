"""How many tokens a picture probably is: each family of models reckons it from the width and height in its own way.

Likely counts, for guesses and for callers who ask. What is held for a picture is a constant bound (`bound.py`), since
a provider may change its way without a word, and a picture behind a URL has no size that we know.

Spec: OpenAI, "Images and vision", tiles of 512 and patches of 32 pixels; Anthropic, "Vision", patches of 28 pixels;
Google, "Understand and count tokens" and "Media resolution", tiles of 768 pixels.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil, sqrt
from typing import Any, Final

from gateway.counting.picture_sizes import size_of

_UNKNOWN: Final = (1024, 1024)
"""The size of a picture whose own is not known."""

_MOST: Final = 60_000
_ON_OUR_MACHINES: Final = 16_384


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: its size in pixels, and whether it was asked to be looked at in low detail."""

    width: int
    height: int
    low: bool = False


def picture_of(image_url: Any) -> Picture:
    """Return the picture of an `image_url` part; one of unknown size where its own cannot be read."""
    given: Any = image_url if isinstance(image_url, dict) else {"url": image_url}
    url = given.get("url")
    width, height = (size_of(url) if isinstance(url, str) else None) or _UNKNOWN
    return Picture(width, height, low=given.get("detail") == "low")


def likely_picture_tokens(model: str, picture: Picture) -> int:
    """Return how many tokens a picture probably is to a model, at least 1.

    Args:
        model: what the provider calls it, with or without whose it is.
        picture: the picture.
    """
    reckon = next((reckon for pattern, reckon in _FAMILIES if pattern.search(model.lower())), _on_our_machines)
    return max(1, min(_MOST, reckon(picture)))


def _tiles(base: int, each: int, picture: Picture) -> int:
    """Reckon tiles of 512 pixels, of a picture within 2048 by 2048 whose shorter side is brought down to 768."""
    if picture.low:
        return base
    width, height = _within(2048, picture.width, picture.height)
    shrunk = min(1.0, 768 / min(width, height))
    return base + each * ceil(width * shrunk / 512) * ceil(height * shrunk / 512)


def _small_patches(factor: float, picture: Picture) -> int:
    """Reckon patches of 32 pixels, 1536 at the most, to which a larger picture is brought down."""
    patches = ceil(picture.width / 32) * ceil(picture.height / 32)
    return ceil(min(patches, 1536) * factor)


def _patches_within(edge: int, most: int, picture: Picture) -> int:
    """Reckon patches of 28 pixels, of a picture brought down to an edge and to a number of patches."""
    width, height = _within(edge, picture.width, picture.height)
    shrunk = min(1.0, sqrt(most * 28 * 28 / (width * height)))
    return min(most, ceil(width * shrunk / 28) * ceil(height * shrunk / 28))


def _crops(picture: Picture) -> int:
    """Reckon crops of up to 768 pixels; a small picture is one."""
    if max(picture.width, picture.height) <= 384:  # noqa: PLR2004  the size of one crop
        return 258
    crop = max(256, min(768, int(min(picture.width, picture.height) / 1.5)))
    return 258 * ceil(picture.width / crop) * ceil(picture.height / crop)


def _at_one_price(tokens: int, _: Picture) -> int:
    return tokens


_on_our_machines = partial(_patches_within, 1 << 16, _ON_OUR_MACHINES)


def _within(edge: int, width: int, height: int) -> tuple[float, float]:
    shrunk = min(1.0, edge / max(width, height))
    return max(1.0, width * shrunk), max(1.0, height * shrunk)


_Reckon = Callable[[Picture], int]
_FAMILIES: Final[tuple[tuple[re.Pattern[str], _Reckon], ...]] = tuple(
    (re.compile(pattern), reckon)
    for pattern, reckon in (
        (r"claude-(?:opus-4-[7-9]|[a-z]+-[5-9])", partial(_patches_within, 2576, 4784)),
        (r"claude", partial(_patches_within, 1568, 1568)),
        (r"gemini-(?:1|2)\b", _crops),
        (r"gemini", partial(_at_one_price, 1120)),
        (r"gpt-4\.1-mini", partial(_small_patches, 1.62)),
        (r"gpt-4\.1-nano", partial(_small_patches, 2.46)),
        (r"o4-mini|codex-mini", partial(_small_patches, 1.72)),
        (r"gpt-5-nano", partial(_small_patches, 1.5)),
        (r"gpt-5(?:\.\d+)?-(?:mini|nano)|gpt-5\.[2-9]", partial(_small_patches, 1.2)),
        (r"gpt-4o-mini", partial(_tiles, 2833, 5667)),
        (r"gpt-5", partial(_tiles, 70, 140)),
        (r"\bo[13](?:-|$)", partial(_tiles, 75, 150)),
        (r"computer-use", partial(_tiles, 65, 129)),
        (r"gpt-|chatgpt", partial(_tiles, 85, 170)),
    )
)
"""The first pattern found in a model's name says how it reckons; other models cut patches of 28 pixels, as Qwen does.

The factors of gpt-5 and later are those that were billed, which differ from those once written.
"""
