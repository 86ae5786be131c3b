import json
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.canonical import IGNORED, fingerprint
from cache.errors import TooDeep

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
BODIES = st.dictionaries(st.text().filter(lambda name: name not in IGNORED), JSON, max_size=5)
FEW = st.recursive(
    st.sampled_from((None, True, False, 0, 1, 0.0, -0.0, 1.0, 0.5, "", "0", "1", "true")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=3,
)
BODY: dict[str, object] = {
    "model": "auto",
    "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
    "temperature": 1,
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}


def key(
    body: dict[str, object], partition: str = "p", model_class: str = "m", endpoint: str = "/v1/chat/completions"
) -> bytes:
    return fingerprint(body, partition=partition, model_class=model_class, endpoint=endpoint)


@given(BODIES)
def test_the_order_of_fields_does_not_matter(body: dict[str, object]) -> None:
    assert key(dict(reversed(body.items()))) == key(body)


@given(BODIES)
def test_how_the_text_was_escaped_on_the_wire_does_not_matter(body: dict[str, object]) -> None:
    escaped, plain = json.dumps(body, ensure_ascii=True), json.dumps(body, ensure_ascii=False)
    assert key(json.loads(escaped)) == key(json.loads(plain)) == key(body)


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_a_whole_number_is_the_same_with_a_point(number: int) -> None:
    assert key({"x": number}) == key({"x": float(number)})


@given(BODIES, st.sampled_from(sorted(IGNORED)), JSON)
def test_fields_that_cannot_change_the_answer_do_not_count(body: dict[str, object], name: str, value: object) -> None:
    assert key({**body, name: value}) == key(body)


@given(FEW, FEW)
def test_fingerprints_are_equal_if_and_only_if_the_values_are(one: object, other: object) -> None:
    assert (key({"x": one}) == key({"x": other})) == (_told(one) == _told(other))


def _told(value: object) -> object:
    """JSON's own notion of equality, told in another way: each value beside its type, numbers by value."""
    match value:
        case bool() | None | str():
            return type(value), value
        case list():
            return [_told(item) for item in value]
        case dict():
            return {name: _told(item) for name, item in value.items()}
        case _:
            return float, value


@pytest.mark.parametrize(
    "changed",
    [
        {"temperature": 0.5},
        {"temperature": True},
        {"temperature": "1"},
        {"temperature": None},
        {"messages": [{"role": "user", "content": "hi"}, {"role": "system", "content": "be brief"}]},
        {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi "}]},
        {"messages": [{"role": "system", "content": "be long"}, {"role": "user", "content": "hi"}]},
        {"tools": []},
        {"seed": 7},
        {"response_format": {"type": "json_object"}},
        {"a_field_of_next_year": 1},
        {"a_field_of_next_year": None},
    ],
)
def test_whatever_may_change_the_answer_counts(changed: dict[str, object]) -> None:
    assert key({**BODY, **changed}) != key(BODY)


def test_an_ignored_name_counts_below_the_top() -> None:
    assert key({"messages": [{"user": "a"}]}) != key({"messages": [{"user": "b"}]})


def test_partition_model_and_endpoint_count() -> None:
    assert len({key(BODY), key(BODY, partition="q"), key(BODY, model_class="n"), key(BODY, endpoint="/v1/x")}) == 4


def test_the_parts_of_a_fingerprint_cannot_run_into_one_another() -> None:
    assert key(BODY, partition='p","m', model_class="x") != key(BODY, partition="p", model_class='m","x')


@pytest.mark.parametrize("text", ["[1.0]", ",1.0,", '"1.0"', ":1.0}"])
def test_a_text_that_looks_like_a_number_stays_a_text(text: str) -> None:
    assert key({"x": text}) != key({"x": text.replace("1.0", "1")})
    assert key({"x": text, "y": 1.0}) == key({"x": text, "y": 1})


def test_a_body_nested_without_end_is_refused() -> None:
    body: dict[str, object] = {}
    for _ in range(5000):
        body = {"x": body}
    with pytest.raises(TooDeep):
        key(body)


@pytest.mark.parametrize("item", [b"1", b"1.0", b'"a"', b"[]", b'{"a":1.0}'])
def test_a_body_of_megabytes_does_not_hold_up_the_process(item: bytes) -> None:
    body = msgspec.json.decode(b'{"x":[%s]}' % b",".join([item] * (2_000_000 // (len(item) + 1))))
    began = time.process_time()
    key(body)
    assert time.process_time() - began < 0.5
