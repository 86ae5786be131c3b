"""Answers that decline to answer."""

import pytest

from cache.judging.refusals import declines


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that request.",
        "I am sorry, but as a bank assistant I cannot say.",
        "I can\u2019t assist with this.",
        "As an AI language model, I do not have opinions.",
        "I don't know.",
        "I do not have enough information to say.",
    ],
)
def test_what_declines_is_recognised(answer: str) -> None:
    assert declines(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "Your PIN can't be changed by phone.",
        "We cannot refund the fee.",
        "I'm sorry for the delay; your refund is on its way.",
        "You can't help it.",
        "",
    ],
)
def test_an_answer_that_says_no_does_not_decline(answer: str) -> None:
    assert not declines(answer)
