"""A client that leaves after each piece of an answer, under every rule and in every dialect: what is booked is right.

What the fake provider says it made is the truth. It is exact where the answer is read to its end, or where the provider
tells its usage with every chunk; elsewhere the documented estimate stands, and is marked.
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gateway.providers.leaving import CANCEL, DRAIN, ESTIMATE, Leave
from governance.money import Nanodollars
from tests.support.providers.answer import Answer, Prompt, Tokens
from tests.support.providers.delivery import Served
from tests.support.providers.gateways import TELLS_PER_CHUNK, WRITES, FarGateway, cost, far_gateway
from tests.support.providers.script import Script

ANSWER = Answer(
    thoughts=("Hm", ", let me see"),
    texts=("Zürich", " — ", "日本", "🙂"),
    prompt=Prompt(fresh=9, read=5),
)
PIECES = ANSWER.pieces
TELLS_PROMPT_FIRST = {"messages"}


def answer_of(far: FarGateway) -> Answer:
    """Return the answer with every class of tokens that the dialect can tell."""
    return replace(ANSWER, prompt=Prompt(fresh=9, read=5, written=4, written_1h=2)) if far.kind in WRITES else ANSWER


async def leave_after(
    far: FarGateway,
    pieces: int,
    *,
    more: int = 0,
    stream: bool = True,
    asking: Coroutine[Any, Any, object] | None = None,
) -> Served:
    """Ask, leave once so many pieces are made, let the provider go on for `more` of them, and return what it served."""
    asked, gate, silent = len(far.fake.served), asyncio.Semaphore(max(0, pieces - 1)), asyncio.Event()
    far.fake.script = Script(answer=answer_of(far), gate=gate, silent=silent)
    pending = asyncio.create_task(asking or far.plain(stream=stream))
    await far.fake.until(lambda: len(far.fake.served) > asked)
    if pieces:
        silent.set()
        await far.fake.until_made(pieces)
    pending.cancel()
    await asyncio.wait([pending])
    await far.leavings.acquire()
    silent.set()
    for _ in range(more):
        gate.release()
    return far.fake.last


async def _read(far: FarGateway, path: str, body: dict[str, Any]) -> None:
    asked = {"model": "far", "stream": True} | body
    async with far.gateway.client.stream("POST", path, json=asked, headers={"x-api-key": far.key}) as reply:
        async for _ in reply.aiter_raw():
            pass


def estimated(far: FarGateway, made: int) -> Tokens:
    """Return the documented estimate: the prompt as told or as it is likely, the answer as likely by what was said."""
    told, tally = far.kind in TELLS_PER_CHUNK | TELLS_PROMPT_FIRST and made, far.tally()
    prompt = answer_of(far).prompt if told else Prompt(fresh=tally.likely)
    said = sorted(PIECES[:made], key=lambda piece: piece.kind)  # text before thoughts, as a message has them
    return Tokens(prompt, tally.said(["".join(piece.text for piece in said)]))


def two_more(far: FarGateway, made: int) -> int:
    """Return how many pieces are likely to be two tokens longer than so many."""
    before = estimated(far, made).said
    return next(later for later in range(made, len(PIECES) + 1) if estimated(far, later).said >= before + 2)


async def test_an_answer_that_is_drained_is_paid_for_to_the_token(far: FarGateway) -> None:
    far.upstream.leave = DRAIN
    for count, pieces in enumerate(range(len(PIECES) + 1), 1):
        served = await leave_after(far, pieces, more=len(PIECES))
        row = await far.row(count)

        assert (served.ended, served.made) == ("whole", len(PIECES)), pieces
        assert (row.outcome, row.estimated, row.cost) == ("left", False, cost(served.tokens)), pieces
        assert (row.input_tokens, row.output_tokens) == (20 if far.kind in WRITES else 14, 6), pieces


async def test_an_answer_that_is_cancelled_is_paid_for_as_far_as_it_was_made(far: FarGateway) -> None:
    far.upstream.leave = CANCEL
    for count, pieces in enumerate(range(1, len(PIECES) + 1), 1):
        served = await leave_after(far, pieces)
        row = await far.row(count)

        assert (await far.fake.until_ended()).ended == "left", pieces
        assert served.made == pieces
        exact = far.kind in TELLS_PER_CHUNK
        truth = served.tokens if exact else estimated(far, pieces)
        assert (row.outcome, row.estimated, row.cost) == ("left", not exact, cost(truth)), pieces


async def test_an_answer_may_be_paid_for_by_an_estimate_whatever_its_provider_says(far: FarGateway) -> None:
    far.upstream.leave = ESTIMATE
    for count, pieces in enumerate(range(1, len(PIECES) + 1), 1):
        await leave_after(far, pieces)
        row = await far.row(count)

        assert (await far.fake.until_ended()).ended == "left", pieces
        assert (row.outcome, row.estimated) == ("left", True)
        assert row.cost == cost(estimated(far, pieces)), pieces


@pytest.mark.parametrize(
    "rule",
    [
        Leave(reads_on=True, tokens=2),
        Leave(reads_on=True, cost=Nanodollars(2 * 15000)),
        Leave(reads_on=True, seconds=0.2),
    ],
    ids=["tokens", "usd", "seconds"],
)
async def test_an_answer_is_drained_no_further_than_to_its_bound(far: FarGateway, rule: Leave) -> None:
    far.upstream.leave = rule
    for count, pieces in enumerate(range(1, len(PIECES) - 2), 1):
        exact = far.kind in TELLS_PER_CHUNK
        last = pieces + 2 if exact or rule.seconds else two_more(far, pieces)
        served = await leave_after(far, pieces, more=last - pieces)
        row = await far.row(count)

        assert (await far.fake.until_ended()).ended == "left", pieces
        assert served.made == last
        truth = served.tokens if exact else estimated(far, last)
        assert (row.outcome, row.estimated, row.cost) == ("left", not exact, cost(truth)), pieces


async def test_an_answer_that_ends_before_the_bound_is_paid_for_to_the_token(far: FarGateway) -> None:
    far.upstream.leave = Leave(reads_on=True, tokens=900, cost=Nanodollars(10**9), seconds=30)
    served = await leave_after(far, 2, more=len(PIECES))
    row = await far.row()

    assert served.ended == "whole"
    assert (row.outcome, row.estimated, row.cost) == ("left", False, cost(served.tokens))


@pytest.mark.parametrize("rule", [CANCEL, DRAIN], ids=["cancel", "drain"])
async def test_a_client_of_a_plain_answer_that_leaves_is_treated_the_same(far: FarGateway, rule: Leave) -> None:
    far.upstream.leave = rule
    served = await leave_after(far, 3, more=len(PIECES) if rule.reads_on else 0, stream=False)
    row = await far.row()

    exact = rule.reads_on or far.kind in TELLS_PER_CHUNK
    truth = served.tokens if exact else estimated(far, 3)
    assert (row.outcome, row.estimated, row.cost) == ("left", not exact, cost(truth))


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/completions", {"prompt": "Hi", "max_tokens": 64}),
        ("/v1/responses", {"input": "Hi", "store": False}),
        ("/v1/messages", {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 64}),
    ],
    ids=["completions", "responses", "messages"],
)
async def test_a_client_of_any_dialect_that_leaves_is_treated_the_same(
    far: FarGateway, path: str, body: dict[str, Any]
) -> None:
    for count, (rule, more) in enumerate(((CANCEL, 0), (DRAIN, len(PIECES))), 1):
        far.upstream.leave = rule
        served = await leave_after(far, 4, more=more, asking=_read(far, path, body))
        row = await far.row(count)

        assert (row.endpoint, row.outcome) == (path.removeprefix("/v1/"), "left")
        if rule.reads_on or far.kind in TELLS_PER_CHUNK:
            assert (row.estimated, row.cost) == (False, cost(served.tokens))
        else:
            assert row.estimated
            assert row.cost.nanos > 0


async def test_machines_of_our_own_cancel_and_clouds_drain(far: FarGateway) -> None:
    assert far.upstream.leave == (CANCEL if far.kind == "vllm" else DRAIN)


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("estimate", ESTIMATE),
        ("cancel", CANCEL),
        (
            {"drain_until": {"tokens": 9, "usd": 0.5, "seconds": 3}},
            Leave(reads_on=True, tokens=9, seconds=3, cost=Nanodollars(500_000_000)),
        ),
    ],
    ids=["estimate", "cancel", "drain until"],
)
async def test_the_policy_may_say_otherwise_of_a_provider(tmp_path: Path, said: object, rule: Leave) -> None:
    async with far_gateway(tmp_path, "chat", on_leave=said) as far:
        assert far.upstream.leave == rule
