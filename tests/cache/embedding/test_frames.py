"""What an embedding and its process say to each other."""

import asyncio
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.embedding.frames import (
    BadFrame,
    Failed,
    Message,
    Ready,
    Texts,
    Vectors,
    next_frame,
    read_frame,
    write_frame,
)

MESSAGES = st.one_of(
    st.builds(Ready, st.integers(0, 1 << 20)),
    st.builds(Texts, st.lists(st.text(), max_size=5).map(tuple)),
    st.builds(Vectors, st.binary()),
    st.builds(Failed, st.text()),
)


@given(st.lists(MESSAGES, max_size=5))
async def test_messages_come_out_as_they_went_in(messages: list[Message]) -> None:
    wire = b"".join(map(write_frame, messages))
    stream, reader = BytesIO(wire), asyncio.StreamReader()
    reader.feed_data(wire)
    reader.feed_eof()
    assert [next_frame(stream) for _ in messages] == messages
    assert next_frame(stream) is None
    assert [await read_frame(reader) for _ in messages] == messages
    with pytest.raises(asyncio.IncompleteReadError):
        await read_frame(reader)


@pytest.mark.parametrize("noise", [b"\xff" * 8, b"\0\0\0\2{}", b"\0\0\0\4\0\0"])
def test_noise_is_no_message(noise: bytes) -> None:
    with pytest.raises(BadFrame):
        next_frame(BytesIO(noise))
