"""The set of near misses is what it says: broad, balanced, without repeats, and its traps are near."""

import re
from collections import Counter

import pytest

from tests.support.near_misses import APART, FAMILIES, MULTI_TURN, NearMiss, last_words, near_misses, surroundings

PAIRS = near_misses()


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def overlap(pair: NearMiss) -> float:
    one, other = words(last_words(pair.a)), words(last_words(pair.b))
    return len(one & other) / len(one | other)


def test_there_are_many_pairs_of_many_families() -> None:
    assert len(PAIRS) >= 700
    assert len(FAMILIES) >= 30
    assert set(FAMILIES) >= APART


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_enough_traps_and_enough_true_pairs(family: str) -> None:
    pairs = near_misses(family)
    assert {pair.kind for pair in pairs} == {family}
    traps = sum(not pair.same for pair in pairs)
    assert traps >= 12
    assert len(pairs) - traps >= 5
    assert 0.6 <= traps / len(pairs) <= 0.8


def test_no_pair_is_there_twice_in_either_order() -> None:
    seen = Counter(
        frozenset((surroundings(q), last_words(q).casefold(), str(pair.same)) for q in (pair.a, pair.b))
        for pair in PAIRS
    )
    assert [pair for pair, times in seen.items() if times > 1] == []


def test_no_pair_is_a_question_and_itself() -> None:
    assert [pair for pair in PAIRS if pair.a == pair.b] == []


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - APART))
def test_a_family_of_texts_has_texts_alone(family: str) -> None:
    for pair in near_misses(family):
        assert isinstance(pair.a, str)
        assert isinstance(pair.b, str)
        assert pair.a.casefold() != pair.b.casefold()


@pytest.mark.parametrize("family", sorted(APART))
def test_traps_of_requests_differ_beside_the_last_words_and_true_pairs_only_in_them(family: str) -> None:
    for pair in near_misses(family):
        assert (surroundings(pair.a) == surroundings(pair.b)) == pair.same
        if pair.same:
            assert last_words(pair.a) != last_words(pair.b)


@pytest.mark.parametrize("family", sorted(APART))
def test_most_traps_of_requests_have_the_very_same_last_words(family: str) -> None:
    traps = [pair for pair in near_misses(family) if not pair.same]
    assert sum(last_words(pair.a) == last_words(pair.b) for pair in traps) > len(traps) / 2


def test_traps_look_more_alike_than_true_pairs() -> None:
    texts = [pair for pair in PAIRS if pair.kind not in APART | {"language"}]
    traps = [overlap(pair) for pair in texts if not pair.same]
    truths = [overlap(pair) for pair in texts if pair.same]
    assert sum(traps) / len(traps) > sum(truths) / len(truths) > 0.3


def test_there_are_sixty_conversations_and_most_are_traps() -> None:
    pairs = near_misses(*MULTI_TURN)
    assert Counter(pair.kind for pair in pairs) == dict.fromkeys(MULTI_TURN, 12)
    assert len(pairs) >= 60
    assert sum(not pair.same for pair in pairs) >= 36


@pytest.mark.parametrize("family", MULTI_TURN)
def test_conversations_differ_in_their_history_and_traps_in_nothing_else(family: str) -> None:
    for pair in near_misses(family):
        assert surroundings(pair.a) != surroundings(pair.b)
        assert (last_words(pair.a) != last_words(pair.b)) == pair.same
