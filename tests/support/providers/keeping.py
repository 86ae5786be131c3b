"""A provider of Messages that keeps prefixes and bills writes and reads of them as Anthropic says that it does."""

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any, Final

import msgspec
from starlette.requests import Request

from tests.support.providers.answer import Prompt
from tests.support.providers.delivery import Served
from tests.support.providers.dialect import Body
from tests.support.providers.fake import FakeProvider
from tests.support.providers.script import Script

_MARK: Final = "cache_control"
_LOOK_BACK: Final = 20
_BYTES_PER_TOKEN: Final = 4
_SECONDS: Final = {None: 300, "5m": 300, "1h": 3600}
MOST_MARKS: Final = 4


class KeepingProvider(FakeProvider):
    """Keeps what is marked, for each model apart.

    A prefix is found again at a mark or at one of the twenty blocks before it, is renewed when it is read, and is not
    kept below a length.

    Attributes:
        now: its clock, in seconds.
        marks: how many marks each request had, oldest first.
    """

    def __init__(self, least_tokens: int = 1024) -> None:
        super().__init__()
        self.now = 0.0
        self.marks: list[int] = []
        self._least = least_tokens
        self._kept: dict[bytes, tuple[float, int]] = {}

    def _remember(self, request: Request, body: Body) -> tuple[Script, Served]:
        script, served = super()._remember(request, body)
        served.answer = replace(script.answer, prompt=self._billed(body))
        return replace(script, answer=served.answer), served

    def _billed(self, body: Body) -> Prompt:
        chain, size = sha256(str(body["model"]).encode()), 0
        ends: list[tuple[bytes, int, Any]] = []
        for block, mark in _blocks(body):
            chain.update(len(block).to_bytes(8, "big") + block)
            size += len(block)
            ends.append((chain.digest(), size // _BYTES_PER_TOKEN, mark))
        marked = [at for at, (_, _, mark) in enumerate(ends) if mark is not None]
        self.marks.append(len(marked))
        assert len(marked) <= MOST_MARKS
        read = max((self._read(ends, at) for at in marked), default=0)
        wrote = {300: 0, 3600: 0}
        before, last = read, MOST_MARKS * 3600
        for at in marked:
            digest, tokens, mark = ends[at]
            seconds = _SECONDS[mark.get("ttl")]
            assert seconds <= last, "a mark for an hour stands before those for minutes"
            last = seconds
            if tokens >= self._least:
                wrote[seconds] += max(0, tokens - before)
                before = max(before, tokens)
                self._kept[digest] = (self.now + seconds, seconds)
        fresh = size // _BYTES_PER_TOKEN - read - sum(wrote.values())
        return Prompt(fresh=fresh, read=read, written=wrote[300], written_1h=wrote[3600])

    def _read(self, ends: list[tuple[bytes, int, Any]], mark: int) -> int:
        for at in range(mark, max(-1, mark - _LOOK_BACK), -1):
            digest, tokens, _ = ends[at]
            until, seconds = self._kept.get(digest, (0.0, 0))
            if self.now < until:
                self._kept[digest] = (self.now + seconds, seconds)
                return tokens
        return 0


def _blocks(body: Body) -> Iterator[tuple[bytes, Any]]:
    """Yield every block of a prompt in the order in which it is read, with the mark at its end."""
    for tool in body.get("tools", ()):
        yield _bare("tool", tool), tool.get(_MARK)
    for block in _parts(body.get("system", ())):
        yield _bare("system", block), block.get(_MARK)
    for message in body["messages"]:
        for block in _parts(message["content"]):
            yield _bare(message["role"], block), block.get(_MARK)


def _parts(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _bare(role: str, block: dict[str, Any]) -> bytes:
    return msgspec.json.encode([role, {name: value for name, value in block.items() if name != _MARK}])
