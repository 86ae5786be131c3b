"""Write the price of one model into the text of a policy, and leave every other character as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.policy.change.rewriting import CannotEdit, rewritten
from gateway.policy.positions import parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from governance.money import Nanodollars


def priced(text: str, model: str, rates: Mapping[str, Nanodollars], since: date | None = None) -> str:
    """Return the text of a policy with the price of one model set to rates.

    Args:
        text: A valid policy.
        model: The policy's name of the model.
        rates: USD per million tokens by the names of a price.
        since: From when they hold: they are added to the prices that the policy states. None replaces all of them.

    Raises:
        CannotEdit: There is no such model, or its price cannot be replaced without touching something else.
    """
    data: Any = parse(text).data
    models: list[Any] = data.get("models", [])
    index = next((n for n, one in enumerate(models) if one["name"] == model), None)
    if index is None:
        raise CannotEdit(f"the policy has no model {model!r}")
    written: dict[str, str] = {name: rate.usd for name, rate in rates.items()}
    price = written if since is None else _dated(models[index]["price"], written, since)
    return rewritten(text, ("models", index, "price"), price, f"the price of {model!r}")


def _dated(before: object, rates: Mapping[str, str], since: date) -> list[object]:
    """Write the prices that are stated and a new one behind them."""
    stated = [before] if isinstance(before, dict) else before
    if not isinstance(stated, list):
        raise CannotEdit(f"its price is {before!r} until then, which cannot stand beside prices with dates")
    return [
        *(entry for entry in stated if entry.get("from") != since.isoformat()),
        {**rates, "from": since.isoformat()},
    ]
