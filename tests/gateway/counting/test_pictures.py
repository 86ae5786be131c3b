"""What a picture probably counts for, by its size and its model, and how its size is found."""

import struct
from base64 import b64encode
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.counting.picture_sizes import size_of
from gateway.counting.pictures import Picture, likely_picture_tokens, picture_of


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x06\x00\x00\x00"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x00\x00\x00"


def jpeg(width: int, height: int) -> bytes:
    profile = b"\xff\xe2" + struct.pack(">H", 60_000) + b"\xff\xd8" * 29_999
    tables = b"\xff\xdb" + struct.pack(">H", 67) + bytes(65) + b"\xff\xc4" + struct.pack(">H", 4) + bytes(2)
    frame = b"\xff\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)
    return b"\xff\xd8" + profile + tables + frame


def webp(kind: bytes, rest: bytes) -> bytes:
    return b"RIFF" + bytes(4) + b"WEBP" + kind + bytes(4) + rest


def lossy(width: int, height: int) -> bytes:
    return webp(b"VP8 ", b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height))


def lossless(width: int, height: int) -> bytes:
    return webp(b"VP8L", b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14))


def extended(width: int, height: int) -> bytes:
    return webp(b"VP8X", bytes(4) + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"))


def url(file: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{b64encode(file).decode()}"


@pytest.mark.parametrize("make", [png, gif, jpeg, lossy, lossless, extended])
def test_the_size_is_read_from_the_first_bytes_of_a_file_whatever_it_is_called(
    make: Callable[[int, int], bytes],
) -> None:
    assert size_of(url(make(1234, 567), "image/x")) == (1234, 567)


@pytest.mark.parametrize(
    "given_url",
    [
        "https://example.com/cat.png",
        "data:image/png,raw",
        "data:image/png;base64,",
        "data:image/png;base64,!!!!",
        "data:image/png;base64,ü",
        url(png(0, 5)),
        url(png(5, 5)[:20]),
        url(b"\xff\xd8\xff\xe0\x00"),
        url(b"\xff\xd8" + b"\xff" * 100),
        url(b"BM" + bytes(100)),
        url(webp(b"ANIM", bytes(30))),
    ],
)
def test_what_is_not_understood_has_no_size(given_url: str) -> None:
    assert size_of(given_url) is None


@given(st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF0000WEBPVP8 ", b""]), st.binary())
def test_no_file_can_raise(start: bytes, rest: bytes) -> None:
    size = size_of(url(start + rest))

    assert size is None or min(size) > 0


@pytest.mark.parametrize(
    ("model", "width", "height", "tokens"),
    [
        ("gpt-4o", 1024, 1024, 765),
        ("gpt-4o", 2048, 4096, 1105),
        ("openai/gpt-4.1-2025-04-14", 512, 512, 255),
        ("gpt-4o-mini", 1024, 1024, 25_501),
        ("gpt-5", 1024, 1024, 630),
        ("o3", 1024, 1024, 675),
        ("gpt-4.1-mini", 1024, 1024, 1659),
        ("o4-mini", 1800, 2400, 2642),
        ("claude-sonnet-4-5", 1000, 1000, 1296),
        ("anthropic.claude-opus-4-1-v1:0", 8000, 6000, 1568),
        ("claude-opus-4-7", 2000, 1500, 3888),
        ("gemini-2.5-flash", 300, 300, 258),
        ("gemini-2.5-flash", 960, 540, 1548),
        ("google/gemini-3-pro", 960, 540, 1120),
        ("Qwen/Qwen2.5-VL-7B-Instruct", 1024, 1024, 1369),
    ],
)
def test_each_family_of_models_reckons_as_its_maker_publishes(model: str, width: int, height: int, tokens: int) -> None:
    assert likely_picture_tokens(model, Picture(width, height)) == pytest.approx(tokens, rel=0.02)


def test_a_picture_looked_at_in_low_detail_counts_for_little() -> None:
    picture = picture_of({"url": url(png(4000, 4000)), "detail": "low"})

    assert likely_picture_tokens("gpt-4o", picture) == 85


@pytest.mark.parametrize("part", [{"url": "https://x/y.png"}, "https://x/y.png", {"url": 5}, {}, None, 7])
def test_a_picture_of_unknown_size_is_taken_to_be_middling(part: object) -> None:
    assert picture_of(part) == Picture(1024, 1024)


@given(
    st.sampled_from(["gpt-4o", "gpt-4.1-nano", "gpt-5-mini", "claude-3", "claude-opus-4-7", "gemini-2.0", "llava", ""]),
    st.integers(1, 1 << 31),
    st.integers(1, 1 << 31),
)
def test_no_picture_counts_for_nothing_or_without_bound(model: str, width: int, height: int) -> None:
    assert 1 <= likely_picture_tokens(model, Picture(width, height)) <= 60_000
