"""`on_store_error` as the ledger obeys it, to the nano-dollar."""

import pytest

from governance.errors import LedgerBehind
from governance.ledger.events import EventKind, LedgerEvent
from governance.ledger.outage import PATIENCE_S, Outage, WhenAway
from governance.money import Nanodollars
from tests.support.clocks import HandClock
from tests.support.requests import opening, usd


def away(rule: WhenAway) -> tuple[Outage, HandClock]:
    clock = HandClock()
    outage = Outage(rule, clock)
    outage.begin()
    clock.now += PATIENCE_S + 1
    return outage, clock


def held(request_id: str, nanos: int) -> LedgerEvent:
    return LedgerEvent(kind=EventKind.HELD, opening=opening(request_id), held=Nanodollars(nanos))


def settled(request_id: str, nanos: int) -> LedgerEvent:
    return LedgerEvent(kind=EventKind.SETTLED, opening=opening(request_id), cost=Nanodollars(nanos))


def lets_in(outage: Outage, nanos: int = 0, request_id: str = "new") -> bool:
    try:
        outage.admit(7, held(request_id, nanos))
    except LedgerBehind:
        return False
    return True


@pytest.mark.parametrize("rule", ["closed", "open", usd("0")])
def test_a_slow_database_is_not_away(rule: WhenAway) -> None:
    clock = HandClock()
    outage = Outage(rule, clock)
    assert lets_in(outage)
    outage.begin()
    clock.now += PATIENCE_S
    assert lets_in(outage)
    assert not outage.counts


def test_closed_refuses_until_something_is_stored() -> None:
    outage, _ = away("closed")
    assert not lets_in(outage)
    outage.begin()
    assert not lets_in(outage)
    outage.end()
    assert lets_in(outage)
    assert outage.seconds == 0


def test_open_refuses_nothing() -> None:
    outage, clock = away("open")
    clock.now += 1e6
    assert lets_in(outage, 10**18)


def test_an_allowance_is_never_passed_by_a_nano_dollar() -> None:
    outage, _ = away(Nanodollars(100))
    assert lets_in(outage, 100)
    assert not lets_in(outage, 101)
    outage.note(held("r1", 60))
    assert lets_in(outage, 40)
    assert not lets_in(outage, 41)
    assert lets_in(outage, 100, "r1")
    assert not lets_in(outage, 101, "r1")
    outage.note(settled("r1", 30))
    assert lets_in(outage, 70)
    outage.note(held("r2", 70))
    assert not lets_in(outage)
    outage.end()
    outage.begin()
    assert lets_in(outage, 100)


def test_what_began_before_the_outage_is_not_counted_against_it() -> None:
    outage, _ = away(Nanodollars(100))
    outage.note(settled("before", 1000))
    assert lets_in(outage, 100)


def test_the_refusal_says_for_how_long() -> None:
    outage, _ = away(usd("0.50"))
    with pytest.raises(LedgerBehind, match=r"away for 3 s, and the 0\.50 USD") as refused:
        outage.admit(7, held("new", 510_000_000))
    assert refused.value.queued == 7
