"""What follows an answer that was bought although, or because, the semantic cache was asked: compare, learn, keep.

All of it happens after the client has its answer, in tasks of a bounded number; in a rush some answers teach nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

import msgspec
from structlog.typing import FilteringBoundLogger

from cache.learning.lookups import Action, Decision, Observation, Verdict
from cache.semantic.lookup import SemanticCache
from cache.stores import Stored
from cache.tags import BOUGHT_BY, bought_by
from gateway.caching.comparing import Comparison, Judge
from gateway.caching.learned import RIGHT, WRONG, evidence_of, observed
from gateway.caching.recorder import Recorder
from gateway.caching.semantics import OpenSemantics
from gateway.steps.admission import Asked
from gateway.steps.reuse.meaning import Lesson, text_of
from gateway.steps.reuse.slot import Slot
from gateway.wire.request.chat_body import ChatFields
from governance.database import Database
from governance.lookups import purges
from governance.lookups.purges import Purge
from governance.lookups.records import Lookup, LookupKind

_EXACT: Final = Decision(Action.SERVE, None, (), 0.0, 0.0, 0.0)
"""What stands for a decision where none had to be made."""

MOST: Final = 64
"""How many answers are learned from at the same time."""


class Teacher:
    """Learns from answers, and from what people say of them."""

    def __init__(
        self,
        semantics: OpenSemantics,
        recorder: Recorder,
        database: Database,
        log: FilteringBoundLogger,
    ) -> None:
        """Begin with nothing to do.

        Args:
            semantics: what learns.
            recorder: writes down what was learned.
            database: where orders to forget are given.
            log: is told of lessons that failed.
        """
        self._semantics = semantics
        self._recorder = recorder
        self._judge_of: Callable[[str], Judge] | None = None
        self._database = database
        self._log = log
        self._running: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self, judge_of: Callable[[str], Judge]) -> AsyncGenerator[None]:
        """Take lessons for the length of a block; those that still run at its end are given up.

        `judge_of` returns who compares answers, by the policy's name for it.
        """
        self._judge_of = judge_of
        try:
            yield
        finally:
            self._judge_of = None
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    def begin(self, lesson: Lesson) -> None:
        """Learn from an answer, beside whatever comes next; not when the cache that was asked has been replaced."""
        cache, judge_of = lesson.sought.cache, self._judge_of
        if cache is self._semantics.cache and judge_of is not None and len(self._running) < MOST:
            judge = judge_of(lesson.section.judge)
            task = asyncio.create_task(self._learn(lesson, cache, judge), name="lesson")
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    def hit(self, asked: Asked[ChatFields], feature: str, slot: Slot, stored: Stored) -> None:
        """Put on record which stored answer was served, so that it can be found when somebody complains."""
        origin = bought_by(stored.tags) or ""
        if slot.sought is None:
            self._note(asked, feature, "exact", slot.key, evidence_of(Observation(_EXACT, origin=origin)))
        else:
            decision = slot.sought.decision
            seen = Observation(decision, origin=origin, embedding=slot.sought.cache.embedding)
            self._note(asked, feature, "semantic", decision.entry, evidence_of(seen))

    async def told(self, request_id: str, feature: str, at: datetime, *, right: bool) -> None:
        """Learn what a person says of an answer; a wrong one is forgotten, wherever it is kept.

        Who says the same again teaches nothing more: nobody's voice grows by being repeated.

        Args:
            request_id: what was answered.
            feature: whose request it was, as `feature_of` names it.
            at: when it is said.
            right: what is said.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        await self._recorder.write()
        found = await self._recorder.lookups.of_request(request_id)
        said = RIGHT if right else WRONG
        if any(each.kind == "lesson" and each.evidence == said for each in found):
            return
        served = [each for each in found if each.kind in ("exact", "semantic")]
        if not right:
            for order in _orders(served, request_id, at):
                await purges.order(self._database, order)
        entries = [each.entry for each in served if each.kind == "semantic"] or [None]
        for entry in entries:
            lesson = Lookup(
                request_id=request_id,
                at=at,
                feature=feature,
                kind="lesson",
                entry=entry,
                evidence=said,
                writer=self._recorder.writer,
            )
            self._semantics.learn(lesson)
            self._recorder.note(lesson)

    async def _learn(self, lesson: Lesson, cache: SemanticCache, judge: Judge) -> None:
        sought = lesson.sought
        try:
            verdicts = await _compare(lesson, cache, judge)
            if lesson.stored is not None:
                await cache.keep(sought, lesson.stored, lesson.ttl)
        except Exception as error:  # noqa: BLE001  nobody waits for a lesson: the next answer teaches as well
            self._log.warning(
                "lesson failed", feature=lesson.feature, reason=type(error).__name__
            )  # it may quote a text
            return
        fresh = None if lesson.stored is None else sought.entry
        seen = Observation(sought.decision, fresh, verdicts, embedding=cache.embedding)
        learner = self._semantics.learner(lesson.feature, cache.embedding)
        learner.learn(seen.decision, fresh, verdicts)
        kind = "explored" if sought.decision.action is Action.EXPLORE else "asked"
        self._note(lesson.asked, lesson.feature, kind, sought.decision.entry, evidence_of(seen))

    def _note(
        self, asked: Asked[ChatFields], feature: str, kind: LookupKind, entry: bytes | None, evidence: bytes
    ) -> None:
        self._recorder.note(
            Lookup(
                request_id=asked.request_id,
                at=asked.at,
                feature=feature,
                kind=kind,
                entry=entry,
                evidence=evidence,
                writer=self._recorder.writer,
            )
        )


async def _compare(lesson: Lesson, cache: SemanticCache, judge: Judge) -> tuple[Verdict, ...]:
    """Ask the judge about each stored answer that the decision wants compared."""
    sought = lesson.sought
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
                question=sought.asked.text,
                answer=answer,
                stored_question=stored.question or "",
                stored_answer=theirs,
            )
        )
        if said.same is not None:
            verdicts.append(Verdict(entry, said.same))
    return tuple(verdicts)


def _orders(served: Sequence[Lookup], request_id: str, at: datetime) -> list[Purge]:
    """Order an answer to be forgotten: what was served and all its copies, or all copies of one that was bought."""
    orders = [_order(at, "key", each.entry.hex()) for each in served if each.entry]
    seen = [observed(each) for each in served]
    origins = [one.origin for one in seen if one is not None and one.origin]
    tags = origins if served else [f"{BOUGHT_BY}{request_id}"]
    return orders + [_order(at, "tag", tag) for tag in tags]


def _order(at: datetime, kind: purges.PurgeKind, value: str) -> Purge:
    return Purge(at=at, kind=kind, value=value, by="feedback")
