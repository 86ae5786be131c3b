"""Whatever a client sends, it is translated or refused by name; nothing breaks."""

from contextlib import suppress
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.dialects.messages.asking import to_chat
from gateway.dialects.messages.calling import to_messages
from gateway.errors import BadRequest
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


@given(REQUESTS, JSON, st.data())
def test_a_request_with_a_wrong_value_is_translated_or_refused(
    body: dict[str, Any], wrong: object, data: st.DataObject
) -> None:
    asked = put(body, data.draw(st.sampled_from(places(body))), wrong)
    with suppress(BadRequest):
        to_messages(to_chat(asked))


@given(REQUESTS, JSON, st.data())
def test_a_chat_with_a_wrong_value_is_translated_or_refused(
    body: dict[str, Any], wrong: object, data: st.DataObject
) -> None:
    chat = to_chat(body)
    with suppress(BadRequest):
        to_messages(put(chat, data.draw(st.sampled_from(places(chat))), wrong))
