"""A whole gateway that learns how its models count, and holds, guesses and tells accordingly."""

from pathlib import Path
from typing import Any

import pytest

from gateway.counting.calibration import ENOUGH
from gateway.counting.tally import Count
from gateway.operations.home import Home
from governance.confinement.confined import UNCONFINED
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.tokenized_texts import texts

LONG = " ".join(texts(8, 1))


async def ask(gateway: RunningGateway, key: str, text: str, tokens: int) -> None:
    gateway.upstream.script.prompt_tokens = tokens
    assert (await gateway.chat(key, text, model="small")).status_code == 200


async def teach(gateway: RunningGateway, key: str) -> None:
    """Have so many prompts settled as are needed, by a tokenizer that makes a token of every four bytes."""
    for number, text in enumerate(texts(ENOUGH, 2)):
        body = f"{number} {text}"
        await ask(gateway, key, body, len(body.encode()) // 4 + 8)


async def held(gateway: RunningGateway, count: int) -> int:
    (row, *_) = await gateway.rows(count)
    return row.held.nanos


async def test_what_is_held_for_a_prompt_falls_once_its_model_is_known_where_the_policy_allows_it(
    tmp_path: Path,
) -> None:
    async with running_gateway(tmp_path, policy(holds={"prompt": "calibrated"})) as gateway:
        key = await gateway.key()
        await ask(gateway, key, LONG, len(LONG.encode()) // 4)
        at_first = await held(gateway, 1)
        await teach(gateway, key)
        await ask(gateway, key, LONG + ".", len(LONG.encode()) // 4)
        later = await held(gateway, ENOUGH + 2)
        page = (await gateway.client.get("/metrics")).text

    answer = 64 * 2_000  # nano-dollars for the longest answer
    prompt = len(LONG.encode()) // 4 * 100
    assert at_first - answer > 3.5 * prompt
    assert prompt < later - answer < 2 * prompt
    assert 'sluice_token_estimate_error{model="small",quantile="0.95"} 0.' in page


async def test_a_bound_is_held_as_long_as_the_policy_says_nothing(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        await teach(gateway, key)
        await ask(gateway, key, LONG, 5)

        assert await held(gateway, ENOUGH + 1) > len(LONG.encode()) * 100


async def test_a_prompt_that_has_more_than_was_held_is_paid_for_and_seen(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, policy(holds={"prompt": "calibrated"})) as gateway:
        key = await gateway.key()
        await teach(gateway, key)
        await ask(gateway, key, LONG, len(LONG.encode()))
        (row, *_) = await gateway.rows(ENOUGH + 1)
        page = (await gateway.client.get("/metrics")).text

    assert row.input_tokens == len(LONG.encode())
    assert row.cost > row.held
    assert 'sluice_overshot_usd_total{provider="engine"}' in page


async def test_what_was_learnt_is_kept_over_a_restart(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        await teach(gateway, await gateway.key())
    assert Home(tmp_path / "home").counting.exists()
    async with running_gateway(tmp_path) as gateway:
        counting = gateway.services.in_force.governed.counting
        assert [name for name, *_ in counting.errors()] == ["small"]


async def test_an_answer_without_usage_is_booked_at_what_its_model_has_been_seen_to_count(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        key = await gateway.key()
        await teach(gateway, key)
        gateway.upstream.script.usage = False
        await ask(gateway, key, LONG, 0)
        (row, *_) = await gateway.rows(ENOUGH + 1)

    assert row.estimated
    assert row.input_tokens == pytest.approx(len(LONG.encode()) / 4, rel=0.15)


BODY: dict[str, Any] = {"messages": [{"role": "user", "content": "How long is this?"}], "temperature": 0}


async def counted(gateway: RunningGateway) -> Count:
    governed = gateway.services.in_force.governed
    return await governed.counting.count_prompt(governed.catalogue.models["small"], BODY, UNCONFINED, "req_1")


async def test_the_models_own_tokenizer_counts_where_its_provider_lends_it(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        gateway.upstream.tokens = 42

        assert await counted(gateway) == Count(42, exact=True, error=0.0, asked=True)
        assert gateway.upstream.bodies == [{"model": "smollm2-135m-instruct", "messages": BODY["messages"]}]
        assert await gateway.rows() == ()


async def test_where_it_does_not_an_estimate_stands_in_and_says_how_wrong_it_may_be(tmp_path: Path) -> None:
    async with running_gateway(tmp_path) as gateway:
        count = await counted(gateway)

    assert (count.exact, count.error) == (False, 0.4)
    assert 4 < count.tokens < 20
