"""Faults that others have published about tokens and their prices; each is named for what is right."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.providers.answer import Answer, Prompt, Tokens
from tests.support.providers.gateways import KINDS, PRICE, WRITES, FarGateway, cost, far_gateway
from tests.support.providers.script import Script

CACHED = Answer(thoughts=("Hm",), prompt=Prompt(fresh=100, read=800))


async def paid(far: FarGateway, script: Script, *, stream: bool = True) -> tuple[int, Tokens]:
    """Return what a request was booked at in nano-dollars, and what it truly used."""
    far.fake.script, far.before = script, len(await far.gateway.rows())
    assert (await far.plain(stream=stream)).status_code == 200
    row = await far.row()
    assert not row.estimated
    return row.cost.nanos, far.fake.last.tokens


async def test_cached_tokens_of_gemini_are_counted_once(tmp_path: Path) -> None:
    """BerriAI/litellm 14849: they are within the prompt, and were added to it."""
    async with far_gateway(tmp_path, "gemini") as far:
        booked, used = await paid(far, Script(answer=CACHED))

        assert booked == cost(used).nanos == 100 * 3000 + 800 * 300 + 5 * 15000


async def test_cached_tokens_have_their_own_price_whether_streamed_or_not(far: FarGateway) -> None:
    """BerriAI/litellm 6215, 11364, 11789: the price is wrong, or wrong only in streams; 37485, 39088: they are lost."""
    streamed, used = await paid(far, Script(answer=CACHED))
    plain, _ = await paid(far, Script(answer=CACHED), stream=False)

    assert streamed == plain == cost(used).nanos


@pytest.mark.parametrize("kind", sorted(WRITES))
async def test_tokens_written_to_a_cache_are_priced_as_such(tmp_path: Path, kind: str) -> None:
    """BerriAI/litellm 34497: those of Bedrock are dropped."""
    async with far_gateway(tmp_path, kind) as far:
        booked, used = await paid(
            far, Script(answer=Answer(prompt=Prompt(fresh=10, read=20, written=30, written_1h=40)))
        )

        assert booked == cost(used).nanos == 10 * 3000 + 20 * 300 + 30 * 3750 + 40 * 6000 + 4 * 15000


async def test_a_price_of_ones_own_is_applied_once(tmp_path: Path) -> None:
    """BerriAI/litellm 40006, 40016: it is applied twice."""
    async with far_gateway(tmp_path, "chat", price={"input": 1, "output": 2}) as far:
        booked, _ = await paid(far, Script())

        assert booked == 12 * 1000 + 4 * 2000


@pytest.mark.parametrize("kind", KINDS)
async def test_a_class_without_a_rate_costs_what_its_like_costs_and_is_never_free(tmp_path: Path, kind: str) -> None:
    """maximhq/bifrost 904, 3451, 5243: tokens of a cache without a rate are free."""
    async with far_gateway(tmp_path, kind, price={"input": 3, "output": 15}) as far:
        booked, used = await paid(far, Script(answer=CACHED))

        assert booked == used.prompt.total * 3000 + used.output * 15000


async def test_the_answer_is_paid_for_beside_the_thoughts(far: FarGateway) -> None:
    """agentgateway 3228: where thoughts are told, the rest of the output is left out."""
    booked, used = await paid(far, Script(answer=Answer(thoughts=("a", "b", "c"), texts=("d", "e"))))

    assert used.output == 5
    assert booked == cost(used).nanos == 12 * 3000 + 5 * 15000


async def test_sound_that_came_from_a_cache_has_its_own_price(tmp_path: Path) -> None:
    """langwatch 7048: it is charged as if it were fresh."""
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 1,
        "total_tokens": 101,
        "prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": 70, "cached_audio_tokens": 50},
    }
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": usage},
    ]
    body = b"".join(b"data: " + msgspec.json.encode(chunk) + b"\n\n" for chunk in chunks)
    prices = PRICE | {"audio_input": 40, "cached_audio": 4}
    async with far_gateway(tmp_path, "chat", price=prices) as far:
        booked, _ = await paid(far, Script(body=body))

        assert booked == 20 * 3000 + 10 * 300 + 20 * 40_000 + 50 * 4000 + 15000


@pytest.mark.parametrize("model", ["gpt-of-next-year", "claude-that-was-retired"])
async def test_a_model_of_which_nobody_knows_the_price_is_not_free(tmp_path: Path, model: str) -> None:
    """BerriAI/litellm 37110, Agenta 7076, onyx 14478: it costs nothing, and budgets go blind."""
    async with far_gateway(tmp_path, "chat", model=model, price="list") as far:
        reply = await far.plain()

        assert reply.status_code == 503
        assert far.fake.served == []
