"""Counts of tokens as providers tell them, bit by bit and not always in numbers."""

import pytest

from gateway.dialects.counts import count, newest


@pytest.mark.parametrize(("told", "counted"), [(7, 7), (0, 0), (-1, 0), (True, 0), (7.5, 0), ("7", 0), (None, 0)])
def test_only_a_whole_number_that_is_not_negative_counts(told: object, counted: int) -> None:
    assert count({"tokens": told}, "tokens") == counted
    assert count({}, "tokens") == 0


def test_what_is_not_told_is_as_before() -> None:
    before = {"input_tokens": 5, "output_tokens": 1}

    assert newest(before, {"input_tokens": None, "output_tokens": 7}) == {"input_tokens": 5, "output_tokens": 7}
    assert newest(before, None) == before
