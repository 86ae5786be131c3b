"""Lines of JSON out of any pieces."""

from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from gateway.wire.jsonl import lines_of


async def read(pieces: list[bytes], most: int = 100) -> list[tuple[int, bytes | None]]:
    async def each() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    return [line async for line in lines_of(each(), most)]


@given(st.lists(st.binary(max_size=8).map(lambda text: text.replace(b"\n", b"")), max_size=8), st.data())
async def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], data: st.DataObject) -> None:
    text = b"\n".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert await read(pieces) == [(n, line) for n, line in enumerate(lines, 1) if line.strip()]


async def test_an_overlong_line_is_told_and_the_next_one_is_read() -> None:
    for pieces in ([b"a\n" + b"x" * 11 + b"\nb"], [b"a\nxxxxxxxx", b"xxxxxx", b"x" * 50, b"x\nb"]):
        assert await read(pieces, 10) == [(1, b"a"), (2, None), (3, b"b")]
    assert await read([b"x" * 11], 10) == [(1, None)]
