"""A receiver of webhooks on loopback: it keeps what it gets, and accepts it or does not."""

from dataclasses import dataclass, field
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


@dataclass(frozen=True)
class Delivered:
    """One delivery: the body as it came, and its headers."""

    raw: bytes
    headers: dict[str, str]

    @property
    def body(self) -> dict[str, Any]:
        """The body, decoded."""
        return msgspec.json.decode(self.raw)


@dataclass
class Receiver:
    """Accepts with the next of `answers`, and with 204 once there are none left."""

    answers: list[int] = field(default_factory=list[int])
    got: list[Delivered] = field(default_factory=list[Delivered])

    def app(self) -> Starlette:
        """Return the receiver as an application."""
        return Starlette(routes=[Route("/hook", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        self.got.append(Delivered(await request.body(), dict(request.headers)))
        status = self.answers.pop(0) if self.answers else 204
        return Response(status_code=status, headers={"location": "/elsewhere"} if status == 302 else None)
