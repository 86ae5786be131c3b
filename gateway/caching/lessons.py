"""What follows an answer that was bought although, or because, the semantic cache was asked: compare, learn, keep.

All of it happens after the client has its answer, in tasks of a bounded number; in a rush some answers teach nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec
from structlog.typing import FilteringBoundLogger

from cache.config import SemanticSection
from cache.learning.lookups import Action, Observation, Verdict
from cache.semantic.lookup import SemanticCache, Sought
from cache.stores import Stored
from gateway.caching.comparing import Comparison, Judge
from gateway.caching.recorder import Recorder
from gateway.caching.semantics import OpenSemantics, evidence_of
from gateway.steps.admission import Asked
from gateway.wire.request.chat_body import ChatFields
from governance.audit.chain import GATEWAY
from governance.database import Database
from governance.lookups import purges
from governance.lookups.purges import Purge
from governance.lookups.records import Lookup, LookupKind

MOST: Final = 64
"""How many answers are learned from at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A new answer to a question that was looked up by meaning.

    Attributes:
        asked: the request.
        feature: whose look-up it was.
        section: what the policy in force says.
        sought: what was found.
        completion: the answer.
        stored: the answer as it may be kept; None when it may not.
        ttl: for how long, in seconds.
    """

    asked: Asked[ChatFields]
    feature: str
    section: SemanticSection
    sought: Sought
    completion: dict[str, Any]
    stored: Stored | None
    ttl: int


class Teacher:
    """Learns from answers, and from what people say of them."""

    def __init__(
        self,
        semantics: OpenSemantics,
        recorder: Recorder,
        judge_of: Callable[[str], Judge],
        database: Database,
        log: FilteringBoundLogger,
    ) -> None:
        """Begin with nothing to do.

        Args:
            semantics: what learns.
            recorder: writes down what was learned.
            judge_of: who compares answers, by the policy's name for it.
            database: where orders to forget are given.
            log: is told of lessons that failed.
        """
        self._semantics = semantics
        self._recorder = recorder
        self._judge_of = judge_of
        self._database = database
        self._log = log
        self._running: set[asyncio.Task[None]] = set()
        self._open = False

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Take lessons for the length of a block; those that still run at its end are given up."""
        self._open = True
        try:
            yield
        finally:
            self._open = False
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    def begin(self, lesson: Lesson) -> None:
        """Learn from an answer, beside whatever comes next."""
        cache = self._semantics.cache
        if self._open and cache is not None and len(self._running) < MOST:
            task = asyncio.create_task(self._learn(lesson, cache), name="lesson")
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def served(self, asked: Asked[ChatFields], feature: str, sought: Sought) -> None:
        """Put on record that a stored answer was served."""
        self._note(asked.request_id, asked.at, feature, "semantic", sought.decision.entry, Observation(sought.decision))

    def repeated(self, request_id: str, at: datetime, feature: str, key: bytes) -> None:
        """Put on record that the exact cache answered, so that its answer can be found when somebody complains."""
        self._recorder.note(
            Lookup(
                request_id=request_id,
                at=at,
                feature=feature,
                kind="exact",
                entry=key,
                evidence=b"",
                writer=self._recorder.writer,
            )
        )

    async def told(self, request_id: str, at: datetime, *, right: bool) -> None:
        """Learn what a person says of an answer; a wrong one is forgotten, wherever it is kept.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        await self._recorder.write()
        found = await self._recorder.lookups.of_request(request_id)
        for lookup in found:
            if lookup.kind == "semantic" and lookup.entry is not None:
                truth = Observation(self._semantics.decision(lookup), truth=right)
                self._semantics.absorb(lookup.feature, truth)
                self._note(request_id, at, lookup.feature, "lesson", lookup.entry, truth)
        if not right:
            served = [lookup.entry for lookup in found if lookup.kind in ("exact", "semantic") and lookup.entry]
            orders = [_order(at, "key", key.hex()) for key in served] or [_order(at, "tag", f"request:{request_id}")]
            for order in orders:
                await purges.order(self._database, order, GATEWAY)

    async def _learn(self, lesson: Lesson, cache: SemanticCache) -> None:
        sought = lesson.sought
        try:
            verdicts = await self._compare(lesson, cache)
            if lesson.stored is not None:
                await cache.keep(sought, lesson.stored, lesson.ttl)
        except Exception as error:  # noqa: BLE001  nobody waits for a lesson: the next answer teaches as well
            self._log.warning("lesson failed", feature=lesson.feature, reason=f"{type(error).__name__}: {error}")
            return
        fresh = None if lesson.stored is None else sought.entry
        seen = Observation(sought.decision, fresh, verdicts)
        self._semantics.absorb(lesson.feature, seen, counted=True)
        kind = "explored" if sought.decision.action is Action.EXPLORE else "asked"
        self._note(lesson.asked.request_id, lesson.asked.at, lesson.feature, kind, sought.decision.entry, seen)

    async def _compare(self, lesson: Lesson, cache: SemanticCache) -> tuple[Verdict, ...]:
        """Ask the judge about each stored answer that the decision wants compared."""
        sought, judge = lesson.sought, self._judge_of(lesson.section.judge)
        answer = text_of(lesson.completion)
        if answer is None:
            return ()
        verdicts: list[Verdict] = []
        for entry in sought.decision.against:
            stored = sought.near.get(entry) or await cache.read(entry)
            theirs = None if stored is None else text_of(msgspec.json.decode(stored.body))
            if stored is None or theirs is None:
                continue
            said = await judge.compare(
                Comparison(
                    asked=lesson.asked,
                    question=sought.text,
                    answer=answer,
                    stored_question=stored.question or "",
                    stored_answer=theirs,
                )
            )
            if said.same is not None:
                verdicts.append(Verdict(entry, said.same))
        return tuple(verdicts)

    def _note(
        self, request_id: str, at: datetime, feature: str, kind: LookupKind, entry: bytes | None, seen: Observation
    ) -> None:
        self._recorder.note(
            Lookup(
                request_id=request_id,
                at=at,
                feature=feature,
                kind=kind,
                entry=entry,
                evidence=evidence_of(seen),
                writer=self._recorder.writer,
            )
        )


def text_of(completion: dict[str, Any]) -> str | None:
    """Return the words of an answer that is nothing else and came to its own end; None for any other."""
    choices: Sequence[dict[str, Any]] = completion.get("choices") or ()
    if len(choices) != 1 or choices[0].get("finish_reason") != "stop" or "sluice" in completion:
        return None
    message = choices[0].get("message") or {}
    content = message.get("content")
    beside = any(message.get(name) for name in ("tool_calls", "function_call", "refusal", "audio"))
    return content if isinstance(content, str) and content.strip() and not beside else None


def _order(at: datetime, kind: purges.PurgeKind, value: str) -> Purge:
    return Purge(at=at, kind=kind, value=value, by=GATEWAY.name)
