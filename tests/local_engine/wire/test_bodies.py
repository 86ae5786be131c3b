import contextlib
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_engine.errors import InvalidRequest
from local_engine.wire.bodies import ChatBody, CompletionBody, DetokenizeBody, EmbeddingBody, TokenizeBody, decode

MALFORMED = {
    "nothing": b"",
    "not JSON": b"{",
    "a list": b"[]",
    "not a number": b'{"messages": [], "temperature": NaN}',
    "a number beyond fp64": b'{"messages": [], "temperature": 1e999}',
    "a number beyond 64 bits": b'{"messages": [], "seed": ' + b"9" * 30 + b"}",
    "a number of 10,000 digits": b'{"messages": [], "seed": ' + b"9" * 10_000 + b"}",
    "invalid UTF-8": b'{"messages": [], "model": "\xff"}',
    "half a surrogate pair": b'{"messages": [], "model": "\\ud800"}',
    "a number as text": b'{"messages": [], "max_tokens": "1"}',
    "a truth as number": b'{"messages": [], "max_tokens": true}',
    "deep objects": b'{"messages": ' + b'[{"a":' * 100_000,
    "deep lists": b'{"messages": [{"a": ' + b"[" * 100_000,
    "a priority before all others": b'{"messages": [], "priority": -1}',
    "an empty salt": b'{"messages": [], "cache_salt": ""}',
    "no messages": b"{}",
}


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_body_is_an_invalid_request(case: str) -> None:
    with pytest.raises(InvalidRequest):
        decode(MALFORMED[case], ChatBody)


TOO_MANY = {
    "logit_bias": json.dumps({str(token): 1 for token in range(1025)}),
    "stop_token_ids": json.dumps([7] * 257),
}


@pytest.mark.parametrize("field", TOO_MANY)
def test_what_is_walked_for_every_token_is_bounded(field: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        decode(f'{{"messages": [], "{field}": {TOO_MANY[field]}}}'.encode(), ChatBody)
    assert refused.value.param == field


def test_the_field_at_fault_is_named() -> None:
    with pytest.raises(InvalidRequest, match="Expected `int") as refused:
        decode(b'{"messages": [], "max_tokens": 1.5}', ChatBody)
    assert refused.value.param == "max_tokens"


def test_null_means_not_given_and_unknown_fields_are_ignored() -> None:
    body = decode(b'{"messages": [{"role": "user", "content": "a"}], "n": null, "made_up": [1]}', ChatBody)
    assert body.n is None


@given(st.binary(max_size=80), st.sampled_from([ChatBody, CompletionBody, EmbeddingBody, TokenizeBody, DetokenizeBody]))
def test_no_bytes_raise_anything_else(data: bytes, kind: type[msgspec.Struct]) -> None:
    with contextlib.suppress(InvalidRequest):
        decode(data, kind)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([field.name for field in msgspec.structs.fields(ChatBody)]), JSON))
def test_no_json_raises_anything_else(body: dict[str, object]) -> None:
    # msgspec does not write every number that it would read
    with contextlib.suppress(InvalidRequest, OverflowError):
        decode(msgspec.json.encode(body), ChatBody)
