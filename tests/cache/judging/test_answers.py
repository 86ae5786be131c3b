"""The local judge: rules first, then how near the answers are."""

import math
from collections.abc import AsyncIterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from cache.embedding import Embedding
from cache.embedding.batching import Limits
from cache.embedding.opening import open_embedding
from cache.errors import EmbeddingBusy
from cache.guards import GUARDS
from cache.judging import AnswerJudge
from cache.judging.answers import CERTAIN


class Busy:
    """An embedding that has no time."""

    name = "busy"
    dimensions = 2

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingBusy("too many texts wait")

    async def close(self) -> None:
        pass


@pytest.fixture
async def embedding() -> AsyncIterator[Embedding]:
    opened = await open_embedding(limits=Limits(patience_s=math.inf))
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("**Paris** is the capital.", "paris is the capital"),
        ("# Paris\n\n- is the capital", "Paris is the capital."),
        ("Use this:\n```python\nprint(1)  \n```", "Use this:\n\n~~~\n    print(1)\n~~~"),
    ],
)
async def test_how_an_answer_is_set_does_not_count(a: str, b: str) -> None:
    assert (await AnswerJudge(Busy()).compare(a, b)).same is True


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("The answer is 5.", "The answer is 15.", "number"),
        ("It weighs 5 kg.", "It weighs 5 lb.", "unit"),
        ("You get 3 projects and 1 GB of storage.", "You get 1 project and 3 GB of storage.", "count"),
        ("The train goes to Lyon.", "The train goes to Marseille.", "name"),
        ("Yes, that is possible.", "No, that is not possible.", "verdict"),
        ("I'm sorry, but I can't help with that.", "You do it in the settings.", "declines"),
        ("Run it:\n```\nls -a\n```", "Run it:\n```\nls -l\n```", "code"),
        ("Run `ls -a` there.", "Run `ls -l` there.", "code"),
        ("Das ist die Hauptstadt, und sie ist nicht groß.", "This is the capital, and it is not large.", "language"),
    ],
)
async def test_what_a_rule_holds_apart_is_different(a: str, b: str, reason: str) -> None:
    for pair in ((a, b), (b, a)):
        verdict = await AnswerJudge(Busy()).compare(*pair)
        assert verdict.same is False
        assert reason in verdict.reason


async def test_answers_that_are_near_are_the_same_unless_there_is_a_doubt(embedding: Embedding) -> None:
    judge = AnswerJudge(embedding)
    day = "Taking out cash is limited to 500 euros a day."
    near = await judge.compare(
        "The film by Ridley Scott came out in 1982.", "Ridley Scott's movie was released in 1982."
    )
    assert near.same is True
    assert near.similarity is not None
    assert near.similarity > 0.79
    assert (await judge.compare(day, "Taking out cash is limited to 500 euros a week.")).same is None
    assert (await judge.compare("Water the plant once a week.", "The bank closes the account.")).same is False


async def test_long_answers_are_compared_part_by_part(embedding: Embedding) -> None:
    judge = AnswerJudge(embedding)
    begins = "The card is sent by post and the app shows where it is. " * 20
    ends = "Bread is baked in a hot oven until the crust is brown. " * 20
    assert (await judge.compare(begins, f"{begins}{ends}")).same is not True
    assert (await judge.compare(f"{begins}{ends}", f"{begins.replace('post', 'mail')}{ends}")).same is not False


async def test_the_order_of_the_answers_does_not_count(embedding: Embedding) -> None:
    judge = AnswerJudge(embedding)
    a, b = "Light is faster than sound, by far.", "Sound is a good deal slower than light."
    assert (await judge.compare(a, b)).same == (await judge.compare(b, a)).same


@pytest.mark.parametrize(("a", "b"), [("The bank is closed.", "The store is open."), ("x" * 30_000, "x" * 30_001)])
async def test_where_it_cannot_be_told_nothing_is_said(a: str, b: str) -> None:
    verdict = await AnswerJudge(Busy()).compare(a, b)
    assert verdict.same is None
    assert verdict.reason


@pytest.mark.parametrize("text", ["", "\ud800", "```", "```\n", "**", "[]()", "- \n- ", "\x00", "```\n~~~\n```"])
async def test_odd_answers_are_the_same_as_themselves(text: str) -> None:
    assert (await AnswerJudge(Busy()).compare(text, text)).same is True


def test_the_guards_that_are_certain_exist() -> None:
    assert {name for name, _ in GUARDS} >= CERTAIN
