"""Write the price of one model into the text of a policy, and leave every other character as it was.

The edit is proved before anyone sees it: the new text must read as the old one does but for that price.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from gateway.policy.positions import parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from governance.money import Nanodollars


class CannotEdit(Exception):
    """The price stands in the text in a way that an edit would break."""


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
    data: dict[str, Any] = _data(text)
    models: list[Any] = data.get("models", [])
    index = next((n for n, one in enumerate(models) if one["name"] == model), None)
    if index is None:
        raise CannotEdit(f"the policy has no model {model!r}")
    written: dict[str, str] = {name: rate.usd for name, rate in rates.items()}
    price = _flow(written) if since is None else _dated(models[index]["price"], written, since)
    start, end = _place(text, index)
    if "#" in text[start:end]:
        raise CannotEdit(f"the price of {model!r} has comments in it, which would be lost")
    edited = f"{text[:start]}{price}{text[end:]}"
    models[index] |= _data(f"price: {price}\n")
    after = parse(edited)
    if after.faults or after.data != data:
        raise CannotEdit(f"the price of {model!r} is shared with other parts of the policy")
    return edited


def _data(text: str) -> dict[str, Any]:
    data: Any = parse(text).data
    return data


def _dated(before: object, rates: Mapping[str, str], since: date) -> str:
    """Write the prices that are stated and a new one behind them."""
    stated = [before] if isinstance(before, dict) else before
    if not isinstance(stated, list):
        raise CannotEdit(f"its price is {before!r} until then, which cannot stand beside prices with dates")
    kept = [entry for entry in stated if entry.get("from") != since.isoformat()]
    return f"[{', '.join(_flow(entry) for entry in [*kept, {**rates, 'from': since.isoformat()}])}]"


def _flow(part: object) -> str:
    """Write plain data as YAML on one line; a price has no texts that need quotes."""
    if isinstance(part, dict):
        return f"{{{', '.join(f'{name}: {_flow(value)}' for name, value in part.items())}}}"
    if isinstance(part, list):
        return f"[{', '.join(map(_flow, part))}]"
    return str(part)


def _place(text: str, index: int) -> tuple[int, int]:
    """Find where the price of a model begins and ends, in characters."""
    shift = 1 if text.startswith("\ufeff") else 0
    root = yaml.compose(text[shift:], Loader=yaml.SafeLoader)
    model = _value(root, "models").value[index]
    price = _value(model, "price")
    return price.start_mark.index + shift, _end(price) + shift


def _value(node: Any, name: str) -> Any:
    return next(value for key, value in node.value if key.value == name)


def _end(node: Any) -> int:
    """Return the end of what is written; a block ends with its last part, and not with the space behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)
