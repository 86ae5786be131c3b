"""What is held for a prompt is never less than what it can be billed."""

from typing import Any

import pytest

from gateway.steps.estimate import ATTACHMENT_TOKENS, TEMPLATE_TOKENS, likely_tokens, most_prompt_tokens


def test_every_byte_may_be_a_token_and_the_template_adds_its_own() -> None:
    assert most_prompt_tokens(100, []) == 100 + TEMPLATE_TOKENS


@pytest.mark.parametrize(
    ("content", "attachments"),
    [
        ("text", 0),
        ([{"type": "text", "text": "x"}], 0),
        ([{"type": "image_url", "image_url": {"url": "https://x/y.png"}}, {"type": "text", "text": "x"}], 1),
        ([{"type": "input_audio"}, {"type": "file"}], 2),
        (None, 0),
    ],
)
def test_an_attachment_is_held_for_at_what_it_may_cost(content: Any, attachments: int) -> None:
    held = most_prompt_tokens(0, [{"role": "user", "content": content}])

    assert held == TEMPLATE_TOKENS + attachments * ATTACHMENT_TOKENS


def test_a_guess_rounds_up() -> None:
    assert likely_tokens(["hello", ""]) == 2
