"""Say equal requests with equal bytes in front: tools in the order they were first met, top-level fields in one order.

Nothing else is touched: not what a tool says, nor the order of messages or of a schema's properties.
"""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

_FIRST: Final = ("model", "tools", "tool_choice", "parallel_tool_calls", "response_format", "messages")
"""The top-level fields that a prompt is made of, before those that change from request to request."""

_MOST: Final = 8_192


def stable(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body whose top-level fields are in one order, whatever order they came in."""
    rest = sorted(name for name in body if name not in _FIRST)
    return {name: body[name] for name in (*_FIRST, *rest) if name in body}


class ToolOrders:
    """The order in which each tenant first named a set of tools; sets not met for longest are forgotten first."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._first: OrderedDict[bytes, tuple[bytes, ...]] = OrderedDict()

    def order(self, salt: bytes, tools: Sequence[bytes]) -> list[int]:
        """Return the places of tools, in the order in which the same set of them was first met.

        Args:
            salt: Whose they are.
            tools: Each tool in bytes.
        """
        names = [sha256(tool).digest() for tool in tools]
        members = sha256(sha256(salt).digest() + b"".join(sorted(names))).digest()
        first = self._first.get(members)
        if first is None:
            self._first[members] = tuple(names)
            if len(self._first) > self._most:
                self._first.popitem(last=False)
            return list(range(len(tools)))
        self._first.move_to_end(members)
        places: dict[bytes, list[int]] = {}
        for place, name in enumerate(names):
            places.setdefault(name, []).append(place)
        return [places[name].pop(0) for name in first]
