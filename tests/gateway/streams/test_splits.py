"""However the bytes of a stream fall into reads, the answer is the same: no character and no event is ever broken."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.providers.apis import Api
from gateway.providers.apis.anthropic import AnthropicApi
from gateway.providers.apis.bedrock import BedrockApi
from gateway.providers.apis.gemini import GeminiApi
from gateway.providers.apis.manners import OWN
from gateway.providers.apis.openai import OpenAIApi
from gateway.providers.apis.responses import ResponsesApi
from gateway.providers.apis.signing import key
from gateway.providers.upstream import Wanted
from gateway.wire.fold import Fold
from tests.support.providers import chat, converse, gemini, messages, responses
from tests.support.providers.answer import Answer, ToolCall
from tests.support.providers.dialect import Dialect
from tests.support.providers.framing import COMMENT
from tests.support.providers.gateways import FarGateway
from tests.support.providers.script import Script

SPOKEN: Final[Mapping[str, tuple[Api, Dialect]]] = {
    "chat": (OpenAIApi(None, OWN), chat),
    "responses": (ResponsesApi(None), responses),
    "messages": (AnthropicApi(None, lambda: 1.0), messages),
    "gemini": (GeminiApi(None, lambda: 1.0), gemini),
    "converse": (BedrockApi(key("k"), lambda: 1.0, lambda: "id"), converse),
}
EVENTS = [name for name in SPOKEN if name != "converse"]
"""Those whose streams are text."""

ANSWER = Answer(
    thoughts=("ä€",),
    texts=("aé", "日🙂", "\n\r\u2028"),
    calls=(ToolCall("call_1", "f", ('{"ß":', '"𝄞"}')),),
    finish="tool_calls",
)
ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}


def written(dialect: Dialect, line_end: bytes = b"\n", *, comments: bool = False, last_blank: bool = True) -> bytes:
    """Return the whole stream as bytes."""
    script = Script(answer=ANSWER)
    asked = {"model": "m", "stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    frames = [dialect.frame(told.name, told.data, line_end) for told in dialect.events(script, asked)]
    if dialect.MEDIA_TYPE != "text/event-stream":
        return b"".join(frames)
    raw = b"".join((COMMENT + line_end * 2 if comments else b"") + frame for frame in frames)
    return raw if last_blank else raw.removesuffix(line_end)


def heard(api: Api, reads: Iterable[bytes]) -> dict[str, Any]:
    """Return the completion that an ear puts together from reads."""
    ear, fold = api.ear("fake", Wanted("model/m/converse-stream", {})), Fold()
    chunks = [chunk for read in reads for chunk in ear.feed(read)]
    for chunk in [*chunks, *ear.end()]:
        fold.add(chunk.value)
    return fold.completion()


def cut(raw: bytes, places: Iterable[int]) -> list[bytes]:
    bounds = [0, *sorted(set(places)), len(raw)]
    return [raw[start:end] for start, end in pairwise(bounds)]


@pytest.mark.parametrize("name", SPOKEN)
def test_an_answer_is_what_it_is_meant_to_be(name: str) -> None:
    api, dialect = SPOKEN[name]
    choice = heard(api, [written(dialect)])["choices"][0]

    assert choice["message"]["content"] == "aé日🙂\n\r\u2028"
    assert choice["message"]["reasoning_content"] == "ä€"
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"ß":"𝄞"}'
    assert choice["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", SPOKEN)
def test_a_stream_may_be_cut_in_two_at_any_byte(name: str, end: str) -> None:
    api, dialect = SPOKEN[name]
    raw = written(dialect, ENDS[end])
    whole = heard(api, [raw])

    for place in range(len(raw) + 1):
        assert heard(api, [raw[:place], raw[place:]]) == whole, raw[max(0, place - 20) : place + 20]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", SPOKEN)
def test_a_stream_may_come_byte_by_byte(name: str, end: str) -> None:
    api, dialect = SPOKEN[name]
    raw = written(dialect, ENDS[end], comments=True)

    assert heard(api, [bytes([byte]) for byte in raw]) == heard(api, [written(dialect)])


@pytest.mark.parametrize("name", EVENTS)
def test_a_mark_of_the_byte_order_before_it_all_is_not_seen(name: str) -> None:
    api, dialect = SPOKEN[name]
    raw = b"\xef\xbb\xbf" + written(dialect)
    for place in range(5):
        assert heard(api, [raw[:place], raw[place:]]) == heard(api, [written(dialect)])


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("name", EVENTS)
def test_the_last_event_may_lack_the_line_that_ends_it(name: str, end: str) -> None:
    api, dialect = SPOKEN[name]
    assert heard(api, [written(dialect, ENDS[end], last_blank=False)]) == heard(api, [written(dialect)])


@pytest.mark.parametrize("name", SPOKEN)
@given(places=st.lists(st.integers(1, 4000), max_size=40), end=st.sampled_from(sorted(ENDS)), comments=st.booleans())
def test_a_stream_may_be_cut_anywhere_any_number_of_times(
    name: str, places: list[int], end: str, comments: bool
) -> None:
    api, dialect = SPOKEN[name]
    raw = written(dialect, ENDS[end], comments=comments)

    assert heard(api, cut(raw, [place for place in places if place < len(raw)])) == heard(api, [written(dialect)])


async def test_a_client_reads_the_same_over_sockets_that_carry_a_byte_at_a_time(far: FarGateway) -> None:
    answer = Answer(texts=("aé", "日🙂", "\n\u2028"))
    for script in (Script(answer=answer, every=1), Script(answer=answer, every=3, line_end=b"\r\n", comments=True)):
        far.fake.script = script
        async with far.streamed() as reply:
            raw = b"".join([read async for read in reply.aiter_raw()])

        assert heard(SPOKEN["chat"][0], [raw])["choices"][0]["message"]["content"] == "aé日🙂\n\u2028"
        assert raw.endswith(b"data: [DONE]\n\n")
