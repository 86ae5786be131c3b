"""Read the input of a batch: lines of JSON, each of them a request. Spec: the OpenAI API reference, "Batch"."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from gateway.wire.body import LIMIT_BYTES
from gateway.wire.jsonl import lines_of
from governance.database import Database
from governance.deferred import files, progress
from governance.deferred.records import Batch, Fault, NewLine
from governance.errors import UnknownFile

MOST_LINES: Final = 50_000
MOST_FAULTS: Final = 50
"""Faults that are told; the input is read no further then."""

_ENVELOPE: Final = 64 * 1024
_EMPTY: Final = Fault("empty_file", "The input file has no requests in it.")


class InputLine(msgspec.Struct, frozen=True):
    """What a line says; the body is looked at when it is run, as any request is."""

    custom_id: Annotated[str, Meta(min_length=1, max_length=512)]
    method: Literal["POST"]
    url: str
    body: msgspec.Raw


async def validate(database: Database, batch: Batch, now: Callable[[], datetime]) -> None:
    """Store the lines of a batch and let it begin, or end it with what is wrong with them.

    Raises:
        StoreUnavailable: the database does not answer; the next look begins anew.
    """
    checker, lines = Checker(batch.endpoint), list[NewLine]()
    try:
        pieces = await files.read(database, batch.input_file_id or "", batch.owner)
        async for n, raw in lines_of(pieces, LIMIT_BYTES + _ENVELOPE):
            line = checker.check(n, raw)
            if line is not None and not checker.faults:
                lines.append(line)
            if len(lines) == progress.AT_ONCE and not await _added(database, batch, lines, now()):
                return
            if len(checker.faults) == MOST_FAULTS:
                break
    except UnknownFile:
        checker.faults.append(Fault("invalid_input_file", "The input file has been deleted."))
    faults = checker.faults if checker.faults or checker.seen else [_EMPTY]
    if faults:
        await progress.reject(database, batch.id, faults, now())
    elif await _added(database, batch, lines, now()):
        await progress.begin(database, batch.id, now())


class Checker:
    """Checks lines one after the other, and keeps what is wrong with them."""

    def __init__(self, endpoint: str) -> None:
        self.faults: list[Fault] = []
        self.seen: set[str] = set()
        self._endpoint = endpoint

    def check(self, n: int, raw: bytes | None) -> NewLine | None:
        """Return a line that is good; None, having kept the fault, for one that is not.

        Args:
            n: its number in the file, from 1.
            raw: what it says; None when it is longer than a request may be.
        """
        line = self._read(raw)
        if isinstance(line, InputLine):
            self.seen.add(line.custom_id)
            return NewLine(n, line.custom_id, bytes(line.body))
        code, message, param = line
        self.faults.append(Fault(code, message, n, param))
        return None

    def _read(self, raw: bytes | None) -> InputLine | tuple[str, str, str | None]:
        if raw is None:
            return "request_too_large", f"This line is larger than {LIMIT_BYTES // 2**20} MiB.", None
        try:
            line = msgspec.json.decode(raw, type=InputLine)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$.")
            return "invalid_request", f"{message}.", path.removesuffix("`") or None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return "invalid_json_line", "This line is not parseable as valid JSON.", None
        return self._against_the_batch(line) or line

    def _against_the_batch(self, line: InputLine) -> tuple[str, str, str | None] | None:
        if not line.custom_id.isprintable():
            return "invalid_value", "A custom_id must be text that prints.", "custom_id"
        if line.url != self._endpoint:
            return "mismatched_endpoint", f"The url must be {self._endpoint!r}, as it is for the batch.", "url"
        if not bytes(line.body).startswith(b"{"):
            return "invalid_value", "The body must be a JSON object.", "body"
        if line.custom_id in self.seen:
            return "duplicate_custom_id", "Another line of this file has the same custom_id.", "custom_id"
        if len(self.seen) == MOST_LINES:
            return "too_many_requests", f"A batch may have at most {MOST_LINES} requests.", None
        return None


async def _added(database: Database, batch: Batch, lines: list[NewLine], at: datetime) -> bool:
    """Store lines and forget them; False when the batch no longer wants them."""
    if lines and not await progress.add_lines(database, batch.id, lines, at):
        return False
    lines.clear()
    return True
