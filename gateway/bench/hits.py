"""A request that the exact cache answers again and again, as far as each part of it goes.

A request is a chat of some 1.2 kB, its answer one of some 1.3 kB. The whole is everything but the HTTP connection: the
key, reading and checking the body, the budgets, the cache, the ledger's record and the reply.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from time import perf_counter, time
from typing import Any, Final

import msgspec

import migrations
from cache.answers import AnswerCache
from cache.semantic.lookup import SemanticCache
from cache.stores import AnswerStore
from gateway.caching.lessons import Teacher
from gateway.caching.recorder import Recorder
from gateway.caching.semantics import OpenSemantics
from gateway.catalogue import Wish
from gateway.context.measures import Measures
from gateway.counting.calibrations import Calibrations
from gateway.endpoints.edge import Visit, ask
from gateway.errors import CannotServe
from gateway.governing.governed import Composer, Governed
from gateway.operations.logs import json_log
from gateway.operations.metrics import Metrics
from gateway.policy.source import parse_policy
from gateway.providers.absent import AbsentUpstream
from gateway.speech import Request
from gateway.speech.chat import read_chat
from gateway.steps.admission import Asked, Entitled
from gateway.steps.confining import unconfined
from gateway.steps.guarding.meanings import Bundled
from gateway.steps.routing import OpenRouter
from gateway.steps.shaping import shape
from gateway.wire.departure import Departure
from gateway.wire.headers import render
from gateway.wire.reply import PlainReply
from gateway.wire.request.chat_body import ChatFields
from gateway.wire.request.controls import Headers
from governance.confinement.decisions import DecisionLog
from governance.confinement.sessions import SessionLabels
from governance.context.hours import ContextHours
from governance.counters.memory import MemoryCounters
from governance.database import Database, open_database
from governance.idempotency.answers import IdempotentAnswers
from governance.identity import Caller, KeyRecord, Keyring, mint
from governance.ledger.events import Settlement
from governance.ledger.writer import LedgerWriter
from governance.lookups.records import Lookups
from governance.prices import Usage
from governance.purse import Purse

_MANY, _LONG_S = 1_000_000, 3_600.0
_BODY: Final = msgspec.json.encode({
    "model": "auto",
    "temperature": 0,
    "messages": [
        {"role": "system", "content": "You answer questions of customers, briefly and kindly. " * 12},
        {"role": "user", "content": "How do I change the address that my orders are sent to? " * 8},
    ],
})  # fmt: skip
_ANSWER: Final = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "strong",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Go there. " * 120}}],
    "usage": {"prompt_tokens": 310, "completion_tokens": 180, "total_tokens": 490},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hits:
    """One request, its key and the gateway it comes to."""

    governed: Governed
    keyring: Keyring
    headers: Headers

    async def keep(self) -> None:
        """Put the answer where it is then found."""
        asked, entitled, wish, counted = self.prepared()
        exact = self.governed.chat.exact
        async with AsyncExitStack() as stack:
            slot, _ = await exact.find(asked, entitled, wish, counted, stack)
            paid = Settlement(outcome="ok", status=200, usage=Usage(fresh_input=310, output=180))
            await exact.keep(asked, entitled, slot, "strong", paid, _ANSWER)

    def prepared(self) -> tuple[Asked[ChatFields], Entitled, Wish, dict[str, Any]]:
        """Return the request as it comes to the cache."""
        asked, _ = self._asked()
        entitled = unconfined(self.governed.admission.admit(asked.caller, asked.offered))
        wish = self.governed.catalogue.wish("auto", "chat", entitled.grant)
        shaped = shape(asked.body, asked.fields, entitled.grant.output, entitled.attribution)
        return asked, entitled, wish, shaped.fingerprinted

    async def look_up(self, prepared: tuple[Asked[ChatFields], Entitled, Wish, dict[str, Any]], _: int) -> None:
        """Find the answer: fingerprint, partition, store."""
        async with AsyncExitStack() as stack:
            await self.governed.chat.exact.find(*prepared, stack)

    async def take(self, prepared: tuple[Asked[ChatFields], Entitled, Wish, dict[str, Any]], _: int) -> None:
        """Find the answer, record that it is given, and write the headers."""
        asked, entitled, _wish, counted = prepared
        purchasing = self.governed.chat.purchasing
        async with AsyncExitStack() as stack:
            slot, stored = await self.governed.chat.exact.find(*prepared, stack)
        repeats = purchasing.repeats(asked, entitled, slot, counted)
        if stored is None:
            raise LookupError("the bench's answer has left its home")
        render(await purchasing.take(asked, entitled, stored, repeats, 0.0, slot.hit))
        self.governed.chat.meaning.served(asked, entitled, slot, stored)

    async def whole(self, _: int) -> None:
        """Answer the request."""
        asked, request = self._asked()
        await self.governed.chat.answer(asked, PlainReply(_nowhere, Departure(_stays), request.speech))

    def _asked(self) -> tuple[Asked[ChatFields], Request]:
        at = datetime.now(UTC)
        visit = Visit(f"req_{secrets.token_hex(12)}", at, perf_counter(), self.headers, _stays, _nowhere)
        caller = self.keyring.authenticate(self.headers["authorization"].partition(" ")[2], at)
        request = read_chat(_BODY, visit.request_id, self.headers)
        asked = ask(visit, caller, "chat", len(_BODY), request.body, request.fields, total_s=600.0)
        return asked, request


@asynccontextmanager
async def open_hits(store: AnswerStore) -> AsyncGenerator[Hits]:
    """Open a gateway over a home of answers, with one of them in it; its books are gone afterwards."""
    text = files("gateway.bench").joinpath("policies", "cached.yaml").read_text("utf-8")
    policy = parse_policy(text, "cached.yaml", {}, datetime.now(UTC))
    minted, keyring = mint(secrets.token_bytes), Keyring()
    caller = Caller(minted.public_id, "support", "support-bot")
    keyring.learn([KeyRecord(caller, 1, datetime.now(UTC), minted.secret_hash)])
    with TemporaryDirectory(prefix="sluice-bench-") as name:
        url = f"sqlite:///{Path(name) / 'sluice.db'}"
        await asyncio.to_thread(migrations.upgrade, url)
        database = open_database(url)
        try:
            async with _composer(Path(name), database, store, keyring) as composer:
                upstream = AbsentUpstream("cloud", "cloud", "a bench calls nobody")
                headers = {"authorization": f"Bearer {minted.key}", "x-sluice-feature": "faq"}
                hits = Hits(composer.compose(policy, {"cloud": upstream}), keyring, headers)
                await hits.keep()
                yield hits
        finally:
            await database.close()


@asynccontextmanager
async def _composer(folder: Path, database: Database, store: AnswerStore, keyring: Keyring) -> AsyncGenerator[Composer]:
    """Open books, with a log that nobody reads."""
    async with LedgerWriter(database, folder / "spool", batch=_MANY, linger_s=_LONG_S) as ledger:
        with (folder / "log").open("wb") as log:
            said = json_log(log)
            semantics = OpenSemantics(_open_none, SystemRandom(), said)
            yield Composer(
                keyring=keyring,
                purse=Purse(MemoryCounters(), ledger, time),
                database=database,
                answers=AnswerCache(store, time),
                refresh=_leave,
                semantics=semantics,
                lessons=Teacher(semantics, Recorder(Lookups(database), "bench"), database, said),
                calibrations=Calibrations(folder / "counting.json"),
                places=Bundled(),
                router=OpenRouter(folder / "router.safetensors"),
                idempotent=IdempotentAnswers(database),
                measures=Measures(ContextHours(database)),
                sessions=SessionLabels(database),
                decisions=DecisionLog(database),
                now=lambda: datetime.now(UTC),
                metrics=Metrics(),
                log=said,
            )


async def _open_none(_: object) -> SemanticCache:
    raise CannotServe("a bench of exact hits has no semantic cache")


def _leave(*_: object) -> None:
    """Refresh nothing."""


async def _nowhere(_: dict[str, Any]) -> None:
    """Send nothing."""


async def _stays() -> dict[str, Any]:
    """Wait as for a client that stays."""
    await asyncio.Event().wait()
    return {}
