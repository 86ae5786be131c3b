"""Faults that others have published about tokens and their prices; each test is named for what is right."""

from typing import Any

import msgspec
import pytest

from tests.support.polyglot import DIALECTS, PATHS, Polyglot
from tests.support.providers.answer import Answer, Prompt, Tokens
from tests.support.providers.gateways import WRITES, cost
from tests.support.providers.script import Script

CACHED = Answer(thoughts=("Hm",), prompt=Prompt(fresh=100, read=800))

HEARD: dict[str, list[dict[str, Any]]] = {
    "sound": [
        {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]},
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 100,
                "completion_tokens": 1,
                "total_tokens": 101,
                "prompt_tokens_details": {"cached_tokens": 60, "audio_tokens": 70, "cached_audio_tokens": 50},
            },
        },
    ],
    "sound-gemini": [
        {
            "candidates": [{"content": {"parts": [{"text": "Hi"}], "role": "model"}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 1,
                "totalTokenCount": 101,
                "promptTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 30},
                    {"modality": "AUDIO", "tokenCount": 70},
                ],
                "cacheTokensDetails": [
                    {"modality": "TEXT", "tokenCount": 10},
                    {"modality": "AUDIO", "tokenCount": 50},
                ],
            },
        },
    ],
}
"""Answers to 30 tokens of text, 10 of them cached, and 70 of sound, 50 of them cached."""


async def paid(shop: Polyglot, model: str, script: Script, **asked: Any) -> tuple[int, Tokens]:
    """Return what a request was booked at in nano-dollars, exactly, and what it truly used."""
    shop.fake.script = script
    reply = await shop.ask(model, **asked)
    assert reply.status_code == 200, reply.text
    found = await shop.booked(reply)
    assert not found.request.estimated
    assert sum(attempt.cost.nanos for attempt in found.attempts) == found.request.cost.nanos
    return found.request.cost.nanos, shop.fake.last.tokens


@pytest.mark.parametrize("path", PATHS)
async def test_cached_tokens_of_gemini_are_counted_once(shop: Polyglot, path: str) -> None:
    """BerriAI/litellm 14849: they are within the prompt, and were added to it: four times too dear."""
    booked, _ = await paid(shop, "gemini", Script(answer=CACHED), path=path)

    assert booked == 100 * 3000 + 800 * 300 + 5 * 15000


@pytest.mark.parametrize("model", DIALECTS)
async def test_cached_tokens_have_their_own_price_whether_streamed_or_not(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 6215, 11364, 11789: it is wrong, or wrong in streams; 37485, 39088: streams lose the tokens."""
    streamed, used = await paid(shop, model, Script(answer=CACHED), stream=True)
    plain, _ = await paid(shop, model, Script(answer=CACHED), stream=False)

    assert streamed == plain == cost(used).nanos


@pytest.mark.parametrize("model", sorted(WRITES & set(DIALECTS)))
async def test_tokens_written_to_a_cache_are_priced_as_such(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 34497: those of Bedrock are dropped."""
    prompt = Prompt(fresh=10, read=20, written=30, written_1h=40)
    for stream in (True, False):
        booked, used = await paid(shop, model, Script(answer=Answer(prompt=prompt)), stream=stream)
        assert booked == cost(used).nanos, stream


async def test_a_price_of_ones_own_is_applied_once_and_is_named_in_the_attempt(shop: Polyglot) -> None:
    """BerriAI/litellm 40006, 40016: it is applied twice."""
    reply = await shop.ask("own")
    (attempt,) = (await shop.booked(reply)).attempts

    assert (attempt.cost.nanos, attempt.price_source) == (12 * 1000 + 4 * 2000, "policy")


@pytest.mark.parametrize("model", DIALECTS)
async def test_a_class_without_a_rate_costs_what_its_like_costs_and_is_never_free(shop: Polyglot, model: str) -> None:
    """maximhq/bifrost 904, 3451: tokens of a cache without a rate are free."""
    shop.fake.script = Script(answer=CACHED)
    (attempt,) = (await shop.booked(await shop.ask(f"{model}-bare"))).attempts

    assert attempt.cost.nanos == 900 * 3000 + 5 * 15000
    assert "no rate for cache_read" in attempt.price_source


@pytest.mark.parametrize(("read", "nanos"), [(999, 3000 + 999 * 300 + 60_000), (1000, 6000 + 1000 * 300 + 90_000)])
async def test_a_long_prompt_is_billed_at_its_tier_cached_tokens_included(
    shop: Polyglot, read: int, nanos: int
) -> None:
    """maximhq/bifrost 1872, 5243: the tier of a long context is not applied, or not to what is cached."""
    booked, _ = await paid(shop, "long", Script(answer=Answer(prompt=Prompt(fresh=1, read=read))))

    assert booked == nanos


async def test_a_price_holds_from_its_day_and_not_before(shop: Polyglot) -> None:
    """BerriAI/litellm 626: the list of prices lags behind the provider."""
    booked, _ = await paid(shop, "rising", Script())

    assert booked == 12 * 7000 + 4 * 8000


@pytest.mark.parametrize("model", HEARD)
async def test_sound_that_came_from_a_cache_has_its_own_price(shop: Polyglot, model: str) -> None:
    """langwatch/langwatch 7048: it is charged as if it were fresh."""
    body = b"".join(b"data: " + msgspec.json.encode(event) + b"\n\n" for event in HEARD[model])
    booked, _ = await paid(shop, model, Script(body=body))

    assert booked == 20 * 3000 + 10 * 300 + 20 * 40_000 + 50 * 4000 + 15000


@pytest.mark.parametrize("path", PATHS)
async def test_a_model_of_which_nobody_knows_the_price_is_not_called_at_all(shop: Polyglot, path: str) -> None:
    """BerriAI/litellm 37110, Agenta-AI/agenta 7076, onyx 14478: it costs nothing, and budgets go blind."""
    reply = await shop.ask("gpt-of-next-year", path)

    assert reply.status_code >= 400
    assert shop.fake.served == []
