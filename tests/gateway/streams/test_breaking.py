"""A provider that breaks its answer off: the client gets an error in its own dialect, and never a clean end."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
import pytest

from tests.support.providers.answer import Answer
from tests.support.providers.gateways import FarGateway
from tests.support.providers.script import Script

PATHS: Final[Mapping[str, dict[str, Any]]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/responses": {"input": "Hi", "store": False},
    "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 64},
}
BREAKS: Final[Mapping[str, Script]] = {
    "the connection is cut between two pieces": Script(cut_after=2),
    "the connection is cut in the middle of an event": Script(cut_at=700),
    "an error comes in the stream": Script(fail_after=2),
    "the stream ends without an end": Script(stop_after=2),
}
CLEAN_ENDS = ("[DONE]", "message_stop", "response.completed", '"finish_reason":"', '"stop_reason":"')


async def ask(far: FarGateway, path: str, *, stream: bool = True) -> Any:
    body = PATHS[path] | {"model": "far", "stream": stream}
    return await far.gateway.client.post(path, json=body, headers={"x-api-key": far.key})


def last_event(text: str) -> tuple[str, dict[str, Any]]:
    lines = text.strip().split("\n\n")[-1].split("\n")
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    return "".join(names), msgspec.json.decode(lines[-1].removeprefix("data: "))


def error_of(path: str, name: str, data: dict[str, Any]) -> tuple[str, str]:
    """Return the code and the words of an error event, insisting on the form of its dialect."""
    match path:
        case "/v1/messages":
            assert (name, data["type"]) == ("error", "error")
            return data["error"]["details"]["error_code"], data["error"]["message"]
        case "/v1/responses":
            error = data["response"]["error"] if name == "response.failed" else data
            assert name in {"error", "response.failed"}
            return error["code"], error["message"]
        case _:
            return data["error"]["code"], data["error"]["message"]


@pytest.mark.parametrize("path", PATHS)
async def test_a_stream_that_breaks_ends_with_an_error_in_the_clients_dialect(far: FarGateway, path: str) -> None:
    for count, (how, script) in enumerate(BREAKS.items(), 1):
        far.fake.script = script
        reply = await ask(far, path)

        assert reply.status_code == 200, how
        code, message = error_of(path, *last_event(reply.text))
        assert code, how
        assert message.startswith(("Provider 'far'", "The connection to provider 'far'")), how
        assert not [end for end in CLEAN_ENDS if end in reply.text], how
        row = await far.row(count)
        assert (row.kind, row.outcome, row.code) == ("settled", "failed", "upstream_error"), how
        assert row.cost.nanos > 0, how
    assert far.gateway.services.purse.open_holds == 0


async def test_a_plain_answer_that_breaks_is_a_502(far: FarGateway) -> None:
    for how, script in BREAKS.items():
        far.fake.script = script
        reply = await ask(far, "/v1/chat/completions", stream=False)

        assert (reply.status_code, reply.json()["error"]["code"]) == (502, "upstream_error"), how


async def test_a_connection_that_is_cut_before_a_word_is_a_status_for_a_stream_as_well(far: FarGateway) -> None:
    for script in (Script(cut_at=0), Script(hang_up=True), Script(body=b""), Script(body=b"data: {not json}\n\n")):
        far.fake.script = script

        assert (await ask(far, "/v1/chat/completions")).status_code == 502


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        (Script(status=429, headers={"retry-after": "7"}), 503, "overloaded"),
        (Script(status=503), 503, "overloaded"),
        (Script(status=529), 503, "overloaded"),
        (Script(status=500), 502, "upstream_error"),
        (Script(status=401), 502, "upstream_error"),
        (Script(status=400), 400, "invalid_request_error"),
        (Script(status=500, body=b"<html>oops</html>", kind="text/html"), 502, "upstream_error"),
        (Script(body=b"<html>welcome</html>", kind="text/html"), 502, "upstream_error"),
        (Script(body=b'{"id":', kind="application/json"), 502, "upstream_error"),
    ],
    ids=["429", "503", "529", "500", "401", "400", "a page", "a page with 200", "half an object"],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_refusal_is_a_status_and_costs_nothing_but_what_may_be_billed(
    far: FarGateway, script: Script, status: int, code: str, stream: bool
) -> None:
    far.fake.script = script
    reply = await ask(far, "/v1/chat/completions", stream=stream)

    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    if script.status != 200:
        assert (await far.row()).cost.nanos == 0
    if "retry-after" in script.headers:
        assert reply.headers["retry-after"] == "7"


async def test_an_answer_of_which_nothing_is_missing_but_the_end_mark_is_whole(far: FarGateway) -> None:
    far.fake.script = Script(answer=Answer(), unfinished=True)
    reply = await ask(far, "/v1/chat/completions")

    assert reply.text.endswith("data: [DONE]\n\n")
    assert not (await far.row()).estimated
