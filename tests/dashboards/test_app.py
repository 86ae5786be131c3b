import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from zoneinfo import ZoneInfo

import httpx
import pytest
from fastapi import FastAPI

from dashboards.app import router
from dashboards.security import CONTENT_SECURITY_POLICY
from dashboards.sign_in import SignIn
from tests.support.spend_reports import ScriptedReports, request_row, spend_row

NOW = datetime(2026, 11, 26, 15, 42, tzinfo=ZoneInfo("Europe/London"))
ATTACK = "<script>alert('team')</script>"


@asynccontextmanager
async def browser(reports: ScriptedReports | None = None, scheme: str = "http") -> AsyncGenerator[httpx.AsyncClient]:
    app = FastAPI()
    sign_in = SignIn(admin_key="sk-admin", secret=bytes(32), clock=NOW.timestamp)
    app.include_router(router(reports or ScriptedReports(), sign_in, lambda: NOW))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=f"{scheme}://sluice.test") as client:
        yield client


def form_token(page: str) -> str:
    found = re.search(r'name="form" value="([0-9a-f]{64})"', page)
    assert found
    return found[1]


async def offer(client: httpx.AsyncClient, key: str = "sk-admin") -> httpx.Response:
    token = form_token((await client.get("/admin/sign-in")).text)
    return await client.post("/admin/sign-in", data={"form": token, "key": key})


@asynccontextmanager
async def signed_in(reports: ScriptedReports) -> AsyncGenerator[httpx.AsyncClient]:
    async with browser(reports) as client:
        assert (await offer(client)).headers["location"] == "/admin"
        yield client


async def test_without_a_session_the_way_leads_to_the_sign_in() -> None:
    async with browser() as client:
        reply = await client.get("/admin?range=30d")
        assert (reply.status_code, reply.headers["location"]) == (303, "/admin/sign-in")


async def test_the_admin_key_opens_the_dashboard_and_signing_out_closes_it() -> None:
    async with signed_in(ScriptedReports()) as client:
        page = await client.get("/admin")
        assert page.status_code == 200
        out = await client.post("/admin/sign-out", data={"form": form_token(page.text)})
        assert out.headers["location"] == "/admin/sign-in"
        assert (await client.get("/admin")).status_code == 303


async def test_who_has_signed_in_is_not_asked_again() -> None:
    async with signed_in(ScriptedReports()) as client:
        reply = await client.get("/admin/sign-in")
        assert (reply.status_code, reply.headers["location"]) == (303, "/admin")


async def test_the_session_cookie_is_out_of_reach_of_scripts_other_sites_and_other_paths() -> None:
    async with browser(scheme="https") as client:
        cookie = (await offer(client)).headers["set-cookie"].lower()
    for attribute in ("httponly", "samesite=strict", "path=/admin", "secure", f"max-age={12 * 3600}"):
        assert attribute in cookie


async def test_a_form_from_elsewhere_signs_nobody_in_and_nobody_out() -> None:
    async with signed_in(ScriptedReports()) as client:
        assert (await client.post("/admin/sign-in", data={"key": "sk-admin"})).status_code == 403
        await client.post("/admin/sign-out", data={"form": "0" * 64})
        assert (await client.get("/admin")).status_code == 200


async def test_a_wrong_key_is_told_so_and_the_sixth_guess_must_wait() -> None:
    async with browser() as client:
        for _ in range(5):
            reply = await offer(client, "guess")
            assert reply.status_code == 401
            assert "That is not the admin key." in reply.text
        reply = await offer(client)
        assert (reply.status_code, reply.headers["retry-after"]) == (429, "60")


@pytest.mark.parametrize("body", [b"\xff\xfe", b"form=" + b"x" * 100_000, b"&&&==="])
async def test_a_malformed_form_is_refused(body: bytes) -> None:
    async with browser() as client:
        assert (await client.post("/admin/sign-in", content=body)).status_code == 403


async def test_every_page_is_sent_with_a_strict_policy_and_kept_in_no_cache() -> None:
    async with signed_in(ScriptedReports()) as client:
        pages = [await client.get("/admin"), await client.post("/admin/sign-in")]
        for headers in (page.headers for page in pages):
            assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
            assert headers["cache-control"] == "no-store"
            assert headers["x-content-type-options"] == "nosniff"


