"""The judge's errors are measured on answers that were written for it."""

import math
from collections.abc import AsyncIterator

import pytest

from cache.embedding.batching import Limits
from cache.embedding.opening import open_embedding
from cache.judging.answers import SAME_AT, AnswerJudge, Verdict
from cache.judging.measuring import Judged, choose_threshold, measure, read_groups
from cache.judging.noise import measured_noise


@pytest.fixture
async def judge() -> AsyncIterator[AnswerJudge]:
    embedding = await open_embedding(limits=Limits(patience_s=math.inf))
    yield AnswerJudge(embedding, same_at=0.6)
    await embedding.close()


def test_there_are_enough_answers_and_none_is_in_two_groups() -> None:
    groups = read_groups()
    answers = [answer for group in groups for answer in (*group.same, *group.others)]
    assert len(groups) >= 60
    assert all((len(group.same), len(group.others)) == (3, 2) for group in groups)
    assert len(answers) == len(set(answers))


def test_the_lowest_threshold_is_chosen_that_misses_no_more_than_it_may() -> None:
    others = tuple(Verdict(same=True, reason="near", similarity=0.6 + place / 1_000) for place in range(100))
    assert choose_threshold([Judged((), others)]) == 0.7
    assert choose_threshold([Judged((), (Verdict(same=True, reason="the same words"),))]) == 0.99


async def test_measuring_counts_every_pair(judge: AnswerJudge) -> None:
    _, noise = await measure(judge, read_groups()[:6])
    assert noise.told_same.trials == noise.told_different.trials == 12
    assert noise.missed_unlike.trials <= 15
    assert noise.missed_unlike.events == 0


def test_the_errors_on_file_are_those_of_the_threshold_in_use() -> None:
    noise = measured_noise()
    assert noise.told_same.trials >= 130
    assert noise.missed.share.high < 0.15
    assert noise.missed_unlike.share.high < 0.01
    assert noise.alarmed.events < noise.alarmed.trials / 4
    assert 0.6 < SAME_AT < 1
