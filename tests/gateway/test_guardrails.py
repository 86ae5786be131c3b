"""Guardrails through a whole gateway: what is blocked, redacted and flagged, in every dialect, streamed and not."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from governance.money import ZERO
from tests.support.polyglot import CHAT, PATHS, polyglot
from tests.support.providers.answer import Answer, ToolCall
from tests.support.providers.script import Script
from tests.support.running_gateway import policy, running_gateway

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
EMAIL = "ann.lee@example.org"
NO_SECRETS = {"name": "no-secrets-out", "on": "output", "detect": ["secret", "private_key"], "action": "redact"}
TERMS = {"name": "blocked-terms", "on": "input", "pattern": r"(?i)project\s+nightjar", "action": "block"}
MAIL = {"name": "mail", "on": "input", "detect": ["email"], "action": "redact", "reversible": True}


def saying(text: str) -> dict[str, Any]:
    """What is put over a request at each path to say something."""
    return {"messages": [{"role": "user", "content": text}], "prompt": text, "input": text}


def asked(path: str, text: str, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in saying(text).items() if name in PATHS[path]} | more


def pieces(text: str, size: int = 3) -> tuple[str, ...]:
    return tuple(text[at : at + size] for at in range(0, len(text), size))


def spoken(choice: dict[str, Any]) -> dict[str, Any]:
    return choice["delta"] if "delta" in choice else choice["message"]


def said(path: str, reply: httpx.Response) -> str:
    """Return the text of an answer, put together from what a client of the dialect reads."""
    events = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]
    match path:
        case "/v1/messages" if events:
            return "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
        case "/v1/messages":
            return "".join(block["text"] for block in reply.json()["content"] if block["type"] == "text")
        case "/v1/responses" if events:
            return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        case "/v1/responses":
            return "".join(part["text"] for item in reply.json()["output"] for part in item["content"])
        case "/v1/completions":
            choices = [choice for event in events or [reply.json()] for choice in event.get("choices", ())]
            return "".join(choice["text"] for choice in choices)
        case _:
            choices = [choice for event in events or [reply.json()] for choice in event.get("choices", ())]
            return "".join(spoken(choice).get("content") or "" for choice in choices)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_secret_is_redacted_in_every_dialect_whoever_says_it(tmp_path: Path, stream: bool) -> None:
    async with polyglot(tmp_path, guardrails=[NO_SECRETS]) as running:
        text = f"The token is {SECRET}, keep it well."
        for path in PATHS:
            for model in ("chat", "messages", "responses"):
                running.fake.script = Script(answer=Answer(texts=pieces(text)))
                reply = await running.ask(model, path, stream=stream)
                assert reply.status_code == 200
                assert SECRET not in reply.text
                assert said(path, reply) == "The token is [SECRET], keep it well.", (path, model)
                if not stream:
                    assert reply.headers["x-sluice-guardrails"] == "no-secrets-out=redact"


async def test_a_request_that_is_blocked_costs_nothing_and_goes_nowhere(tmp_path: Path) -> None:
    async with polyglot(tmp_path, guardrails=[TERMS]) as running:
        for count, path in enumerate(PATHS, 1):
            reply = await running.ask("chat", path, **asked(path, "All about Project\n NIGHTJAR", stream=True))
            assert (reply.status_code, reply.headers["x-should-retry"]) == (400, "false")
            assert "blocked-terms" in reply.text
            assert "nightjar" not in reply.text.casefold()
            error = reply.json()["error"]
            if path != "/v1/messages":
                assert (error["code"], error["rule"], error["on"]) == ("content_blocked", "blocked-terms", "input")
            row = (await running.gateway.rows(count))[0]
            assert (row.kind, row.code, row.cost) == ("refused", "content_blocked", ZERO)
        assert running.fake.served == []


async def test_a_stream_that_is_blocked_ends_with_an_error_and_is_paid_for(tmp_path: Path) -> None:
    rule = {"name": "no-nightjar", "on": "output", "pattern": r"(?i)project\s+nightjar", "action": "block"}
    async with polyglot(tmp_path, guardrails=[rule]) as running:
        running.fake.script = Script(answer=Answer(texts=pieces("We speak of Project Nightjar, which is secret.")))
        for count, path in enumerate(PATHS):
            reply = await running.ask("chat", path, stream=True)
            assert reply.status_code == 200
            assert said(path, reply) == "We speak of "
            assert "nightjar" not in reply.text.casefold().replace("no-nightjar", "")
            assert "[DONE]" not in reply.text
            assert "no-nightjar" in reply.text
            row = (await running.gateway.rows(2 * count + 1))[0]
            assert (row.kind, row.outcome, row.code) == ("settled", "failed", "content_blocked")
            assert row.cost > ZERO
            plain = await running.ask("chat", path)
            assert (plain.status_code, plain.headers["x-should-retry"]) == (400, "false")
            await running.gateway.rows(2 * count + 2)
        assert running.gateway.services.purse.open_holds == 0


@pytest.mark.parametrize("stream", [False, True])
async def test_what_was_redacted_comes_back_to_who_asked_and_to_nobody_else(tmp_path: Path, stream: bool) -> None:
    call = ToolCall("call_1", "send", pieces('{"to":"[EMAIL_1]","body":"Dear [EMAIL_2]"}', 4))
    async with polyglot(tmp_path, guardrails=[MAIL]) as running:
        for path in PATHS:
            running.fake.script = Script(answer=Answer(texts=pieces("I write to [EMAIL_1] and [EMAIL_3].", 2)))
            reply = await running.ask("messages", path, **asked(path, f"Write to {EMAIL}!", stream=stream))
            assert EMAIL not in json.dumps(running.fake.served[-1].body)
            assert "[EMAIL_1]" in json.dumps(running.fake.served[-1].body)
            assert said(path, reply) == f"I write to {EMAIL} and [EMAIL_3]."
        running.fake.script = Script(answer=Answer(texts=("Ok",), calls=(call,), finish="tool_calls"))
        tools = [{"type": "function", "function": {"name": "send", "parameters": {"type": "object"}}}]
        reply = await running.ask(
            "chat", CHAT, **asked(CHAT, f'{EMAIL} then "bob"@x.org and more', stream=stream), tools=tools
        )
        events = [json.loads(line[6:]) for line in reply.text.splitlines() if line.startswith("data: {")]
        parts = [spoken(choice) for e in events or [reply.json()] for choice in e["choices"]]
        arguments = "".join(c["function"]["arguments"] for part in parts for c in part.get("tool_calls") or ())
        assert json.loads(arguments) == {"to": EMAIL, "body": 'Dear "bob"@x.org'}


async def test_the_cache_keeps_placeholders_and_gives_each_their_own_back(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, policy(guardrails=[MAIL])) as gateway:
        gateway.upstream.script.pieces = ["Done: ", "[EMA", "IL_1]", "."]
        key = await gateway.key()
        replies = [
            await gateway.chat(key, f"Write to {one}", stream=s)
            for one in (EMAIL, "bob@example.com")
            for s in (False, True)
        ]
        assert [said(CHAT, reply) for reply in replies] == [
            f"Done: {one}." for one in (EMAIL, "bob@example.com") for _ in "12"
        ]
        assert [reply.headers["x-sluice-cache"] for reply in replies] == ["miss", "exact", "exact", "exact"]
        assert [body["messages"][0]["content"] for body in gateway.upstream.bodies] == ["Write to [EMAIL_1]"]
        own = await gateway.chat(key, "Write to [EMAIL_1]")
        assert (said(CHAT, own), own.headers["x-sluice-cache"]) == ("Done: [EMAIL_1].", "exact")
        both = await gateway.chat(key, f"I say [EMAIL_1]; write to {EMAIL}")
        assert said(CHAT, both) == "Done: [EMAIL_1]."
        assert "[EMAIL_2]" in gateway.upstream.bodies[-1]["messages"][0]["content"]


async def test_an_idempotent_repeat_gives_back_what_was_redacted(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, policy(guardrails=[MAIL], cache={})) as gateway:
        gateway.upstream.script.pieces = ["To [EMAIL_1]"]
        key, headers = await gateway.key(), {"idempotency-key": "one"}
        for _ in range(2):
            reply = await gateway.chat(key, f"Write to {EMAIL}", headers=headers)
            assert said(CHAT, reply) == f"To {EMAIL}"
        other = await gateway.chat(key, "Write to bob@example.com", headers=headers)
        assert other.status_code == 422
        assert len(gateway.upstream.bodies) == 1


async def test_stored_answers_keep_to_the_rules_that_are_in_force_now(tmp_path: Path) -> None:
    document = policy(cache={"exact": {"ttl": "1h"}})
    async with running_gateway(tmp_path, document) as gateway:
        gateway.upstream.script.pieces = ["the ", "nightjar sings"]
        key, headers = await gateway.key(), {"idempotency-key": "one"}
        assert said(CHAT, await gateway.chat(key, headers=headers)) == "the nightjar sings"
        rule = {"name": "no-nightjar", "on": "output", "pattern": "nightjar", "action": "redact"}
        await gateway.follow(document | {"guardrails": [rule]})
        for stream in (False, True):
            again = await gateway.chat(key, headers=headers, stream=stream)
            assert (said(CHAT, again), again.headers["x-sluice-cache"]) == ("the [NO_NIGHTJAR] sings", "idempotent")
        anew = await gateway.chat(key)
        assert (said(CHAT, anew), anew.headers["x-sluice-cache"]) == ("the [NO_NIGHTJAR] sings", "miss")
        await gateway.follow(document | {"guardrails": [rule | {"action": "block"}]})
        blocked = await gateway.chat(key, headers=headers)
        assert (blocked.status_code, blocked.json()["error"]["code"]) == (400, "content_blocked")
        (newest, *_) = await gateway.rows(5)
        assert (newest.kind, newest.cost) == ("refused", ZERO)


async def test_a_flag_is_in_headers_and_counters_and_says_no_text(tmp_path: Path) -> None:
    flags = [
        {"name": "asks-nightjar", "on": "input", "pattern": "nightjar", "action": "flag"},
        {"name": "says-owl", "on": "output", "pattern": "owl", "action": "flag"},
        {"name": "only-blue", "on": "input", "pattern": "nightjar", "action": "block", "applies_to": ["blue/bot"]},
    ]
    async with running_gateway(tmp_path, policy(guardrails=flags, cache={})) as gateway:
        gateway.upstream.script.pieces = ["an ", "o", "wl"]
        key = await gateway.key()
        reply = await gateway.chat(key, "the nightjar")
        assert reply.headers["x-sluice-guardrails"] == "asks-nightjar=flag, says-owl=flag"
        streamed = await gateway.chat(key, "the nightjar", stream=True)
        assert streamed.headers["x-sluice-guardrails"] == "asks-nightjar=flag"
        assert said(CHAT, streamed) == "an owl"
        page = gateway.services.metrics.page().decode()
        assert 'sluice_guardrails_total{action="flag",on="output",rule="says-owl"} 2.0' in page
        assert (await gateway.chat(await gateway.key("blue"), "the nightjar")).status_code == 400


async def test_an_answer_that_has_not_the_shape_ends_with_an_error(tmp_path: Path) -> None:
    shape = {"type": "object", "required": ["name"]}
    rules = [
        {"name": "shape", "on": "output", "schema": shape, "action": "block"},
        {"name": "short", "on": "output", "max_chars": 30, "action": "block"},
    ]
    async with running_gateway(tmp_path, policy(guardrails=rules, cache={})) as gateway:
        key = await gateway.key()
        for text, ends in (('{"name": 1}', ""), ('{"nam": 1}', "shape"), ('{"name": "' + "x" * 40 + '"}', "short")):
            gateway.upstream.script.pieces = list(pieces(text))
            reply = await gateway.chat(key)
            assert (reply.status_code, reply.json().get("error", {}).get("rule", "")) == (400 if ends else 200, ends)
            streamed = await gateway.chat(key, stream=True)
            assert ("[DONE]" in streamed.text, '"error"' in streamed.text) == (not ends, bool(ends))
            rows = await gateway.rows(1)
            assert (rows[0].code, rows[0].cost > ZERO) == ("content_blocked" if ends else "", True)


async def test_every_part_of_a_request_is_read_and_several_choices_are_kept_apart(tmp_path: Path) -> None:
    rules = [MAIL | {"reversible": False}, NO_SECRETS]
    async with running_gateway(tmp_path, policy(guardrails=rules, cache={})) as gateway:
        gateway.upstream.script.pieces = [*pieces(f"one {SECRET} two")]
        messages = [
            {"role": "system", "content": f"Ask {EMAIL}"},
            {"role": "user", "content": [{"type": "text", "text": "and bob@example.com"}]},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "call_1", "type": "function",
                 "function": {"name": "mail", "arguments": '{"to":"ann.lee\\u0040example.org"}'}},
            ]},
            {"role": "tool", "tool_call_id": "call_1", "content": f"sent to {EMAIL}"},
        ]  # fmt: skip
        reply = await gateway.chat(await gateway.key(), messages=messages, logprobs=True)
        sent = gateway.upstream.bodies[-1]["messages"]
        assert sent[0]["content"] == "Ask [EMAIL_1]"
        assert sent[1]["content"][0]["text"] == "and [EMAIL_2]"
        assert sent[2]["tool_calls"][0]["function"]["arguments"] == '{"to":"[EMAIL_1]"}'
        assert sent[3]["content"] == "sent to [EMAIL_1]"
        assert said(CHAT, reply) == "one [SECRET] two"


async def test_embeddings_and_counts_keep_to_the_rules_for_requests(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, policy(guardrails=[TERMS, MAIL])) as gateway:
        key = await gateway.key()
        auth = {"authorization": f"Bearer {key}"}
        embed = {"model": "minilm", "input": ["project nightjar", EMAIL]}
        reply = await gateway.client.post("/v1/embeddings", json=embed, headers=auth)
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "content_blocked")
        reply = await gateway.client.post("/v1/embeddings", json=embed | {"input": [EMAIL]}, headers=auth)
        assert reply.status_code == 200
        assert gateway.upstream.bodies[-1]["input"] == ["[EMAIL_1]"]
        count = {"model": "auto", "messages": [{"role": "user", "content": "project nightjar"}]}
        reply = await gateway.client.post("/v1/messages/count_tokens", json=count, headers=auth)
        assert reply.status_code == 400
