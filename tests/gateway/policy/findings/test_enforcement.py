import pytest

from gateway.policy.findings.enforcement import NOT_YET, notes
from gateway.policy.source import load_policy
from tests.support.policy_texts import AT, EXAMPLE, KEYS, SMALL, price_book, read


def test_every_part_of_the_example_that_is_not_yet_obeyed_is_named() -> None:
    found = notes(load_policy(EXAMPLE, KEYS, AT, price_book).document)
    assert [note.path for note in found] == [
        "routes.auto.shadow",
        "output.reasoning_effort",
    ]


@pytest.mark.parametrize(
    "budget", ["day", "day, steps: {70%: alert, 100%: block}", "7d", "session", "day, each: user", "24h, each: segment"]
)
def test_a_policy_that_is_obeyed_in_full_has_no_notes(budget: str) -> None:
    assert notes(read(SMALL.replace("window: day", f"window: {budget}")).document) == ()


def test_the_starter_policy_promises_nothing_that_is_not_kept() -> None:
    assert notes(load_policy(None, {}, AT).document) == ()


def test_every_sentence_ends_as_one() -> None:
    assert all(rule.sentence.endswith(".") and ". " not in rule.sentence for rule in NOT_YET)