async def test_pages_hold_nothing_that_their_policy_forbids() -> None:
    reports = ScriptedReports(rows=[spend_row("support", cost=3, requests=5)], latest=[request_row()])
    async with signed_in(reports) as client:
        page = (await client.get("/admin")).text
    assert " style=" not in page
    assert not re.search(r"\son[a-z]+=", page)
    assert not re.search(r"<script(?![^>]*\ssrc=)", page)
    assert "https://" not in page


async def test_assets_are_served_to_anybody_and_may_be_kept_while_their_url_lasts() -> None:
    async with browser() as client:
        page = (await client.get("/admin/sign-in")).text
        urls = re.findall(r'"(/admin/static/[^"]+)"', page)
        assert len(urls) == 3
        for url in urls:
            reply = await client.get(url)
            assert reply.status_code == 200
            assert "immutable" in reply.headers["cache-control"]
        assert (await client.get("/admin/static/app.py")).status_code == 404
        assert (await client.get("/admin/static/..%2Fapp.py")).status_code == 404


async def test_a_hostile_name_is_shown_as_text_wherever_it_stands() -> None:
    reports = ScriptedReports(
        rows=[spend_row(ATTACK, cost=3, requests=5)],
        latest=[
            request_row(team=ATTACK, app=ATTACK, feature=ATTACK, model=ATTACK, route=ATTACK, cache=ATTACK, code=ATTACK)
        ],
    )
    async with signed_in(reports) as client:
        page = (await client.get("/admin")).text
    assert "<script>alert" not in page
    assert page.count("&lt;script&gt;alert(&#39;team&#39;)&lt;/script&gt;") >= 8


async def test_what_does_not_print_in_a_name_is_shown_as_a_mark() -> None:
    name = "\x1b[31m\u202ered"
    reports = ScriptedReports(
        rows=[spend_row(name, cost=3, requests=5)],
        latest=[request_row(team=name, app=name, feature=name, model=name, route=name)],
    )
    async with signed_in(reports) as client:
        page = (await client.get("/admin")).text
    assert page.replace("\n", "").isprintable()
    assert page.count("�[31m�red") >= 8


async def test_spend_is_shown_by_the_asked_dimension_and_unattributed_is_a_row_like_any_other() -> None:
    reports = ScriptedReports(
        rows=[
            spend_row("opus", cost=40, requests=10, saved=10),
            spend_row("unattributed", cost=2, requests=90, refused=9),
        ],
        latest=[request_row()],
    )
    async with signed_in(reports) as client:
        page = (await client.get("/admin?range=7d&by=model")).text
    assert "Spend by model" in page
    assert re.search(r'<th scope="row"><i class="dot s1"></i>unattributed</th>', page)
    assert 'data-tile="spend"' in page
    assert "$42.00" in page
    assert "19% of the bill without Sluice" in page
    assert 'href="/admin?range=30d&amp;by=model"' in page


async def test_a_request_is_shown_with_its_parts_and_its_cost_to_the_last_nano_dollar() -> None:
    async with signed_in(ScriptedReports(rows=[spend_row("support", cost=1)], latest=[request_row()])) as client:
        page = (await client.get("/admin")).text
    at = "2026-11-26T09:30:00+00:00"
    assert f'<time datetime="{at}" title="{at} · req-1">09:30<span class="more">:00</span></time>' in page
    assert "1.20k → 30" in page
    assert 'title="0.001234567 USD">$0.00123<' in page


async def test_a_ledger_without_requests_shows_how_to_send_the_first() -> None:
    async with signed_in(ScriptedReports()) as client:
        page = (await client.get("/admin")).text
    assert "Nothing has flowed yet" in page
    assert "curl http://sluice.test/v1/chat/completions" in page


async def test_a_span_without_spend_says_so() -> None:
    async with signed_in(ScriptedReports(latest=[request_row()])) as client:
        assert "Nothing was spent in this range." in (await client.get("/admin")).text


async def test_a_ledger_out_of_reach_is_a_page_that_says_so_and_no_success() -> None:
    async with signed_in(ScriptedReports(broken=True)) as client:
        reply = await client.get("/admin")
    assert reply.status_code == 503
    assert "The store is unavailable: unable to open database file" in reply.text


@pytest.mark.parametrize(("theme", "shown"), [("dark", True), ("light", True), ('"><script>', False)])
async def test_a_chosen_theme_is_obeyed_and_nothing_else(theme: str, shown: bool) -> None:
    async with browser() as client:
        page = await client.get("/admin/sign-in", headers={"cookie": f"sluice_theme={theme}"})
    assert (f'data-theme="{theme}"' in page.text) is shown
    assert ("data-theme" in page.text) is shown
