"""How fast a busy machine reads prompts and makes answers, and so what a token of either takes of its time.

A step computes for many at once, and often both prompts and answers. Its seconds are divided by what its tokens take at
the speeds known so far: with p tokens read and d made, of s seconds

    s * (p / prefill) / (p / prefill + d / decode)

are prefill and the rest decode. A speed is tokens by seconds. So over any span

    tokens read / prefill + tokens made / decode  =  the seconds in which the machine was busy,

a step that is prefill or decode alone says what that takes, one that is both moves both speeds alike, and a request in
a batch costs less than one alone. Time in which nothing is computed is nobody's: it costs no token anything, and the
speeds stay as they were.

Counted as read and made is what a caller is billed for. What is computed beside that, because a sequence lost its place
or a prompt has several choices, takes its time from the answers.

A speed is that of late: each phase forgets by its own seconds, so that neither is forgotten while there is only work of
the other, and begins with what the probe found, so that no single slow step moves a price far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from local_engine.measure.probe import Speeds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from local_engine.choice import Choice
    from local_engine.schedule.scheduler import Share

PRIOR_S: Final = 30.0
"""Seconds of work that what the probe found weighs as much as."""

HALF_LIFE_S: Final = 120.0
"""Seconds of a phase after which what was seen of it counts half."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one step computes.

    Attributes:
        read: Tokens of prompts, those found in the cache not counted.
        made: Tokens of answers.
        again: Tokens computed that nobody is billed for.
    """

    read: int
    made: int = 0
    again: int = 0

    @classmethod
    def of(cls, rows: Iterable[tuple[Choice, Share]]) -> Self:
        """Return the work of a plan: its shares, each with the choice it is for."""
        read = made = again = 0
        for choice, share in rows:
            is_prompt = share.start < len(choice.request.prompt)
            if is_prompt and choice.index == 0 and not share.sequence.preemptions:
                read += share.count
            else:
                again += share.count - share.is_complete  # the last token known is computed to make the next
            made += share.is_complete
        return cls(read, made, again)


@dataclass(frozen=True, slots=True)
class Pace:
    """The tokens of one phase and the machine's seconds they took: from the start, and of late."""

    recent_tokens: float
    recent_s: float
    tokens: int = 0
    seconds: float = 0.0

    @classmethod
    def probed(cls, speed: float) -> Self:
        """Begin with the speed that a probe found, in tokens per second."""
        return cls(speed * PRIOR_S, PRIOR_S)

    @property
    def speed(self) -> float:
        """Tokens per second of late."""
        return self.recent_tokens / self.recent_s

    def after(self, tokens: int, seconds: float) -> Pace:
        """Return the pace after more tokens, which took so many seconds."""
        kept = 0.5 ** (seconds / HALF_LIFE_S)
        return Pace(
            self.recent_tokens * kept + tokens,
            self.recent_s * kept + seconds,
            self.tokens + tokens,
            self.seconds + seconds,
        )


@dataclass(frozen=True, slots=True)
class Throughput:
    """What a model has computed in either phase; `decode` is None for one that only reads."""

    prefill: Pace
    decode: Pace | None

    @classmethod
    def probed(cls, speeds: Speeds) -> Self:
        """Begin with what a probe found."""
        return cls(Pace.probed(speeds.prefill), None if speeds.decode is None else Pace.probed(speeds.decode))

    @property
    def speeds(self) -> Speeds:
        """The speeds of late, which belong together."""
        return Speeds(self.prefill.speed, None if self.decode is None else self.decode.speed)

    def after(self, work: Work, seconds: float) -> Throughput:
        """Return the throughput after a step.

        Args:
            work: What it computed, at least one token.
            seconds: How many seconds of the machine it took.
        """
        if self.decode is None:
            return Throughput(self.prefill.after(work.read, seconds), None)
        reading = work.read / self.prefill.speed
        making = work.again / self.prefill.speed + work.made / self.decode.speed
        prefill_s = seconds * reading / (reading + making)
        return Throughput(self.prefill.after(work.read, prefill_s), self.decode.after(work.made, seconds - prefill_s))
