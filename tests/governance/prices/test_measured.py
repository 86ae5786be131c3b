"""A machine of our own is never free."""

import pytest

from governance.money import ZERO, Nanodollars
from governance.prices import measured_price


def usd(text: str) -> Nanodollars:
    return Nanodollars.parse(text)


def test_a_machine_is_priced_by_its_time() -> None:
    price = measured_price(usd("3.60"), prefill_tps=1000.0, decode_tps=10.0)
    assert price.input == usd("1")
    assert price.output == usd("100")
    assert price.cached_input == ZERO
    assert price.source == "measured:prefill=1000.0/s decode=10.0/s @3.60 USD/h"


@pytest.mark.parametrize("rate", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rate_that_measures_nothing_is_refused(rate: float) -> None:
    with pytest.raises(ValueError, match="above zero"):
        measured_price(usd("1"), prefill_tps=rate, decode_tps=1.0)
