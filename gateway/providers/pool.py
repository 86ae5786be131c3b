"""The open providers of the policy in force, and of those before it whose requests have not ended.

Two policies that say the same of a provider share it, with its connections and what is known of its health. One that
no policy names any more is closed when the last request under the last such policy is done.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final, Self

from structlog.typing import FilteringBoundLogger

from gateway.operations.rounds import rounds
from gateway.policy.document import Policy
from gateway.policy.models import Provider
from gateway.policy.reliability import Timeouts
from gateway.providers.kinds import open_upstream, way_to
from gateway.providers.upstream import Upstream

LOOK_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Said:
    """What a policy says of a provider, and why it cannot be used where it cannot."""

    name: str
    section: Provider
    timeouts: Timeouts
    absent: str | None

    @property
    def way(self) -> object:
        """All of it that opening depends on, to be compared."""
        return self.name, way_to(self.section), self.timeouts, self.absent


@dataclass(slots=True, eq=False)
class _Open:
    """A provider that is open: what is said of it, how to close it, and how many policies need it."""

    said: _Said
    upstream: Upstream
    stack: AsyncExitStack
    leases: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """The providers of one policy by name, open until the lease ends."""

    upstreams: Mapping[str, Upstream]
    held: tuple[_Open, ...] = field(default=(), repr=False)


class Providers:
    """Opens providers and looks after them; closes what is left at the end of its block.

    Args:
        engine: where the bundled engine listens.
        log: told of rounds that fail.
    """

    def __init__(self, engine: str, log: FilteringBoundLogger) -> None:
        self._engine = engine
        self._log = log
        self._open: list[_Open] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._close(list(self._open))

    async def lease(self, policy: Policy, unavailable: Mapping[str, str], look_s: float) -> Lease:
        """Return the providers of a policy, those opened that are not open yet.

        Args:
            policy: the policy.
            unavailable: providers that cannot be used, such as for want of a key, and why.
            look_s: seconds to wait for a first word of new ones; who is silent for longer is unavailable until then.
        """
        held: list[_Open] = []
        try:
            for name, section in policy.providers.items():
                wanted = _Said(name, section, policy.timeouts(name), unavailable.get(name))
                held.append(self._find(wanted) or await self._start(wanted))
                held[-1].leases += 1
            await _first_look([one.upstream for one in held if one.leases == 1], look_s)
        except BaseException:
            await self._release(held)
            raise
        return Lease({one.said.name: one.upstream for one in held}, tuple(held))

    async def end(self, lease: Lease) -> None:
        """End a lease, and close what nobody needs any more."""
        await self._release(lease.held)

    def _find(self, said: _Said) -> _Open | None:
        return next((one for one in self._open if one.said.way == said.way), None)

    async def _start(self, said: _Said) -> _Open:
        async with AsyncExitStack() as stack:
            upstream = await open_upstream(said.name, said.section, said.absent, said.timeouts, self._engine, stack)
            stack.push_async_exit(await rounds(self._log, (LOOK_S, f"provider {said.name}", upstream.refresh)))
            opened = _Open(said, upstream, stack.pop_all())
        self._open.append(opened)
        return opened

    async def _release(self, held: tuple[_Open, ...] | list[_Open]) -> None:
        for one in held:
            one.leases -= 1
        await self._close([one for one in held if not one.leases])

    async def _close(self, ended: list[_Open]) -> None:
        for one in ended:
            self._open.remove(one)
            await one.stack.aclose()


async def _first_look(fresh: list[Upstream], look_s: float) -> None:
    looks = {asyncio.create_task(upstream.refresh()) for upstream in fresh}
    if looks:
        _, late = await asyncio.wait(looks, timeout=look_s)
        for look in late:
            look.cancel()
        await asyncio.gather(*looks, return_exceptions=True)
