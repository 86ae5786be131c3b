"""Setting one price in a text leaves every other character, and refuses where it cannot."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.policy.change.rewriting import CannotEdit
from gateway.policy.positions import parse
from gateway.policy.pricing.editing import priced
from governance.money import Nanodollars
from tests.support.policy_texts import EXAMPLE, KEYS, SMALL, read

TEXT = EXAMPLE.read_text("utf-8")
DAY = date(2027, 1, 1)
RATES = {"input": Nanodollars.parse("12"), "output": Nanodollars.parse("60.5")}
NEW = "{input: 12.00, output: 60.50}"


def block(price: str) -> str:
    return SMALL.replace(
        "  - {name: large, provider: engine, model: big, tier: cloud, price: {input: 1, output: 2.50}}\n",
        f"  - name: large\n    provider: engine\n    model: big\n    price:{price}    tier: cloud\n",
    )


def test_only_the_price_of_the_model_changes() -> None:
    old = "{input: 15.00, cached_input: 1.50, cache_write: 18.75, output: 75.00}"
    assert priced(TEXT, "opus", RATES) == TEXT.replace(old, NEW)
    assert priced(SMALL, "large", RATES) == SMALL.replace("{input: 1, output: 2.50}", NEW)


def test_the_word_list_becomes_a_price() -> None:
    edited = priced(TEXT, "gpt", RATES)
    assert edited == TEXT.replace("tier: standard, price: list", f"tier: standard, price: {NEW}")
    assert read(edited, KEYS).prices["gpt"].output.usd == "60.50"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_price_in_lines_of_its_own_is_replaced_and_what_follows_stays(ending: str, mark: str) -> None:
    text = (mark + block("\n      input: 1\n      output: 2  # dear\n\n    # whose?\n")).replace("\n", ending)
    new = (mark + block(f"\n      {NEW}  # dear\n\n    # whose?\n")).replace("\n", ending)
    assert priced(text, "large", RATES) == new


def test_a_later_price_follows_those_before() -> None:
    edited = priced(SMALL, "large", RATES, DAY)
    later = "{input: 12.00, output: 60.50, from: 2027-01-01}"
    assert f"price: [{{input: 1, output: 2.50}}, {later}]}}" in edited
    again = priced(edited, "large", {**RATES, "output": Nanodollars.parse("7")}, DAY)
    assert "price: [{input: 1, output: 2.50}, {input: 12.00, output: 7.00, from: 2027-01-01}]}" in again
    assert len(read(again).document.models[1].stated_prices) == 2


@pytest.mark.parametrize(
    ("text", "model", "since", "why"),
    [
        (SMALL, "absent", None, "has no model 'absent'"),
        (SMALL, "small", DAY, "its price is 'measured' until then"),
        (block("\n      input: 1  # each\n      output: 2\n"), "large", None, "has comments in it"),
        (
            SMALL.replace("price: measured", "price: &p {input: 1, output: 1}").replace(
                "price: {input: 1, output: 2.50}", "price: *p"
            ),
            "large",
            None,
            "is shared with other parts",
        ),
    ],
)
def test_what_cannot_be_edited_alone_is_refused(text: str, model: str, since: date | None, why: str) -> None:
    with pytest.raises(CannotEdit, match=why):
        priced(text, model, RATES, since)


@given(
    st.dictionaries(
        st.sampled_from(["output", "cached_input", "tool_run", "audio_input"]),
        st.integers(0, 10**13).map(Nanodollars),
        min_size=1,
    )
)
def test_what_was_set_is_what_is_read(rates: dict[str, Nanodollars]) -> None:
    told = {"input": Nanodollars(1), **RATES, **rates}
    stated = read(priced(TEXT, "opus", told), KEYS).prices["opus"].rates
    assert {name: rate for name, rate in stated.items() if rate is not None} == told
    assert parse(priced(TEXT, "opus", told)).faults == []
