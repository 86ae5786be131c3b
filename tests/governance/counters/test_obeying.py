"""A rule of `on_store_error` that changes while the counters' home is away."""

import pytest

from governance.counters import Draw
from governance.counters.guarded import GuardedCounters
from governance.errors import StoreUnavailable
from governance.money import Nanodollars
from tests.conformance.test_counters import NOW, TEAM
from tests.support.fickle_home import FickleHome


async def hold(counters: GuardedCounters, name: str, amount: int) -> None:
    await counters.hold(name, [Draw(TEAM, amount, 10)], NOW + 60)


async def test_another_rule_holds_at_once_and_what_was_spent_stays_spent() -> None:
    home = FickleHome()
    counters = GuardedCounters(home, "closed")
    home.away = True
    with pytest.raises(StoreUnavailable):
        await hold(counters, "a", 1)
    assert counters.refuses
    counters.obey("open")
    await hold(counters, "b", 60)
    assert not counters.refuses
    counters.obey(Nanodollars(100))
    await hold(counters, "c", 40)
    with pytest.raises(StoreUnavailable, match="allowance"):
        await hold(counters, "d", 1)
    counters.obey("closed")
    with pytest.raises(StoreUnavailable):
        await hold(counters, "e", 0)
