"""A semantic cache that could never serve anything is told, with the place and what to do."""

import pytest

from tests.support.policy_texts import SMALL, read

CHAT = "cache: {semantic: {%s, max_error: 0.01, ttl: 7d}}\n"


def told(section: str, text: str = SMALL) -> list[str]:
    return [f"{warning.line}: {warning.message}" for warning in read(text + CHAT % section).warnings]


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ("enabled: []", "looks nothing up: it names no feature"),
        ("enabled: [bot/faq], observe: [bot/faq]", '"bot/faq" is enabled already, and learns just the same'),
        ("enabled: [bot/faq], judge: large", 'demo/bot/faq may not use "large", so it stays closed'),
        ("observe: [bot/faq], judge: large", 'demo/bot/faq may not use "large", so it stays closed'),
    ],
)
def test_what_is_never_served_is_told(section: str, expected: str) -> None:
    (found,) = told(section)
    assert found.startswith(f"{SMALL.count(chr(10)) + 1}: ")
    assert expected in found


def test_a_judge_that_answers_no_chats_is_told() -> None:
    vectors = "  - {name: vectors, provider: engine, model: minilm, tier: local, kind: embedding, price: measured}\n"
    (found,) = told("enabled: [bot/faq], judge: vectors", SMALL.replace("routes:", f"{vectors}routes:"))
    assert '"vectors" answers no chats: every feature stays closed' in found


@pytest.mark.parametrize("section", ["enabled: [bot/faq]", "observe: [bot/faq]", "enabled: [bot/faq], judge: small"])
def test_a_cache_that_can_learn_is_left_alone(section: str) -> None:
    assert told(section) == []
