"""What the engine keeps for one tenant is never read, nor made quicker, for another, whatever that asks for."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from governance.ledger.reading.reports import RequestDetail, request
from local_engine.types import StepPlan
from tests.support.engine_server import TINY, app_of, hash_runner, serving
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import serve

PRICE: Final = {"input": 3, "cached_input": 0.3, "output": 15}
PROMPT: Final = "the same long instructions for everybody, word by word. " * 4


@dataclass
class House:
    """A gateway before a real engine, and the steps that the engine has made."""

    gateway: RunningGateway
    steps: list[StepPlan]

    async def ask(self, key: str, **body: Any) -> tuple[RequestDetail, int]:
        """Ask the same for one key; return what was booked, and how many tokens the engine has worked through."""
        self.steps.clear()
        asked = {"model": "tiny", "messages": [{"role": "user", "content": PROMPT}], "max_tokens": 4, "seed": 1} | body
        reply = await self.gateway.client.post("/v1/chat/completions", json=asked, headers={"x-api-key": key})
        assert reply.status_code == 200, reply.text
        await self.gateway.rows()
        found = await request(self.gateway.database, reply.headers["x-request-id"])
        assert found is not None
        return found, sum(len(chunk.tokens) for step in self.steps for chunk in step.chunks)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    steps: list[StepPlan] = []
    async with serving(hash_runner(on_step=steps.append)) as models, serve(app_of(models)) as port:
        own = {"kind": "vllm", "zone": "onprem", "base_url": f"http://127.0.0.1:{port}/v1"}
        tiny = {"name": "tiny", "provider": "own", "model": TINY, "tier": "local", "price": PRICE}
        document = POLICY | {
            "providers": POLICY["providers"] | {"own": own},
            "models": [*POLICY["models"], tiny],
            "cache": {"prefix": {}},
        }
        async with running_gateway(tmp_path, document) as gateway:
            yield House(gateway, steps)


async def test_what_was_computed_for_a_tenant_is_read_again_at_the_price_of_what_is_cached(house: House) -> None:
    red = await house.gateway.key("red", "bot")
    first, work = await house.ask(red)
    again, less = await house.ask(red)

    prompt = first.attempts[0].input_tokens
    assert prompt is not None
    assert first.request.saved.nanos == 0
    assert first.request.cost.nanos == prompt * 3000 + 4 * 15_000
    cached = work - less
    assert cached > prompt * 9 // 10
    assert again.request.cost.nanos == (prompt - cached) * 3000 + cached * 300 + 4 * 15_000
    assert again.request.saved.nanos == cached * 2700


@pytest.mark.parametrize(
    "salt", [None, "red/bot", "red/bot|", "|red/bot|", "red/bot|x", "../../red/bot|", {"red/bot|": 1}, ["red/bot|"]]
)
async def test_nothing_of_it_is_read_or_quicker_for_another_tenant_whatever_salt_that_sends(
    house: House, salt: object
) -> None:
    _, work = await house.ask(await house.gateway.key("red", "bot"))
    sent = {} if salt is None else {"cache_salt": salt}
    for team, app in (("red", "other"), ("blue", "bot")):
        other, as_much = await house.ask(await house.gateway.key(team, app), **sent)
        assert as_much == work
        assert other.request.saved.nanos == 0
        assert other.request.cost.nanos == (other.request.input_tokens or 0) * 3000 + 4 * 15_000


async def test_a_salt_of_a_callers_own_parts_its_own_prefixes_further(house: House) -> None:
    red = await house.gateway.key("red", "bot")
    work = [(await house.ask(red, cache_salt=salt))[1] for salt in ("a", "b", "a")]
    assert work[0] == work[1] > work[2]
