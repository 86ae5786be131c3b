"""A conversation stays with the deployment that keeps it, as long as that is well and worth it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.polyglot import Polyglot, polyglot, sold
from tests.support.providers.keeping import KeepingProvider
from tests.support.providers.script import Script

PRICE: Final = {"input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15}
RULES: Final = "You know every rule of the house. " * 600


@asynccontextmanager
async def twins(folder: Path, other: dict[str, Any] | None = None, **changes: Any) -> AsyncGenerator[Polyglot]:
    """Serve a model with two deployments, the second perhaps at another price."""
    models = (
        sold("claude", "messages", model="claude-sonnet-4-5-a", price=PRICE),
        sold("twin", "messages", model="claude-sonnet-4-5-b", price=PRICE | (other or {}), same_as="claude"),
    )
    cache = {"prefix": {"affinity": "auto"}}
    async with polyglot(folder, models=models, fake=KeepingProvider(), **{"cache": cache} | changes) as found:
        yield found


def turns(name: str, count: int, rules: str = "") -> list[dict[str, Any]]:
    said = [{"role": "system", "content": (rules or name) + RULES}, {"role": "user", "content": f"{name} 0"}]
    for turn in range(1, count):
        said += [{"role": "assistant", "content": "Hello"}, {"role": "user", "content": f"{name} {turn}"}]
    return said


async def ask(shop: Polyglot, name: str, count: int, rules: str = "") -> str:
    reply = await shop.ask("claude", messages=turns(name, count, rules))
    assert reply.status_code == 200, reply.text
    return reply.headers["x-sluice-model"]


@pytest.mark.parametrize("balance", ["cheapest", "least_busy"])
async def test_conversations_are_spread_and_each_stays_where_it_began(tmp_path: Path, balance: str) -> None:
    async with twins(tmp_path, reliability={"retries": 0, "balance": balance}) as shop:
        began = {name: await ask(shop, name, 1) for name in "abcdefgh"}
        for count in (2, 3):
            for name, model in began.items():
                assert await ask(shop, name, count) == model
    assert set(began.values()) == {"claude", "twin"}


async def test_conversations_that_share_a_start_share_a_deployment_that_has_it(tmp_path: Path) -> None:
    async with twins(tmp_path) as shop:
        assert len({await ask(shop, name, 1, "the same") for name in "abcdefgh"}) == 1


async def test_a_deployment_that_is_full_is_left_at_once_and_for_as_long_as_the_other_keeps_the_prefix(
    tmp_path: Path,
) -> None:
    async with twins(tmp_path) as shop:
        first = await ask(shop, "a", 1)
        shop.fake.scripts.append(Script(status=529))
        moved = await ask(shop, "a", 2)
        assert moved != first
        assert [await ask(shop, "a", count) for count in (3, 4)] == [moved, moved]


async def test_a_prefix_is_worth_no_more_than_it_saves(tmp_path: Path) -> None:
    for factor, stays in ((1.5, True), (20, False)):
        dear = {name: round(rate * factor, 4) for name, rate in PRICE.items()}
        folder = tmp_path / str(factor)
        folder.mkdir()
        async with twins(folder, dear) as shop:
            assert await ask(shop, "a", 1) == "claude"
            shop.fake.scripts.append(Script(status=529))
            assert await ask(shop, "a", 2) == "twin"
            assert await ask(shop, "a", 3) == ("twin" if stays else "claude")


async def test_a_zone_comes_before_a_prefix(tmp_path: Path) -> None:
    async with twins(tmp_path) as shop:
        began = {name: await ask(shop, name, 1) for name in "abcd"}
        for name in began:
            reply = await shop.ask("claude", messages=turns(name, 2), headers={"x-sluice-zone": "onprem"})
            assert reply.status_code != 200


async def test_without_the_section_deployments_go_by_the_policy_alone(tmp_path: Path) -> None:
    async with twins(tmp_path, cache={}) as shop:
        assert {await ask(shop, name, 1) for name in "abcdefgh"} == {"claude"}


async def test_a_session_stays_whatever_it_asks(tmp_path: Path) -> None:
    teams = [{"name": "blue", "apps": [{"name": "bot", "headers": ["session"]}]}]
    async with twins(tmp_path, teams=teams) as shop:
        served: dict[str, set[str]] = {}
        for asked in range(3):
            for session in "abcdef":
                told = turns(f"{session}{asked}", 1)
                reply = await shop.ask("claude", messages=told, headers={"x-sluice-session": session})
                served.setdefault(session, set()).add(reply.headers["x-sluice-model"])
    assert [len(models) for models in served.values()] == [1] * 6
    assert set.union(*served.values()) == {"claude", "twin"}
