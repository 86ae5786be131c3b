"""A hold has room for the classes of tokens that a request may use."""

from typing import Any

import pytest

from gateway.steps.classes import classes_of
from governance.prices import TEXT


def chat(content: object, **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": content}], **more}


@pytest.mark.parametrize("text", ["Hello", 'He said "1h" of "audio" and an "image_url"'])
def test_text_uses_the_classes_of_text_whatever_it_says(text: str) -> None:
    assert classes_of(chat(text)) == set(TEXT)
    assert classes_of(chat([{"type": "text", "text": text}])) == set(TEXT)


@pytest.mark.parametrize(
    ("part", "used"),
    [
        ({"type": "image_url", "image_url": {"url": "data:"}}, {"image_input"}),
        ({"type": "file", "file": {"file_url": "https://x/y.mp3"}}, {"image_input", "audio_input", "audio_read"}),
        ({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}, {"audio_input", "audio_read"}),
        ({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"cache_write_1h"}),
    ],
)
def test_a_part_uses_its_own_classes(part: dict[str, Any], used: set[str]) -> None:
    assert classes_of(chat([part])) - set(TEXT) >= used


def test_tools_may_be_kept_for_an_hour_and_an_answer_may_be_spoken() -> None:
    tool = {"type": "function", "function": {"name": "f"}, "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    assert classes_of(chat("x", tools=[tool])) - set(TEXT) == {"cache_write_1h"}
    assert "audio_output" in classes_of(chat("x", modalities=["text", "audio"]))
