"""How much is cut, and how often the answer stays: a small draw, with the least that is asked of it."""

from collections.abc import Sequence

import pytest

from cache.embedding.opening import installed
from gateway.cli.context.estimating import tokens_in, tokens_of
from gateway.context.meanings import Nearness
from gateway.steps.guarding.meanings import Bundled
from governance.context.evaluating.conversations import Case, cases
from governance.context.evaluating.measuring import Compare, Outcome, outcome
from governance.context.evaluating.public import public_cases

CUT = 0.35


async def by_words(questions: Sequence[str], texts: Sequence[str]) -> None:
    """Compare nothing."""


async def measured(drawn: Sequence[Case], compare: Compare) -> list[Outcome]:
    return [await outcome(case, CUT, tokens_of, tokens_in, compare) for case in drawn]


def cut(found: Sequence[Outcome]) -> float:
    return sum(one.share for one in found) / len(found)


def kept(found: Sequence[Outcome]) -> float:
    return sum(one.kept for one in found) / len(found)


@pytest.mark.skipif(not installed(), reason="needs the `semantic` extra")
async def test_with_the_embedding_thirty_percent_are_cut_and_no_answer_of_a_small_draw_is_lost() -> None:
    places = Bundled(patience_s=60.0)
    try:
        found = await measured(cases(5, 6), Nearness(places, patience_s=60.0).cosines)
    finally:
        await places.close()

    assert cut(found) >= 0.30
    assert kept(found) == 1.0


async def test_by_words_alone_two_answers_of_three_stay() -> None:
    found = await measured(cases(5, 60), by_words)

    assert cut(found) >= 0.30
    assert kept(found) >= 0.66


def test_the_same_seed_draws_the_same_and_what_is_reported_is_not_what_was_developed_on() -> None:
    assert cases(1, 6) == cases(1, 6)
    assert cases(1, 6) != cases(2, 6)
    reported = {case.answers for case in cases(1, 60)}
    assert reported.isdisjoint(case.answers for case in cases(1, 60, reported=False))


async def test_public_rows_make_problems_replies_and_reworded_questions() -> None:
    problems = [{"prompt": f"Ann has {n} pears. Ben has {n + 1}. How many pears have Ann and Ben?"} for n in range(30)]
    pairs = [{"a": f"How do I open a {n} account?", "b": f"Opening a {n} account?", "same": True} for n in range(30)]
    chat = [
        message
        for n in range(9)
        for message in (
            {"role": "user", "content": f"What does the house with the number {n} cost?"},
            {"role": "assistant", "content": f"It is {n} thousand a month, and the garden is free."},
        )
    ]
    chats = [{"a": chat, "b": chat, "same": True} for _ in range(24)]

    drawn = public_cases([*problems, *pairs, *chats], 1, 2)
    found = await measured(drawn, by_words)

    assert [case.kind for case in drawn] == ["problems", "problems", "replies", "replies", "reworded", "reworded"]
    assert all(one.before > one.after for one in found)
