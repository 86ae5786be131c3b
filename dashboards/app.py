"""The dashboard's routes: sign in, look, sign out. Thin: parse, ask the reports, render.

Everything lies under `/admin`. Pages need a session; the sign-in form, style, script and icon do not.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from dashboards.deferred_page import batch_rows
from dashboards.pages import Pages
from dashboards.ranges import range_of
from dashboards.reports import Reports
from dashboards.sign_in import SESSION_SECONDS, SignIn
from dashboards.spend_page import dimension_of, spend_page
from governance.errors import StoreUnavailable, TooManyGuesses, Unauthenticated
from governance.people.roles import Person, Right

_SESSION, _BROWSER, _THEME = "sluice_session", "sluice_browser", "sluice_theme"
_LATEST = 50
_LONGEST_FORM = 4096

Context = dict[str, object]
Page = Callable[[Request, Person, Context], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dashboard:
    """The pages and what they are made of.

    Attributes:
        reports: what the ledger says.
        sign_in: who may look.
        pages: templates and assets.
        now: an aware time in the zone whose days and hours people mean.
    """

    reports: Reports
    sign_in: SignIn
    pages: Pages
    now: Callable[[], datetime]

    async def spend(self, request: Request) -> Response:
        """Show the spend page, or the way to the sign-in."""
        return await self._show(request, self._spend)

    async def deferred(self, request: Request) -> Response:
        """Show the page of deferred work, or the way to the sign-in."""
        return await self._show(request, self._deferred)

    async def _show(self, request: Request, page: Page) -> Response:
        session = request.cookies.get(_SESSION) or ""
        context: Context = {"theme": _theme(request), "form_token": self.sign_in.form_token(session)}
        try:
            person = await self.sign_in.who(session)
            if person is None:
                return _to("/admin/sign-in")
            person.require(Right.SEE_SPEND)
            return await page(request, person, context)
        except StoreUnavailable as trouble:
            reason = f"{str(trouble)[:1].upper()}{str(trouble)[1:]}"
            return self.pages.render("trouble.html", context | {"reason": reason, "here": str(request.url)}, status=503)

    async def _spend(self, request: Request, person: Person, context: Context) -> Response:
        now = self.now()
        span = range_of(request.query_params.get("range"), now)
        by = dimension_of(request.query_params.get("by"))
        report, before, points, latest = await asyncio.gather(
            self.reports.spend_by(by, span.since, span.until, person.team),
            self.reports.spend_by(by, span.before, span.before_until, person.team),
            self.reports.spend_over(by, span.edges, person.team),
            self.reports.recent(_LATEST, person.team),
        )
        page = spend_page(span=span, report=report, before=before, points=points, latest=latest, now=now)
        origin = str(request.base_url).rstrip("/")
        return self.pages.render("spend.html", context | {"page": page, "origin": origin})

    async def _deferred(self, request: Request, person: Person, context: Context) -> Response:
        del request
        now = self.now()
        rows = batch_rows(await self.reports.batches(_LATEST, person.team), now)
        return self.pages.render("deferred.html", context | {"rows": rows, "zone": str(now.tzinfo)})

    async def show_sign_in(self, request: Request) -> Response:
        """Show the sign-in form, or the way in to who has signed in already."""
        try:
            if await self.sign_in.who(request.cookies.get(_SESSION)) is not None:
                return _to("/admin")
        except StoreUnavailable:
            pass  # then nobody can sign in either, which the form will say
        return self._sign_in_page(request)

    async def do_sign_in(self, request: Request) -> Response:
        """Exchange an admin key for a session cookie."""
        form = await _form(request)
        if not self.sign_in.is_form(request.cookies.get(_BROWSER), form.get("form", "")):
            return self._sign_in_page(request, "This form is out of date. Please try again.", status=403)
        address = request.client.host if request.client else ""
        try:
            session = await self.sign_in.open(form.get("key", ""), address)
        except Unauthenticated:
            return self._sign_in_page(request, "That is not an admin key.", status=401)
        except StoreUnavailable:
            return self._sign_in_page(request, "The database does not answer. Please try again.", status=503)
        except TooManyGuesses as refused:
            wait_s = max(1, round(refused.retry_after_s))
            page = self._sign_in_page(request, f"Too many guesses. Please wait {wait_s} seconds.", status=429)
            page.headers["Retry-After"] = str(wait_s)
            return page
        response = _to("/admin")
        _set(response, request, _SESSION, session, SESSION_SECONDS)
        response.delete_cookie(_BROWSER, path="/admin")
        return response

    async def do_sign_out(self, request: Request) -> Response:
        """Forget the session in this browser."""
        form = await _form(request)
        if not self.sign_in.is_form(request.cookies.get(_SESSION), form.get("form", "")):
            return _to("/admin")
        response = _to("/admin/sign-in")
        response.delete_cookie(_SESSION, path="/admin", httponly=True, samesite="strict")
        return response

    async def asset(self, name: str) -> Response:
        """Serve style, script or icon."""
        return self.pages.asset(name)

    def _sign_in_page(self, request: Request, problem: str = "", status: int = 200) -> Response:
        browser = request.cookies.get(_BROWSER) or secrets.token_urlsafe(16)
        context = {"theme": _theme(request), "problem": problem, "form_token": self.sign_in.form_token(browser)}
        page = self.pages.render("sign_in.html", context, status)
        _set(page, request, _BROWSER, browser, SESSION_SECONDS)
        return page


def router(reports: Reports, sign_in: SignIn, now: Callable[[], datetime]) -> APIRouter:
    """Return the dashboard's routes.

    Args:
        reports: what the ledger says.
        sign_in: who may look.
        now: an aware time in the zone whose days and hours people mean.
    """
    dashboard = Dashboard(reports=reports, sign_in=sign_in, pages=Pages(), now=now)
    routes = APIRouter(prefix="/admin", include_in_schema=False)
    routes.add_api_route("", dashboard.spend, methods=["GET"])
    routes.add_api_route("/deferred", dashboard.deferred, methods=["GET"])
    routes.add_api_route("/sign-in", dashboard.show_sign_in, methods=["GET"])
    routes.add_api_route("/sign-in", dashboard.do_sign_in, methods=["POST"])
    routes.add_api_route("/sign-out", dashboard.do_sign_out, methods=["POST"])
    routes.add_api_route("/static/{name}", dashboard.asset, methods=["GET"])
    return routes


async def _form(request: Request) -> Mapping[str, str]:
    """Read a small urlencoded form; one that is not small is no form of ours."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LONGEST_FORM:
            return {}
    return dict(parse_qsl(body.decode("utf-8", "replace")))


def _to(path: str) -> RedirectResponse:
    return RedirectResponse(path, status_code=303, headers={"Cache-Control": "no-store"})


def _set(response: Response, request: Request, name: str, value: str, seconds: int) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=seconds, path="/admin", secure=secure, httponly=True, samesite="strict")


def _theme(request: Request) -> str | None:
    chosen = request.cookies.get(_THEME)
    return chosen if chosen in ("light", "dark") else None
