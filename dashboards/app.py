"""The dashboard's routes: sign in, look, sign out. Thin: parse, ask the reports, render.

Everything lies under `/admin`. Pages need a session; the sign-in form, style, script and icon do not.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from dashboards.pages import Pages
from dashboards.ranges import range_of
from dashboards.reports import Reports
from dashboards.sign_in import SESSION_SECONDS, SignIn, TooManyGuesses, WrongKey
from dashboards.spend_page import dimension_of, spend_page
from governance.errors import StoreUnavailable

_SESSION, _BROWSER, _THEME = "sluice_session", "sluice_browser", "sluice_theme"
_LATEST = 50
_LONGEST_FORM = 4096


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
        session = self._session(request)
        if session is None:
            return _to("/admin/sign-in")
        now = self.now()
        span = range_of(request.query_params.get("range"), now)
        by = dimension_of(request.query_params.get("by"))
        context = {"theme": _theme(request), "form_token": self.sign_in.form_token(session)}
        try:
            report, before, points, latest = await asyncio.gather(
                self.reports.spend_by(by, span.since, span.until),
                self.reports.spend_by(by, span.before, span.before_until),
                self.reports.spend_over(by, span.edges),
                self.reports.recent(_LATEST),
            )
        except StoreUnavailable as trouble:
            reason = f"{str(trouble)[:1].upper()}{str(trouble)[1:]}"
            return self.pages.render("trouble.html", context | {"reason": reason, "here": str(request.url)}, status=503)
        page = spend_page(span=span, report=report, before=before, points=points, latest=latest, now=now)
        origin = str(request.base_url).rstrip("/")
        return self.pages.render("spend.html", context | {"page": page, "origin": origin})

    async def show_sign_in(self, request: Request) -> Response:
        """Show the sign-in form, or the way in to who has signed in already."""
        if self._session(request) is not None:
            return _to("/admin")
        return self._sign_in_page(request)

    async def do_sign_in(self, request: Request) -> Response:
        """Exchange the admin key for a session cookie."""
        form = await _form(request)
        if not self.sign_in.is_form(request.cookies.get(_BROWSER), form.get("form", "")):
            return self._sign_in_page(request, "This form is out of date. Please try again.", status=403)
        address = request.client.host if request.client else ""
        try:
            session = self.sign_in.open(form.get("key", ""), address)
        except WrongKey:
            return self._sign_in_page(request, "That is not the admin key.", status=401)
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

    def _session(self, request: Request) -> str | None:
        """Return the session of a browser that is signed in."""
        session = request.cookies.get(_SESSION)
        return session if self.sign_in.is_open(session) else None

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
