"""A limit on guesses: five a minute from each address."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from governance.errors import TooManyGuesses

_GUESSES: Final = 5
_GUESS_SECONDS: Final = 60.0
_ADDRESSES: Final = 10_000  # remembered at most; the longest quiet one is forgotten first


@dataclass(slots=True)
class Throttle:
    """Allow each address five guesses a minute."""

    clock: Callable[[], float]
    _since: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict[str, tuple[float, int]])

    def guess(self, address: str) -> None:
        """Count one guess.

        Raises:
            TooManyGuesses: when the address has none left in this minute.
        """
        now = self.clock()
        since, guesses = self._since.pop(address, (now, 0))
        if now - since >= _GUESS_SECONDS:
            since, guesses = now, 0
        self._since[address] = (since, min(guesses + 1, _GUESSES + 1))
        while len(self._since) > _ADDRESSES:
            self._since.popitem(last=False)
        if guesses >= _GUESSES:
            raise TooManyGuesses(since + _GUESS_SECONDS - now)

    def forget(self, address: str) -> None:
        """Start afresh for an address that knew the key."""
        self._since.pop(address, None)
