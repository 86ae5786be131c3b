"""What tokens cost on a machine of our own: the time that it takes over them."""

import math
from fractions import Fraction
from functools import lru_cache

from governance.money import ZERO, Nanodollars
from governance.prices.price import TOKENS_PER_PRICE, Price


@lru_cache(maxsize=256)  # a choice asks for it several times a request, and it changes with the measurement alone
def measured_price(machine_usd_per_hour: Nanodollars, prefill_tps: float, decode_tps: float) -> Price:
    """Price a model on a machine of our own by the machine time its tokens take, so that local is never free.

    Tokens read from the prefix cache cost nothing here, because the machine does not compute them.

    Args:
        machine_usd_per_hour: The amortised price of the machine.
        prefill_tps: Prompt tokens it computes in a second.
        decode_tps: Answer tokens it makes in a second.

    Raises:
        ValueError: A rate is not a finite number above zero.
    """
    if not all(math.isfinite(rate) and rate > 0 for rate in (prefill_tps, decode_tps)):
        raise ValueError(f"rates must be above zero, not {prefill_tps} and {decode_tps}")

    def per_million(rate: float) -> Nanodollars:
        return Nanodollars(math.ceil(machine_usd_per_hour.nanos * TOKENS_PER_PRICE / (3600 * Fraction(rate))))

    rates = f"prefill={prefill_tps:.1f}/s decode={decode_tps:.1f}/s"
    return Price(
        input=per_million(prefill_tps),
        output=per_million(decode_tps),
        cached_input=ZERO,
        source=f"measured:{rates} @{machine_usd_per_hour.usd} USD/h",
    )
