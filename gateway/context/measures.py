"""Add audits up by hour and feature, and write the sums down a little later.

Which tools nobody calls is known by the latest conversations of a feature, as far as this process has seen them.
"""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from gateway.operations.rounds import Round
from gateway.steps.accounts import Bought
from governance.attribution import Attribution
from governance.context.auditing import Audit
from governance.context.hours import ContextHours, Place, hour_of
from governance.database import Database
from governance.errors import StoreUnavailable
from governance.money import ZERO, Nanodollars
from governance.prices import cost_of

LATEST: Final = 200
"""Conversations of a feature that show whether a tool is ever called."""

_FEATURES: Final = 1_000
_ASIDE: Final = {"asked": 4, "system": 0, "tools": 1, "history": 2, "retrieved": 3}


WRITE_S: Final = 2.0
"""How often sums are added to those on record."""


class _Tools:
    """Which tools the latest conversations of one feature had on offer without calling them."""

    def __init__(self) -> None:
        self._latest = deque[tuple[frozenset[str], frozenset[str]]]()
        self._offered, self._idle = Counter[str](), Counter[str]()

    def met(self, offered: frozenset[str], idle: frozenset[str]) -> frozenset[str]:
        """Take note of a conversation, and name those of its tools that none of the latest has called."""
        self._latest.append((offered, idle))
        self._offered.update(offered)
        self._idle.update(idle)
        if len(self._latest) > LATEST:
            before, its = self._latest.popleft()
            self._offered.subtract(before)
            self._idle.subtract(its)
        return frozenset(name for name in idle if self._offered[name] == self._idle[name])


class Measures:
    """The sums of this process that are not yet on record."""

    def __init__(self, hours: ContextHours) -> None:
        self.hours = hours
        self._waiting: dict[Place, Counter[str]] = {}
        self._tools: OrderedDict[tuple[str, str, str], _Tools] = OrderedDict()
        self._writing = asyncio.Lock()

    def add(self, at: datetime, who: Attribution, found: Audit, made: Sequence[Bought]) -> None:
        """Add a request to its feature and hour.

        Args:
            at: when it came.
            who: whose it is.
            found: what its prompt was made of before it was cut.
            made: the calls that were made for it, the one that answered last.
        """
        feature = (who.team, who.app, who.feature)
        last = made[-1]
        spent = sum((_read_cost(bought) for bought in made), ZERO).nanos
        sent = max(1, found.tokens - last.spared.tokens)
        share = spent / sent  # what was cut is taken to be of the repeated first
        never = self._never_called(feature, found)
        sums = self._waiting.setdefault(Place(hour_of(at), *feature), Counter())
        sums.update(
            requests=1,
            turns=found.turns,
            tokens=found.tokens,
            same=found.same,
            near=found.near,
            unused=found.unused,
            idle=found.unused * len(never) // max(1, len(found.idle)),
            lead=found.lead,
            stable=found.stable,
            grown=found.grown,
            edge=found.edge,
            middle=found.middle,
            cut=last.spared.tokens,
            input_nanos=spent,
            repeated_nanos=round(share * max(0, found.repeated - last.spared.tokens)),
            unused_nanos=round(share * found.unused),
            saved_nanos=last.spared.worth(last.usage, last.price).nanos,
            **{name: found.by_role[place] for name, place in _ASIDE.items()},
        )

    async def write(self) -> None:
        """Add what waits to what is on record.

        Raises:
            StoreUnavailable: The database does not answer; what waits goes on waiting.
        """
        async with self._writing:
            part, self._waiting = self._waiting, {}
            if not part:
                return
            try:
                await self.hours.add(part)
            except BaseException:  # a write that is cut off at the end of a process as well
                for place, sums in part.items():
                    self._waiting.setdefault(place, Counter()).update(sums)
                raise

    @property
    def round(self) -> Round:
        """What is to be done again and again."""
        return (WRITE_S, "context", self.write)

    async def close(self) -> None:
        """Write down what waits, if the database answers."""
        with suppress(StoreUnavailable):
            await self.write()

    def _never_called(self, feature: tuple[str, str, str], found: Audit) -> frozenset[str]:
        if not found.offered:
            return frozenset()
        tools = self._tools.setdefault(feature, _Tools())
        self._tools.move_to_end(feature)
        while len(self._tools) > _FEATURES:
            self._tools.popitem(last=False)
        return tools.met(frozenset(found.offered), frozenset(found.idle))


def open_measures(database: Database, stack: AsyncExitStack) -> Measures:
    """Begin with none; those that wait when the stack ends are written down."""
    measures = Measures(ContextHours(database))
    stack.push_async_callback(measures.close)
    return measures


def _read_cost(bought: Bought) -> Nanodollars:
    """Return what of a call's cost was for its prompt."""
    usage = bought.usage
    if usage is None:
        return ZERO
    return cost_of(replace(usage, output=0, reasoning=0, audio_output=0, tool_runs=0), bought.price)
