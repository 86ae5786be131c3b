"""What is held for a prompt is never less than what it can be billed."""

from typing import Any
from unicodedata import normalize

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.counting.bound import (
    DEFINED_TOOL_TOKENS,
    DOCUMENT_TOKENS,
    PICTURE_TOKENS,
    TEMPLATE_TOKENS,
    TOOLS_TOKENS,
    most_prompt_tokens,
)


def most(content: Any) -> int:
    body = {"messages": [{"role": "user", "content": content}]}
    return most_prompt_tokens(body, len(msgspec.json.encode(body))) - TEMPLATE_TOKENS


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_byte_may_be_a_token_even_of_a_text_that_a_tokenizer_normalises(text: str) -> None:
    longest = max(len(form.encode()) for form in (text, normalize("NFC", text), normalize("NFKC", text)))

    assert most(text) >= longest


@pytest.mark.parametrize("character", ["\U0001d160", "\ufdfa"])
def test_a_character_that_grows_when_normalised_is_held_for_at_its_full_length(character: str) -> None:
    grown = normalize("NFKC", character * 100).encode()

    assert most(character * 100) >= len(grown) > len(character.encode()) * 100


def test_a_body_full_of_escapes_is_held_for_at_what_they_stand_for() -> None:
    body = {"messages": [{"role": "user", "content": "\ufdfa" * 100}]}
    escaped = rb'{"messages":[{"role":"user","content":"' + rb"\ufdfa" * 100 + rb'"}]}'

    assert most_prompt_tokens(body, len(escaped)) >= 33 * 100


@pytest.mark.parametrize(
    ("parts", "attached"),
    [
        ([{"type": "text", "text": "x"}], 0),
        (
            [{"type": "image_url", "image_url": {"url": "https://x/y.png"}}, {"type": "text", "text": "x"}],
            PICTURE_TOKENS,
        ),
        ([{"type": "file", "file": {"file_id": "f"}}], DOCUMENT_TOKENS),
        ([{"type": "something_new"}], DOCUMENT_TOKENS),
    ],
)
def test_an_attachment_is_held_for_at_the_most_it_may_be(parts: list[dict[str, Any]], attached: int) -> None:
    assert attached <= most(parts) <= attached + 200


@pytest.mark.parametrize("tools", [[{"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}], [7], 5])
def test_a_tool_that_its_provider_explains_is_held_for_at_the_length_of_that(tools: Any) -> None:
    bare = {"messages": [{"role": "user", "content": "Hi"}]}
    explained = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    more = most_prompt_tokens(bare | {"tools": tools}, 100) - most_prompt_tokens(bare, 100)

    assert more == TOOLS_TOKENS + len(explained) * DEFINED_TOOL_TOKENS
