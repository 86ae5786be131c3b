"""What has been purged lately, so that an answer that was on its way meanwhile is not kept when it comes."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cache.stores import Stored

_MOST: Final = 4_096


class Purges:
    """The latest purges by their tags, the oldest of too many forgotten first."""

    def __init__(self) -> None:
        """Begin with none."""
        self._before: OrderedDict[str, float] = OrderedDict()

    def add(self, tag: str, before: float) -> None:
        """Note that answers with this tag are purged up to that instant."""
        self._before[tag] = max(before, self._before.pop(tag, before))
        if len(self._before) > _MOST:
            self._before.popitem(last=False)

    def cover(self, stored: Stored) -> bool:
        """Say whether an answer is among what was purged."""
        if not self._before:
            return False
        return any(stored.created <= self._before.get(tag, float("-inf")) for tag in stored.tags)
