"""What is found of sensitive text, measured on texts made for it, half of which no detector was tuned on."""

import json
from base64 import b64encode
from collections import Counter
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.sensitivity import KINDS, Finding, Kind, detect, redacted, texts_of, unread_of
from tests.support.benign import BENIGN, benign
from tests.support.planted import HALVES, MAKERS, PLANTED, planted

LEAST: dict[Kind, float] = {
    "card": 0.97,
    "iban": 0.95,
    "email": 0.97,
    "phone": 0.95,
    "national_id": 0.95,
    "secret": 0.97,
    "private_key": 0.99,
}
MOST_FALSE = 0.005


@pytest.mark.parametrize("half", HALVES)
def test_planted_text_of_every_kind_is_found_in_every_field_and_encoding(half: str) -> None:
    seen, found = Counter[Kind](), Counter[Kind]()
    for one in planted(half):
        seen[one.kind] += 1
        found[one.kind] += any(hit.kind == one.kind for _, text in texts_of(one.body) for hit in detect(text, KINDS))
    assert sum(seen.values()) == PLANTED
    assert {kind: found[kind] / seen[kind] >= least for kind, least in LEAST.items()} == dict.fromkeys(LEAST, True), (
        found
    )


@pytest.mark.parametrize("half", HALVES)
def test_texts_that_only_look_sensitive_are_left_alone(half: str) -> None:
    wrong = [(name, text) for name, text in benign(half) if detect(text, KINDS)]
    assert len(wrong) <= MOST_FALSE * BENIGN, wrong


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_found_is_where_it_was_put(kind: Kind) -> None:
    value = MAKERS[kind](Random(8))
    text = f"Identity number, card, 号码: {value} bitte"
    (hit,) = detect(text, [kind])
    assert text[hit.start : hit.end] in value
    assert value.endswith(text[hit.start : hit.end])


def test_only_what_is_asked_for_is_told() -> None:
    text = "bob@acme.io, +44 20 7946 0958"
    assert [one.kind for one in detect(text, ["phone"])] == ["phone"]
    assert detect(text, []) == ()


@pytest.mark.parametrize(
    "written",
    [
        "bob@acme.io",
        "bob%40acme.io",
        "bob&#64;acme.io",
        r"bob\u0040acme.io",
        "bob\uff20acme.io",
        "b\u200bob@ac\u200bme.io",
        "Ym9iQGFjbWUuaW8gaXMgbXkgYWRkcmVzcw==",
        "626f624061636d652e696f206973206d65",
        "bob (at) acme dot io",
    ],
)
def test_an_address_is_found_however_it_is_written_and_taken_out_of_the_text_as_it_came(written: str) -> None:
    text = f"Write to {written} !"
    found = detect(text, ["email"])
    assert redacted(text, found, lambda one: f"[{one.kind}]") == "Write to [email] !"


def test_what_is_encoded_over_and_over_is_read_to_a_depth() -> None:
    text = json.dumps(json.dumps({"mail": "bob%40acme.io"}))
    assert detect(text, ["email"])


@given(st.text(alphabet=st.sampled_from("0123456789 -+().@/%&;#xu\\aZ=:é\u200b\uff10"), max_size=400))
@settings(max_examples=300)
def test_findings_are_in_order_apart_and_inside_the_text(text: str) -> None:
    found = detect(text, KINDS)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))


@pytest.mark.parametrize(
    "unit",
    [
        "1",
        "1 ",
        "a@",
        "a.",
        "+1",
        "(1) ",
        "sk-",
        "AKIA",
        "eyJ",
        "%41",
        "&#64;",
        "password: ",
        "DE89 ",
        '{"kty"',
        "at dot ",
    ],
)
def test_no_text_takes_more_than_its_length(unit: str) -> None:
    # By count of characters alone: what grows with the square of the length would not come back at all.
    detect(unit * (200_000 // len(unit)), KINDS)


def test_every_text_of_a_request_is_read_with_its_place() -> None:
    body = {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}],
        "metadata": {"bob@acme.io": 4_111_111_111_111_111},
    }
    found = dict(texts_of(body))
    assert found["messages[0].content[0].text"] == "a"
    assert found["metadata.*"] == "bob@acme.io"
    assert found["metadata.bob@acme.io"] == "4111111111111111"


def test_what_nobody_can_read_is_named() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    text = {"type": "file", "file": {"file_data": "data:text/plain;base64,aGVsbG8="}}
    abroad = {"type": "image_url", "image_url": {"url": "https://acme.io/a.png"}}
    body = {"messages": [{"role": "user", "content": [picture, text, abroad]}]}
    places = [f"messages[0].content[{place}].image_url.url" for place in (0, 2)]
    assert list(unread_of(body)) == places
    assert ("messages[0].content[1].file.file_data", "hello") in texts_of(body)


@pytest.mark.parametrize("line", ["-----BEGIN PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----#\n"])
def test_a_key_that_begins_over_and_over_is_read_once(line: str) -> None:
    detect(line * 40_000, KINDS)


@pytest.mark.parametrize("field", ["input_audio", "source"])
def test_bytes_without_a_type_are_unread_however_few(field: str) -> None:
    part = {"type": field, field: {"data": b64encode(bytes(range(128, 188))).decode()}}
    assert list(unread_of({"messages": [{"role": "user", "content": [part]}]})) == [
        f"messages[0].content[0].{field}.data"
    ]


def test_words_in_a_field_of_that_name_are_words() -> None:
    assert list(unread_of({"metadata": {"data": "what a fine day it is, is it not?"}})) == []


def test_a_key_is_found_whatever_the_case_of_its_header() -> None:
    assert detect("authorization: bearer abcdefghij1234567890XYZ", KINDS)


def test_findings_say_what_and_where_in_their_order() -> None:
    assert min(Finding(5, 6, "card"), Finding(1, 2, "phone")).kind == "phone"
