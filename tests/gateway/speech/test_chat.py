"""What a client of Chat Completions hears."""

import msgspec

from gateway.providers.upstream import Chunk
from gateway.speech.chat import ChatSpeech


def test_a_chunk_of_its_own_dialect_goes_out_as_it_came() -> None:
    payload = b'{"choices": [{"index": 0, "delta":  {"content": "\xc3\xa9"}}]}'

    said = ChatSpeech(usage=True).piece(Chunk(payload, msgspec.json.decode(payload)))

    assert said == b"data: " + payload + b"\n\n"


def test_the_usage_so_far_is_ours_alone() -> None:
    value = {"choices": [{"index": 0, "delta": {"content": "a"}}], "usage": {"prompt_tokens": 5}}

    said = ChatSpeech(usage=True).piece(Chunk(msgspec.json.encode(value), value))

    assert msgspec.json.decode(said.removeprefix(b"data: ")) == {"choices": value["choices"]}


def test_an_event_of_another_dialect_is_told_in_its_own_words_or_not_at_all() -> None:
    speech = ChatSpeech(usage=False)

    assert speech.piece(Chunk(b'{"type":"ping"}', {}, "messages")) == b""
    assert b'"content":"a"' in speech.piece(Chunk(b"{}", {"choices": [{"delta": {"content": "a"}}]}, "messages"))
