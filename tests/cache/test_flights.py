import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress

import pytest

from cache.flights import LEASE_S, Flight, Flights
from cache.stores import Stored

KEY = b"k"
ANSWER = Stored(b"{}", "m", 1, {}, 0.0)


async def nothing(_: bytes) -> Stored | None:
    return None


class Elsewhere:
    """Another process that leads: it lets go, or has an answer, after so many looks."""

    def __init__(self, *, free_after: int | None = None, found_after: int | None = None) -> None:
        self.free_after = free_after
        self.found_after = found_after
        self.claims = self.looks = self.releases = 0
        self.slept = 0.0

    async def claim(self, key: bytes, seconds: float) -> bool:
        assert (key, seconds) == (KEY, LEASE_S)
        self.claims += 1
        return self.free_after is not None and self.claims > self.free_after

    async def release(self, key: bytes) -> None:
        assert key == KEY
        self.releases += 1

    async def find(self, _: bytes) -> Stored | None:
        self.looks += 1
        return ANSWER if self.found_after is not None and self.looks > self.found_after else None

    async def sleep(self, seconds: float) -> None:
        self.slept += seconds
        await asyncio.sleep(0)

    def flights(self) -> Flights:
        return Flights(self.find, self, self.sleep)


async def led(flights: Flights, ends: Callable[[Flight], Awaitable[None]]) -> Stored | None:
    """Join; when that means to lead, end the flight so."""
    async with AsyncExitStack() as stack:
        found = await flights.join(KEY, stack)
        if isinstance(found, Flight):
            await ends(found)
            return None
        return found


async def test_those_who_come_meanwhile_are_given_the_answer_of_the_first() -> None:
    flights = Flights(nothing)
    async with AsyncExitStack() as stack:
        flight = await flights.join(KEY, stack)
        assert isinstance(flight, Flight)
        waiting = [asyncio.create_task(flights.join(KEY, stack)) for _ in range(3)]
        await asyncio.sleep(0)
        flight.land(ANSWER)
        assert await asyncio.gather(*waiting) == [ANSWER] * 3
        flight.fail()  # nobody hears it
        assert isinstance(await flights.join(KEY, stack), Flight)


async def test_other_keys_do_not_wait() -> None:
    flights = Flights(nothing)
    async with AsyncExitStack() as stack:
        assert isinstance(await flights.join(b"a", stack), Flight)
        assert isinstance(await flights.join(b"b", stack), Flight)


async def test_when_the_first_fails_the_next_leads_and_the_others_wait_on() -> None:
    flights, flown = Flights(nothing), list[int]()

    async def fly(flight: Flight) -> None:
        flown.append(len(flown))
        await asyncio.sleep(0)
        if len(flown) == 3:
            flight.land(ANSWER)

    found = await asyncio.gather(*[led(flights, fly) for _ in range(10)])
    assert flown == [0, 1, 2]
    assert found.count(ANSWER) == 7


async def test_an_answer_for_nobody_else_lets_all_go_at_once() -> None:
    flights, flown = Flights(nothing), list[int]()

    async def fly(flight: Flight) -> None:
        flown.append(1)
        await asyncio.sleep(0)
        flight.land(None)

    assert await asyncio.gather(*[led(flights, fly) for _ in range(5)]) == [None] * 5
    assert len(flown) == 1


async def test_one_who_waits_no_longer_takes_nothing_from_the_others() -> None:
    flights = Flights(nothing)
    async with AsyncExitStack() as stack:
        flight = await flights.join(KEY, stack)
        assert isinstance(flight, Flight)
        one, other = (asyncio.create_task(flights.join(KEY, stack)) for _ in range(2))
        await asyncio.sleep(0)
        one.cancel()
        with suppress(asyncio.CancelledError):
            await one
        flight.land(ANSWER)
        assert await other == ANSWER


async def test_a_leader_that_is_cut_off_has_failed() -> None:
    flights = Flights(nothing)

    async def broken(_: Flight) -> None:
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError):
        await led(flights, broken)
    async with AsyncExitStack() as stack:
        assert isinstance(await flights.join(KEY, stack), Flight)


async def test_an_answer_of_another_process_is_waited_for() -> None:
    elsewhere = Elsewhere(found_after=3)
    flights = elsewhere.flights()
    async with AsyncExitStack() as stack:
        assert await flights.join(KEY, stack) == ANSWER
    assert elsewhere.releases == 0


async def test_when_another_process_lets_go_this_one_leads_and_lets_go_in_its_turn() -> None:
    elsewhere = Elsewhere(free_after=2)
    flights = elsewhere.flights()
    async with AsyncExitStack() as stack:
        assert isinstance(await flights.join(KEY, stack), Flight)
        assert elsewhere.releases == 0
    assert elsewhere.releases == 1


async def test_another_process_is_not_waited_for_longer_than_a_lease() -> None:
    elsewhere = Elsewhere()
    flights = elsewhere.flights()
    async with AsyncExitStack() as stack:
        assert isinstance(await flights.join(KEY, stack), Flight)
    assert LEASE_S <= elsewhere.slept < LEASE_S + 0.5
    assert elsewhere.releases == 0


async def test_those_of_this_process_wait_while_their_leader_waits_for_another_process() -> None:
    elsewhere = Elsewhere(found_after=2)
    flights = elsewhere.flights()
    async with AsyncExitStack() as stack:
        found = await asyncio.gather(*[flights.join(KEY, stack) for _ in range(4)])
    assert found == [ANSWER] * 4
    assert elsewhere.looks == 3


async def test_one_process_at_a_time_makes_an_answer_that_nobody_waits_for() -> None:
    assert await Flights(nothing).claim(KEY) is True
    elsewhere = Elsewhere(free_after=1)
    flights = elsewhere.flights()
    assert [await flights.claim(KEY) for _ in range(2)] == [False, True]
