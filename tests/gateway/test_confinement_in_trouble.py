"""Confined requests while what should answer them is silent, gone, slow or unwell: no cloud sees a byte of them."""

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway.test_confinement import CARD, confining
from tests.support.command_line import CommandLine
from tests.support.scripted_upstream import Script
from tests.support.waiting import until

HEDGED = {"retries": 1, "hedge": {"after": "1s", "models": ["mixed"]}, "breaker": {"failures": 1_000}}
HURRY = {"x-sluice-timeout-ms": "1500"}


async def test_a_hedge_and_a_silent_machine_send_nothing_outside(tmp_path: Path) -> None:
    async with confining(tmp_path, reliability=HEDGED) as at:
        at.gateway.upstream.script = Script(silent=asyncio.Event())
        for stream in (False, True):
            reply = await at.chat("mixed", CARD, headers=HURRY, stream=stream)
            assert reply.status_code in {503, 504}
        assert at.calls[1:] == (0, 0)
        free = await at.chat("mixed", headers={"x-sluice-timeout-ms": "5000"})
        assert (free.status_code, at.calls[1]) == (200, 1)


async def test_an_unhealthy_machine_is_unavailable_and_says_in_which_zone(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        at.gateway.upstream.healthy = False
        await at.gateway.services.in_force.governed.catalogue.provider("engine").refresh()
        reply = await at.chat("auto", CARD)
        error = reply.json()["error"]
        assert (reply.status_code, error["code"]) == (503, "zone_unavailable")
        assert "onprem" in error["message"]
        assert "4111" not in reply.text
        assert at.calls == (0, 0, 0)


async def test_what_a_provider_says_of_a_confined_request_is_in_no_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.support.running_gateway.QUIET", {"log_level": "info"})
    quoting = Script(status=500, error={"message": f"cannot read {CARD} of bob@acme.io", "type": "x", "code": "y"})
    async with confining(tmp_path) as at:
        at.gateway.upstream.script = at.one.script = at.two.script = quoting
        await at.chat("mixed", CARD)
        await at.chat("auto", "Write to bob@acme.io")
        await at.gateway.rows(2)
    told = "".join(capfd.readouterr())
    assert told.count("attempt failed") > 1
    assert (CARD in told, "bob@acme.io" in told) == (False, False)


async def test_a_client_that_leaves_takes_nothing_outside(tmp_path: Path) -> None:
    async with confining(tmp_path, reliability=HEDGED) as at:
        at.gateway.upstream.script = Script(silent=asyncio.Event())
        pending = asyncio.create_task(at.chat("mixed", CARD))
        await at.gateway.upstream.until(lambda: len(at.gateway.upstream.bodies) > 0)
        pending.cancel()
        with suppress(asyncio.CancelledError, httpx.HTTPError):
            await pending
        await until(lambda: at.gateway.services.purse.open_holds == 0)
        assert at.calls[1:] == (0, 0)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "c", "content": CARD},
        {"role": "system", "content": f"The customer pays with {CARD}"},
        {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "text", "text": CARD}]},
    ],
)
async def test_every_part_of_a_chat_is_read(tmp_path: Path, message: dict[str, Any]) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    first = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    before = first if message["role"] == "tool" else []
    async with confining(tmp_path) as at:
        reply = await at.chat("auto", messages=[*before, message, {"role": "user", "content": "Well?"}])
        assert reply.headers["x-sluice-provider"] == "engine", reply.text
        assert at.calls[1:] == (0, 0)


async def test_a_kept_answer_is_renewed_only_inside(tmp_path: Path) -> None:
    cache = {"exact": {"ttl": "1s", "stale": "1h"}}
    async with confining(tmp_path, cache=cache) as at:
        for _ in range(3):
            assert (await at.chat("auto", CARD, temperature=0)).status_code == 200
            await asyncio.sleep(0.6)
        await at.gateway.upstream.until(lambda: len(at.gateway.upstream.bodies) > 1)
        assert at.calls[1:] == (0, 0)


async def test_without_the_log_of_decisions_nothing_confined_goes_anywhere(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        async with at.gateway.database.transaction() as connection:
            await connection.exec_driver_sql("ALTER TABLE zone_decision RENAME TO gone")
        reply = await at.chat("auto", CARD)
        assert (reply.status_code, at.calls) == (503, (0, 0, 0))
        assert (await at.chat("auto")).status_code == 200


async def test_the_command_line_proves_it_and_notices_a_changed_row(tmp_path: Path) -> None:
    async with confining(tmp_path) as at:
        await at.chat("auto", CARD)
        await at.chat("auto", "password: hunter2Axq9")
        await at.gateway.rows(2)
    shell = CommandLine(tmp_path / "home")
    whole = await asyncio.to_thread(shell.json, "prove", "zones")
    counts = {name: whole[name] for name in ("entries", "confined", "calls", "refused")}
    assert (whole["holds"], counts) == (True, {"entries": 3, "confined": 1, "calls": 1, "refused": 1})
    async with confining(tmp_path) as at, at.gateway.database.transaction() as connection:
        await connection.exec_driver_sql("UPDATE zone_decision SET zones = 'cloud' WHERE n = 1")
    broken = await asyncio.to_thread(shell.run, "prove", "zones", "--json")
    assert (broken.exit_code, json.loads(broken.stdout)["breach"]["n"]) == (1, 1)
    told = await asyncio.to_thread(shell.run, "prove", "zones")
    assert "Broken at entry 1" in told.output
