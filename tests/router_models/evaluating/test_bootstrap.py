import numpy as np
import pytest

from router_models.evaluating.bootstrap import measure


def test_an_interval_holds_its_value_and_narrows_with_more_prompts() -> None:
    chance = np.random.default_rng(0)
    widths = list[float]()
    for size in (100, 1600):
        needs = chance.random(size).astype(np.float32)
        weak = (chance.random(size) > needs).astype(np.float32)
        found = measure(needs, weak, np.ones(size, np.float32), draws=60)
        assert found.apgr.low < found.apgr.value < found.apgr.high
        assert found.n == size
        assert set(found.quality_at_cost_share) == {f"{step / 10:g}" for step in range(1, 10)}
        widths.append(found.apgr.high - found.apgr.low)
    assert widths[1] < widths[0] / 2


def test_the_same_seed_gives_the_same_interval() -> None:
    needs = np.linspace(0, 1, 50, dtype=np.float32)
    weak = (needs < 0.6).astype(np.float32)
    once, again = (measure(needs, weak, np.ones_like(weak), draws=30, seed=4) for _ in range(2))
    assert once == again
    assert once.apgr.value == pytest.approx(0.8, abs=0.03)
