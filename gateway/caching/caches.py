"""All caches of one process, and what is done beside the requests to keep them honest."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from cache.answers import AnswerCache
from cache.config import ANSWERS
from gateway.caching.comparing import Judge
from gateway.caching.lessons import Teacher
from gateway.caching.local_judge import LocalJudge
from gateway.caching.model_judge import ModelJudge
from gateway.caching.purging import Purger
from gateway.caching.recorder import Recorder
from gateway.caching.refreshing import Refreshing
from gateway.caching.semantics import OpenSemantics
from gateway.governing.in_force import InForce
from gateway.operations.rounds import Round
from governance.errors import StoreUnavailable

LOOK_S: Final = 0.5
"""How often look-ups are written down and read, orders to forget followed, and the policy's wish looked at."""

SWEEP_S: Final = 3600.0
KEPT: Final = timedelta(days=30)
"""How long look-ups stay on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caches:
    """What answers are found in, and what learns from those that were not.

    Attributes:
        answers: stored answers, found by their very request.
        refreshing: makes old ones anew.
        semantics: finds answers by meaning.
        teacher: learns from new answers and from what people say of them.
        recorder: what was looked up.
        purger: forgets as ordered.
        now: an aware clock.
        ticks: a monotonic clock in seconds.
        new_id: makes ids of requests.
    """

    answers: AnswerCache
    refreshing: Refreshing
    semantics: OpenSemantics
    teacher: Teacher
    recorder: Recorder
    purger: Purger
    now: Callable[[], datetime]
    ticks: Callable[[], float]
    new_id: Callable[[], str]

    @asynccontextmanager
    async def running(self, in_force: InForce) -> AsyncGenerator[None]:
        """Work beside the requests for the length of a block.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        section = in_force.governed.policy.document.cache.semantic
        if section is not None:
            self.semantics.bind(section.max_error)
        await self.recorder.begin(self.semantics.learn)
        await self.purger.follow()
        try:
            async with self.refreshing.running(in_force), self.teacher.running(self._judges(in_force)):
                yield
        finally:
            await self.semantics.close()
            with suppress(StoreUnavailable):
                await self.recorder.write()

    def rounds(self, in_force: InForce) -> tuple[Round, ...]:
        """Return what is to be done again and again."""

        async def keep_up() -> None:
            await self.semantics.obey(in_force.governed.policy.document.cache.semantic)
            self.semantics.tell()

        return (
            (LOOK_S, "semantic cache", keep_up),
            (LOOK_S, "look-ups", self._exchange),
            (LOOK_S, "purges", self.purger.follow),
            (SWEEP_S, "old look-ups", lambda: self.recorder.lookups.sweep(self.now() - KEPT)),
        )

    def _judges(self, in_force: InForce) -> Callable[[str], Judge]:
        def judge_of(name: str) -> Judge:
            if name == ANSWERS:
                return LocalJudge(self.semantics)
            return ModelJudge(model=name, in_force=in_force, now=self.now, ticks=self.ticks, new_id=self.new_id)

        return judge_of

    async def _exchange(self) -> None:
        await self.recorder.write()
        await self.recorder.follow(self.semantics.learn)
