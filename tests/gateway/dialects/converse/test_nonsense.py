"""Whatever a client sends becomes a request that the API understands, or is refused by name; nothing breaks."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.converse.calling import to_converse
from gateway.dialects.messages.asking import to_chat
from gateway.errors import BadRequest
from tests.support.bedrock_model import faults
from tests.support.messages_dialect import JSON, REQUESTS


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value inside `value`."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for name, part in inner for way in ((*path, name), *places(part, (*path, name)))]


def put(value: Any, path: tuple[Any, ...], part: object) -> Any:
    """Return `value` with `part` at `path`."""
    if not path:
        return part
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], part)
    return copy


def plain(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request without what Bedrock has no word for at all."""
    return {name: value for name, value in body.items() if name not in {"a_field_of_next_year", "diagnostics"}}


@given(REQUESTS)
def test_a_request_that_is_not_refused_is_one_that_the_api_understands(body: dict[str, Any]) -> None:
    with suppress(BadRequest):
        assert faults(to_converse(to_chat(plain(body)), 64)) == ""


@given(REQUESTS, JSON, st.data())
def test_a_chat_with_a_wrong_value_is_said_or_refused(body: dict[str, Any], wrong: object, data: st.DataObject) -> None:
    chat = to_chat(plain(body))
    with suppress(BadRequest):
        to_converse(put(chat, data.draw(st.sampled_from(places(chat))), wrong), 64)
