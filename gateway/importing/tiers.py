"""Tiers, which LiteLLM does not have: models are put into three by what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance.money import NANOS_PER_DOLLAR

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.importing.draft import Draft
    from governance.prices import Price

ECONOMY, STANDARD, FRONTIER = TIERS = ("economy", "standard", "frontier")
_PROMPT_SHARE: Final = 3
_MOST: Final = ((ECONOMY, 2 * NANOS_PER_DOLLAR), (STANDARD, 8 * NANOS_PER_DOLLAR))

RULE: Final = (
    "by the price of a million tokens, three of a prompt for one of an answer: up to 2 USD economy, up to 8 USD "
    "standard, above it frontier; without a price, economy on machines of your own and frontier elsewhere"
)
"""The rule in words."""


def tiers(draft: Draft, prices: Mapping[str, Price]) -> dict[str, str]:
    """Return the tier of each model by its name."""
    return {
        model.name: _by_price(prices[model.name])
        if model.name in prices
        else (ECONOMY if draft.providers[model.provider].zone == "onprem" else FRONTIER)
        for model in draft.models
    }


def _by_price(price: Price) -> str:
    mixed = _PROMPT_SHARE * price.input.nanos + price.output.nanos
    return next((tier for tier, most in _MOST if mixed <= most * (_PROMPT_SHARE + 1)), FRONTIER)
