"""What the parts of a message hold, said to a provider that speaks Gemini."""

from typing import Any

import pytest

from gateway.dialects.gemini.calling import to_gemini
from gateway.errors import BadRequest


def said(part: dict[str, Any]) -> dict[str, Any]:
    body = to_gemini({"model": "gemini-3.8-flash", "messages": [{"role": "user", "content": [part]}]})
    return body["contents"][0]["parts"][0]


def image(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url} | more}


def file(**fields: Any) -> dict[str, Any]:
    return {"type": "file", "file": fields}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}, {"text": "Hi"}),
        (
            image("data:image/png;base64,aGVsbG8=", detail="high"),
            {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}},
        ),
        (
            image("https://example.org/cat.jpg?size=2"),
            {"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.org/cat.jpg?size=2"}},
        ),
        (
            {"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "wav"}},
            {"inlineData": {"mimeType": "audio/wav", "data": "aGVsbG8="}},
        ),
        (
            file(file_data="data:application/pdf;base64,aGVsbG8=", filename="a.pdf"),
            {"inlineData": {"mimeType": "application/pdf", "data": "aGVsbG8="}},
        ),
        (
            file(file_url="gs://bucket/film.mp4"),
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/film.mp4"}},
        ),
    ],
)
def test_what_can_be_read_seen_or_heard_has_its_part(part: dict[str, Any], expected: dict[str, Any]) -> None:
    assert said(part) == expected


@pytest.mark.parametrize(
    ("part", "param"),
    [
        (image("data:image/png;base64,aGVsbG8=", detail="low"), "image_url.detail"),
        (image("data:image/png,hello"), "image_url.url"),
        (image("https://example.org/cat"), "image_url.url"),
        (image("ftp://example.org/cat.png"), "image_url.url"),
        (image("https://[/cat.png"), "image_url.url"),
        (file(filename="a.pdf"), "file"),
        (file(file_data="aGVsbG8="), "file.file_data"),
        (file(file_id="file-1"), "file"),
        ({"type": "input_audio", "input_audio": {"data": "aGVsbG8=", "format": "a/b"}}, "input_audio.format"),
    ],
)
def test_what_cannot_be_found_or_said_is_refused_with_its_path(part: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as refused:
        said(part)
    assert refused.value.param == f"messages[0].content[0].{param}"


@pytest.mark.parametrize("url", ["https://x/film.mp4", "gs://x/long.pdf", "data:audio/mp3;base64,aGVsbG8="])
def test_only_a_picture_is_a_picture(url: str) -> None:
    with pytest.raises(BadRequest, match="no picture"):
        said(image(url))
