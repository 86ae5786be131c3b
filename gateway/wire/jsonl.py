"""Lines of JSON, whatever pieces they come in."""

from collections.abc import AsyncIterable, AsyncIterator


async def lines_of(pieces: AsyncIterable[bytes], most: int) -> AsyncIterator[tuple[int, bytes | None]]:
    """Yield the lines that are not blank, each with its number from 1; None in the place of an overlong one.

    Args:
        pieces: What is read, in order.
        most: The longest that a line may be, in bytes; not much more is kept in memory.
    """
    n, rest, overlong = 1, b"", False
    async for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            if overlong or line.strip():
                yield n, None if overlong or len(line) > most else line
            n, overlong = n + 1, False
        if len(rest) > most:
            rest, overlong = b"", True
    if overlong or rest.strip():
        yield n, None if overlong else rest
