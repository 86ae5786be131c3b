"""Prices: from tokens to money, with one rounding.

`usage.py` counts tokens in classes that do not overlap; `price.py` has a rate for each and makes the cost of them.
Where a price comes from: `book.py` is the public price book, `measured.py` a machine of our own, and `tariff.py` says
which price holds when, for which service, and at what discount. Nothing here guesses: an unknown model has no price.
"""

from governance.prices.measured import measured_price
from governance.prices.price import DEAREST, RATES, Price, billed, cost_of, scaled, spared_by_cache, worst_case
from governance.prices.tariff import Service, Tariff
from governance.prices.usage import INPUT, OUTPUT, TEXT, Usage

__all__ = (
    "DEAREST",
    "INPUT",
    "OUTPUT",
    "RATES",
    "TEXT",
    "Price",
    "Service",
    "Tariff",
    "Usage",
    "billed",
    "cost_of",
    "measured_price",
    "scaled",
    "spared_by_cache",
    "worst_case",
)
