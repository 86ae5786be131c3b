"""The pages in a real browser: what the security policy must let through, and what it must not stop."""

import asyncio
import os
import shutil
import time
from asyncio.subprocess import PIPE
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from dashboards.app import router
from dashboards.sign_in import SignIn
from tests.support.people import ScriptedPeople
from tests.support.scripted_upstream import serve
from tests.support.spend_reports import ScriptedReports, request_row, spend_row

CHROMIUM = shutil.which("chromium")
QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
)
NOW = datetime(2026, 11, 26, 15, 42, tzinfo=ZoneInfo("Europe/London"))
pytestmark = pytest.mark.skipif(CHROMIUM is None and os.environ.get("CI") != "true", reason="chromium is not installed")


def signed_in(app: ASGIApp, session: str, asked: list[str]) -> ASGIApp:
    """Send every request with a session, because a headless dump cannot fill in a form, and note what is asked."""

    async def with_cookie(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            asked.append(scope["path"])
            scope["headers"] = [*scope["headers"], (b"cookie", f"sluice_session={session}".encode())]
        await app(scope, receive, send)

    return with_cookie


async def test_style_script_and_renewal_work_under_the_policy_and_nothing_is_complained_of(tmp_path: Path) -> None:
    reports = ScriptedReports(rows=[spend_row("support", cost=3, requests=5)], latest=[request_row()])
    door = SignIn(people=ScriptedPeople(time.time), secret=bytes(32), clock=time.time)
    app = FastAPI()
    app.include_router(router(reports, door, lambda: NOW))
    asked: list[str] = []
    async with serve(signed_in(app, await door.open("sk-admin", "test"), asked)) as port:
        assert CHROMIUM is not None, "CI must have chromium"
        browser = await asyncio.create_subprocess_exec(
            CHROMIUM,
            *QUIET,
            f"--user-data-dir={tmp_path}",
            "--enable-logging=stderr",
            "--virtual-time-budget=11000",  # one renewal, ten seconds in
            "--dump-dom",
            f"http://127.0.0.1:{port}/admin?range=7d",
            stdout=PIPE,
            stderr=PIPE,
        )
        page, log = await asyncio.wait_for(browser.communicate(), 60)
    dom = page.decode()
    assert 'aria-label="Switch between light and dark"' in dom
    assert 'aria-label="Switch between light and dark" hidden' not in dom, "the script did not run"
    assert asked.count("/admin") == 2, "the figures did not renew"
    complaints = [line for line in log.decode().splitlines() if "CONSOLE" in line]
    assert complaints == []
