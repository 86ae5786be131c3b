"""What a request costs through a whole gateway: by class, by the tier of its prompt, and where no price is known."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import text

from governance.prices import RATES, Usage
from tests.support.running_gateway import POLICY, RunningGateway, running_gateway
from tests.support.scripted_upstream import ScriptedUpstream, serve

LONG = {
    "input": 3, "cached_input": 0.3, "cache_write": 3.75, "output": 15,
    "tiers": [{"above": 1000, "input": 6, "output": 22.5}],
}  # fmt: skip


@dataclass(frozen=True)
class Seller:
    """A gateway and a provider that sells tokens to it."""

    gateway: RunningGateway
    cloud: ScriptedUpstream

    async def answer(self, model: str, **usage: Any) -> None:
        """Ask a model that will report a usage."""
        choice = {"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        self.cloud.script.raw = b"data: " + msgspec.json.encode(chunk | {"usage": usage}) + b"\n\ndata: [DONE]\n\n"
        reply = await self.gateway.chat(await self.gateway.key("blue"), model=model)
        assert reply.status_code == 200, reply.text

    async def attempt(self) -> Any:
        """Return the latest attempt as the ledger has it."""
        await self.gateway.services.ledger.flush()
        async with self.gateway.database.reading() as connection:
            query = text("SELECT * FROM ledger_attempt ORDER BY id DESC LIMIT 1")
            return (await connection.execute(query)).mappings().one()


@pytest.fixture
async def seller(tmp_path: Path) -> AsyncGenerator[Seller]:
    cloud = ScriptedUpstream()
    async with serve(cloud.app()) as port:
        provider = {"kind": "openai", "zone": "cloud", "base_url": f"http://127.0.0.1:{port}/v1"}
        document = POLICY | {
            "providers": POLICY["providers"] | {"cloud": provider},
            "models": [
                *POLICY["models"],
                {"name": "far", "provider": "cloud", "model": "far-1", "tier": "cloud", "price": LONG},
                {"name": "new", "provider": "cloud", "model": "new-1", "tier": "cloud", "price": "list"},
            ],
            "unknown_model": "flag",
            "cache": {},
        }
        async with running_gateway(tmp_path, document) as gateway:
            yield Seller(gateway, cloud)


async def test_a_long_prompt_is_billed_at_its_tier_and_the_attempt_keeps_the_rates_of_the_tier(seller: Seller) -> None:
    await seller.answer("far", prompt_tokens=1000, completion_tokens=10)
    below = await seller.attempt()
    assert (below["cost_nanos"], below["price_source"]) == (3_150_000, "policy")
    await seller.answer("far", prompt_tokens=1001, completion_tokens=10, prompt_tokens_details={"cached_tokens": 1000})
    above = await seller.attempt()
    assert above["price_source"] == "policy above 1000"
    assert (above["price_input_nanos"], above["price_output_nanos"]) == (6 * 10**9, 22_500_000_000)
    # 1 fresh at 6 USD, 1000 cached at 0.3 USD, 10 out at 22.5 USD, each per million.
    assert above["cost_nanos"] == 6_000 + 300_000 + 225_000


async def test_every_class_that_is_told_is_billed_and_the_kept_rates_give_the_cost_again(seller: Seller) -> None:
    await seller.answer(
        "far",
        prompt_tokens=500,
        completion_tokens=20,
        total_tokens=550,
        prompt_tokens_details={"cached_tokens": 100, "cache_write_tokens": 200, "cache_write_1h_tokens": 50},
        completion_tokens_details={"reasoning_tokens": 25},
    )
    made = await seller.attempt()
    usage = Usage(*[made[name] for name in Usage.__struct_fields__])
    assert usage == Usage(150, 100, 200, 50, output=25, reasoning=25)
    assert made["cost_nanos"] == 150 * 3000 + 100 * 300 + 200 * 3750 + 50 * 6000 + 50 * 15000
    assert made["price_source"] == "policy; no rate for cache_write_1h"
    told = {name for name in RATES if made[f"price_{name}_nanos"] is not None}
    assert told == {"input", "cached_input", "cache_write", "output"}


async def test_a_model_that_nobody_knows_the_price_of_is_counted_as_the_dearest_and_seen(seller: Seller) -> None:
    await seller.answer("new", prompt_tokens=100, completion_tokens=10)
    made = await seller.attempt()
    assert (made["model"], made["price_source"]) == ("new", "unknown:flagged (as dear)")
    assert made["cost_nanos"] == 100 * 10_000 + 10 * 30_000
    page = (await seller.gateway.client.get("/metrics")).text
    assert 'sluice_flagged_usd_total{model="new",provider="cloud"} 0.0013' in page
