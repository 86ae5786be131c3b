"""Faults that others have published about what is lost or misread on the way to a provider; named for what is right."""

import struct
from base64 import b64encode
from typing import Any, Final

import pytest

from tests.support.polyglot import DIALECTS, Polyglot
from tests.support.providers.answer import Answer, Prompt
from tests.support.providers.gateways import cost
from tests.support.providers.script import Script

STORY: Final = {"type": "text", "text": "A long story.", "cache_control": {"type": "ephemeral"}}
PNG: Final = b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack("!II", 1568, 1568) + b"\x08\x02\0\0\0").decode()


def picture(url: str) -> list[dict[str, Any]]:
    part = {"type": "image_url", "image_url": {"url": url}}
    return [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, part]}]


SHOWN: Final[dict[str, dict[str, Any]]] = {
    "/v1/chat/completions": {"messages": picture(f"data:image/png;base64,{PNG}")},
    "/v1/responses": {
        "input": [
            {"role": "user", "content": [{"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"}]},
        ]
    },
    "/v1/messages": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
                ],
            },
        ]
    },
}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
@pytest.mark.parametrize(("model", "mark"), [("messages", "cache_control"), ("converse", "cachePoint")])
async def test_marks_for_a_cache_survive_translation_and_what_is_read_is_cheap(
    shop: Polyglot, path: str, model: str, mark: str
) -> None:
    """agentgateway/agentgateway 2628: `cache_control` is dropped, and with it the discount."""
    shop.fake.script = Script(answer=Answer(prompt=Prompt(fresh=2, read=900)))
    reply = await shop.ask(model, path, messages=[{"role": "user", "content": [STORY]}])

    assert mark in str(shop.fake.last.body["messages"])
    assert (await shop.booked(reply)).request.cost.nanos == 2 * 3000 + 900 * 300 + 4 * 15000


@pytest.mark.parametrize("path", SHOWN)
@pytest.mark.parametrize("model", ["messages", "converse"])
async def test_a_large_picture_for_claude_is_held_for_as_claude_counts_it(
    shop: Polyglot, model: str, path: str
) -> None:
    """BerriAI/litellm 39910, 38657: it is counted as 85 tokens, up to 32 times too few, and slips past the budget."""
    truth = Answer(prompt=Prompt(fresh=1568 * 1568 // 750))
    shop.fake.script = Script(answer=truth)
    reply = await shop.ask(model, path, **SHOWN[path])
    row = (await shop.booked(reply)).request

    assert reply.status_code == 200, reply.text
    assert row.cost == cost(truth.tokens(4))
    assert row.held >= row.cost


@pytest.mark.parametrize("model", ["chat", "responses", "messages"])
async def test_a_picture_that_cannot_be_counted_is_still_sent(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 36604: to count it is a server error."""
    for url in ("data:image/png;base64,AAAA", f"data:image/png;base64,{PNG[:12]}", "https://a.test/b"):
        reply = await shop.ask(model, messages=picture(url))

        assert reply.status_code == 200, url
        assert (await shop.booked(reply)).request.cost == cost(shop.fake.last.tokens), url


@pytest.mark.parametrize("model", DIALECTS)
async def test_arguments_of_a_call_that_are_no_json_are_one_attempt_or_none(shop: Polyglot, model: str) -> None:
    """BerriAI/litellm 35303: they fail in translation, again and again through every fallback."""
    for arguments in ('{"city": "Bo', "", "[1]", '"', "null"):
        before = len(shop.fake.served)
        call = {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": arguments}}
        told = [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "12"},
        ]
        reply = await shop.ask(model, messages=told)

        assert reply.status_code in {200, 400}, reply.text
        assert len(shop.fake.served) - before == (reply.status_code == 200), arguments


@pytest.mark.parametrize(
    ("model", "path"),
    [("chat", "/v1/chat/completions"), ("responses", "/v1/responses"), ("messages", "/v1/messages")],
)
async def test_a_field_that_nobody_knows_yet_reaches_a_provider_of_the_same_dialect(
    shop: Polyglot, model: str, path: str
) -> None:
    """agentgateway/agentgateway 2628 and its kin: what the gateway does not know is dropped."""
    reply = await shop.ask(model, path, future_field={"a": [1]})

    assert reply.status_code == 200, reply.text
    assert shop.fake.last.body["future_field"] == {"a": [1]}
    assert shop.fake.last.path == path
