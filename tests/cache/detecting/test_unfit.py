"""Which questions are refused, measured on questions written for the purpose.

`development.jsonl` was looked at while the detectors were written, `held_out.jsonl` was not: its mistakes are counted
here and have not been read (but `test_signs.py` checks the needed words on it too). Both have near misses on either
side ("how do I change my current password").
`unusual.jsonl` asks on purpose in words that nobody expects: less than half of it is caught, which is what a list of
words can do; the learned bound on errors has to hold without them.
"""

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.detecting.unfit import Kind, unfit


@dataclass(frozen=True, slots=True)
class Labelled:
    text: str
    unfit: str | None


def labelled(name: str) -> list[Labelled]:
    path = Path(__file__).with_name(f"{name}.jsonl")
    return [Labelled(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


DEVELOPMENT = labelled("development")
HELD_OUT = labelled("held_out")
UNUSUAL = labelled("unusual")


def refused(questions: list[Labelled]) -> float:
    return statistics.fmean(unfit(question.text) is not None for question in questions)


def of(questions: list[Labelled], kind: str | None) -> list[Labelled]:
    return [question for question in questions if question.unfit == kind]


def unfit_ones(questions: list[Labelled]) -> list[Labelled]:
    return [question for question in questions if question.unfit is not None]


def test_the_halves_are_large_and_share_no_question() -> None:
    assert len(HELD_OUT) >= 400
    assert not {one.text.casefold() for one in DEVELOPMENT} & {one.text.casefold() for one in HELD_OUT}


@pytest.mark.parametrize("kind", [*Kind, None])
def test_every_kind_is_well_represented(kind: Kind | None) -> None:
    assert len(of(HELD_OUT, kind)) >= 45


def test_questions_held_out_are_refused_when_they_should_be() -> None:
    assert refused(unfit_ones(HELD_OUT)) >= 0.95


def test_few_questions_held_out_are_refused_that_should_not_be() -> None:
    assert refused(of(HELD_OUT, None)) <= 0.02


@pytest.mark.parametrize(
    ("kind", "recall"),
    [
        (Kind.TIME_SENSITIVE, 0.93),
        (Kind.PERSONAL, 0.95),
        (Kind.ANAPHORIC, 0.95),
        (Kind.VARIED, 0.95),
        (Kind.ACTION, 0.98),
    ],
)
def test_each_kind_held_out_is_refused(kind: Kind, recall: float) -> None:
    assert refused(of(HELD_OUT, kind)) >= recall


@pytest.mark.parametrize("kind", list(Kind))
def test_the_reason_given_for_a_question_held_out_is_mostly_the_right_one(kind: Kind) -> None:
    verdicts = [(question, unfit(question.text)) for question in HELD_OUT]
    given_it = [question for question, verdict in verdicts if verdict is not None and verdict.kind is kind]
    assert statistics.fmean(question.unfit == kind for question in given_it) >= 0.9


def test_questions_in_unusual_words_are_refused_four_times_in_ten() -> None:
    assert refused(UNUSUAL) >= 0.4


def test_what_was_learned_in_development_is_kept() -> None:
    assert refused(unfit_ones(DEVELOPMENT)) >= 0.97
    assert refused(of(DEVELOPMENT, None)) <= 0.01


@pytest.mark.parametrize(
    ("unfit_one", "fit_one"),
    [
        ("What's the current weather in Oslo?", "How do I change my current password?"),
        ("Is the payment service down?", "What does a status page for a payment service show?"),
        ("What is my balance?", "How do I check my balance?"),
        ("Cancel my order", "How do I cancel my order?"),
        ("Tell me a joke", "Who invented the knock-knock joke?"),
        ("Pick a number", "How does a random number generator work?"),
        ("How does it work?", "How does a heat pump work?"),
        ("What is the weather like today?", "Translate into German: what is the weather like today?"),
        ("Where is my suitcase?", 'How do you say "where is my suitcase" in Italian?'),
        ("Is the card 4111 1111 1111 1111 blocked?", "Is 1234 5678 9012 3456 a card number?"),
    ],
)
def test_a_near_miss_is_told_apart(unfit_one: str, fit_one: str) -> None:
    assert unfit(unfit_one) is not None
    assert unfit(fit_one) is None


@pytest.mark.parametrize("text", ["", " ", "?", "...", "👍", "ok 👍"])
def test_what_says_nothing_is_unfit(text: str) -> None:
    verdict = unfit(text)
    assert verdict is not None
    assert verdict.kind is Kind.ANAPHORIC


def test_typography_changes_nothing() -> None:
    changed = [
        question.text
        for question in HELD_OUT
        if unfit(question.text.replace("'", "\u2019").replace(" ", "\u00a0", 1) + " ") != unfit(question.text)
    ]
    assert changed == []


def test_what_is_pasted_into_a_long_text_is_not_asked() -> None:
    pasted = "The harbour was built of granite and larch. " * 20
    assert unfit(f"Summarise the report. {pasted}What is the weather today? {pasted}Keep to the facts.") is None


def test_who_signs_a_long_text_is_seen() -> None:
    verdict = unfit("The pump stopped and nobody knows why. " * 500 + "Write to o.haugen71@mailbox.org.")
    assert verdict is not None
    assert verdict.what == "an e-mail address"


@given(st.text(max_size=400))
def test_no_reason_quotes_the_question(text: str) -> None:
    verdict = unfit(text)
    assert verdict is None or (verdict == unfit(text) and len(verdict.what) < 60)
