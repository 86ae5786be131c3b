"""An application behind Amazon's lock: only requests that are signed with the secret come in."""

import re
from dataclasses import dataclass, field
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})")


@dataclass
class Locked:
    """Recomputes the signature of what has really come over the wire.

    Attributes:
        inner: what is behind.
        credentials: whose signature opens.
        region: that it is signed for.
        paths: the paths that were called, as they came.
    """

    inner: ASGIApp
    credentials: Credentials
    region: str
    paths: list[str] = field(default_factory=list[str])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.inner(scope, receive, send)
        body = await _body(receive)
        self.paths.append(scope["raw_path"].decode())
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        if not self._opens(scope, headers, body):
            return await JSONResponse({"message": "The security token is invalid."}, 403)(scope, receive, send)
        told = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(told, None) or await receive()

        return await self.inner(scope, again, send)

    def _opens(self, scope: Scope, headers: dict[str, str], body: bytes) -> bool:
        found = _SIGNED.fullmatch(headers.get("authorization", ""))
        token = headers.get("x-amz-security-token")
        if found is None or token != self.credentials.token:
            return False
        who, signed, signature = found.groups()
        url = f"http://{headers['host']}{scope['raw_path'].decode()}"
        request = AWSRequest(scope["method"], url, {name: headers[name] for name in signed.split(";")}, data=body)
        request.context["timestamp"] = headers["x-amz-date"]
        signer = SigV4Auth(self.credentials, "bedrock", self.region)
        right = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
        return who == signer.scope(request) and signature == right and {"host", "x-amz-date"} <= set(signed.split(";"))


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
