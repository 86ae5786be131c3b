from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.positions import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, Place, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("on", "on"),
        ("yes", "yes"),
        ("NO", "NO"),
        ("22:00", "22:00"),
        ("1:30", "1:30"),
        ("2026-11-29", "2026-11-29"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("24h", "24h"),
        (".nan", ".nan"),
        ("-.inf", "-.inf"),
        ("1e999", "1e999"),
        ("<<", "<<"),
        ("=", "="),
        ("'1'", "1"),
        ('"true"', "true"),
        ("true", True),
        ("False", False),
        ("~", None),
        ("", None),
        ("null", None),
        ("7", 7),
        ("-7", -7),
        ("010", 10),
        ("0.20", Decimal("0.20")),
        ("1e3", Decimal(1000)),
        (".5", Decimal("0.5")),
    ],
)
def test_scalars_are_read_as_yaml_1_2_reads_them(text: str, value: object) -> None:
    parsed = parse(f"a: {text}")
    assert parsed.faults == []
    assert isinstance(parsed.data, dict)
    assert (type(parsed.data["a"]), parsed.data["a"]) == (type(value), value)


def test_no_number_is_ever_a_float() -> None:
    parsed = parse("[1.5, 1e2, !!float 2, !!float 2.5]")
    assert parsed.data == [Decimal("1.5"), Decimal(100), Decimal(2), Decimal("2.5")]


def test_keys_are_text_whatever_they_look_like() -> None:
    assert parse("{100%: a, 7: b, on: c, true: d, ~: e}").data == {
        "100%": "a",
        "7": "b",
        "on": "c",
        "true": "d",
        "~": "e",
    }


def test_every_part_remembers_where_it_stood() -> None:
    parsed = parse("a:\n  - b: 1\n    c: {d: [x, y]}\n")
    assert parsed.values["a", 0, "b"] == Place(2, 8)
    assert parsed.keys["a", 0, "c"] == Place(3, 5)
    assert parsed.values["a", 0, "c", "d", 1] == Place(3, 16)
    assert parsed.place_of(("a", 0, "missing", "deeper")) == Place(2, 5)
    assert parsed.place_of(("a",), key=True) == Place(1, 1)


def test_aliases_are_expanded_and_both_uses_have_places() -> None:
    parsed = parse("a: &x {b: 1}\nc: *x\n")
    assert parsed.data == {"a": {"b": 1}, "c": {"b": 1}}
    assert parsed.values["c", "b"] == Place(1, 11)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", Place(3, 1), "given twice; the first is on line 1"),
        ("a: 1\nb: \x07\n", Place(2, 4), "0x7"),
        ("? [a]\n: 1\n", Place(1, 3), "a key that is not text"),
        ("a: !!python/object/apply:os.system [ls]\n", Place(1, 4), "a tag that is not allowed"),
        ("a: !!binary aGk=\n", Place(1, 4), "a tag that is not allowed"),
        ("a: !!int x\n", Place(1, 4), "a tag that is not allowed"),
        ("a: !!set {b}\n", Place(1, 4), "a tag that is not allowed"),
        ("a: !mine b\n", Place(1, 4), "a tag that is not allowed"),
    ],
)
def test_what_is_not_plain_yaml_is_a_fault_with_a_place(text: str, place: Place, message: str) -> None:
    (fault,) = parse(text).faults
    assert fault.place == place
    assert message in fault.message


def test_all_faults_of_well_formed_yaml_are_told() -> None:
    faults = parse("a: 1\na: 2\nb: !x 1\nc: {d: 1, d: 2}\n").faults
    assert [(fault.place.line, fault.path) for fault in faults] == [(2, ("a",)), (3, ("b",)), (4, ("c", "d"))]


@pytest.mark.parametrize(
    "bomb",
    [
        "a: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(f"{n}: &{n} [{','.join([f'*{m}'] * 9)}]\n" for m, n in zip("abcdefgh", "bcdefghi", strict=True)),
        "a: &a [*a]\n",
        "[" * 5_000,
        "[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2),
        "".join(f"{'- ' * (MAX_DEPTH + 3)}x\n"),
        "[" + "1," * (MAX_NODES + 1) + "]",
        "x" * (MAX_CHARACTERS + 1),
    ],
    ids=["laughs", "itself", "open", "deep flow", "deep block", "wide", "long"],
)
def test_documents_made_to_exhaust_us_are_refused(bomb: str) -> None:
    (fault,) = parse(bomb).faults
    assert "too large or too deep" in fault.message or "more than" in fault.message or "longer than" in fault.message


def test_an_empty_document_is_an_empty_policy() -> None:
    assert parse("").data == parse("# nothing\n").data == {}


@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!#'\"|>%@`,? \n\t0.\\"), max_size=60))
def test_any_text_is_read_or_found_at_fault(text: str) -> None:
    parsed = parse(text)
    assert parsed.faults or parsed.values or parsed.data == {}
