"""The engine: add requests, step, read events. Synchronous and deterministic; one thread at a time.

A step is one forward pass: plan, execute, sample, commit. Aborts are flags that the next step consumes, so nothing is
freed while the model may still write to it. Every request that was added ends in exactly one `Ended` event, after which
none of its blocks is held.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from local_engine.cache.manager import CacheManager
from local_engine.choice import Choice, ChoiceText, Vocabulary, choice_params
from local_engine.errors import ContextTooLong, InvalidRequest, NothingToChoose, TokenOutOfVocabulary
from local_engine.measure.stats import Stats
from local_engine.measure.throughput import Throughput, Work
from local_engine.request import Delta, Ended, Event, Request, Usage
from local_engine.schedule.policies import admission_of
from local_engine.schedule.scheduler import Scheduler, Share
from local_engine.schedule.sequence import Sequence
from local_engine.types import ChunkPlan, FinishReason, StepPlan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from collections.abc import Sequence as Seq

    from torch import Tensor

    from local_engine.config import Batching
    from local_engine.measure.machine import Machine
    from local_engine.measure.probe import Speeds
    from local_engine.types import Runner, Sampled, SampleRow

log = logging.getLogger(__name__)


class Sampler(Protocol):
    """Chooses one token for each row of logits (`sample/sampler.py`)."""

    def __call__(self, logits: Tensor, rows: Seq[SampleRow], eos_ids: frozenset[int]) -> Seq[Sampled | NothingToChoose]:
        """Return each row's token, or why that row has none; one row's trouble is never another's."""
        ...


class _Open:
    """A request in flight."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.choices: list[Choice] = []
        self.is_aborted = False

    @property
    def usage(self) -> Usage:
        completion = sum(len(choice.output) for choice in self.choices)
        return Usage(len(self.request.prompt), completion, self.choices[0].sequence.cached or 0)

    @property
    def unfinished(self) -> list[Choice]:
        return [choice for choice in self.choices if choice.finish is None]


class Engine:
    """Serves many requests at once over one runner.

    Args:
        runner: Runs the model over a step plan.
        vocabulary: Turns tokens into bytes.
        sampler: Chooses tokens.
        batching: How much one step may do.
        machine: What it shares with other models; its clock also times the dynamic admission's window.
        probed: The runner's speeds as long as nothing else is known of them.
    """

    def __init__(
        self,
        runner: Runner,
        vocabulary: Vocabulary,
        sampler: Sampler,
        batching: Batching,
        machine: Machine,
        probed: Speeds,
    ) -> None:
        self.cache = CacheManager(runner.num_blocks, runner.block_size, keeps_prefixes=batching.prefix_cache)
        self.scheduler = Scheduler(self.cache, admission_of(batching), batching.step_tokens)
        self.limit = min(runner.max_context, runner.num_blocks * runner.block_size)
        self.vocab_size = runner.vocab_size
        self._runner = runner
        self._vocabulary = vocabulary
        self._sampler = sampler
        self._machine = machine
        self._open: dict[str, _Open] = {}
        self._choices: dict[int, Choice] = {}
        self._next_sequence = 0
        self._totals = Stats(Throughput.probed(probed))

    @property
    def has_work(self) -> bool:
        """Whether a request has not ended yet."""
        return bool(self._open)

    def validate(self, request: Request) -> None:
        """Refuse what could never be served. Reads nothing that changes, so any thread may call it.

        Raises:
            InvalidRequest: No prompt, no tokens to make, or no choices.
            ContextTooLong: Prompt and answer exceed what one sequence may hold.
            TokenOutOfVocabulary: A token id, in prompt, bias or stops, that the model does not have.
        """
        params = request.params
        if not request.prompt:
            raise InvalidRequest("the prompt has no tokens", "prompt")
        if params.max_tokens < 1:
            raise InvalidRequest("at least one token must be asked for", "max_tokens")
        if request.choices < 1:
            raise InvalidRequest("at least one choice must be asked for", "n")
        if len(request.prompt) + params.max_tokens > self.limit:
            raise ContextTooLong(len(request.prompt), params.max_tokens, self.limit)
        biased = [token for token, _ in params.logit_bias]
        for param, tokens in (
            ("prompt", request.prompt),
            ("logit_bias", biased),
            ("stop_token_ids", params.stop_token_ids),
        ):
            self._require_known(tokens, param)

    def add(self, request: Request) -> None:
        """Begin a request.

        Raises:
            InvalidRequest: As `validate`, or its id is in flight already.
        """
        self.validate(request)
        if request.request_id in self._open:
            raise InvalidRequest(f"request {request.request_id} is in flight already")
        opened = self._open[request.request_id] = _Open(request)
        now_s = self._machine.clock()
        for index in range(request.choices):
            sequence = Sequence(
                self._next_sequence, request.namespace, list(request.prompt), now_s, priority=request.priority
            )
            params = choice_params(request.params, index)
            text = ChoiceText(params.stop, include_stop=params.include_stop)
            choice = Choice(request, index, sequence, params, text)
            self._next_sequence += 1
            self._choices[sequence.sequence_id] = choice
            opened.choices.append(choice)
            self.scheduler.add(sequence)

    def abort(self, request_id: str) -> None:
        """Ask for a request to end at the next step. Unknown and ended ids are ignored."""
        if (opened := self._open.get(request_id)) is not None:
            opened.is_aborted = True

    def abort_all(self) -> None:
        """Ask for every request to end at the next step."""
        for opened in self._open.values():
            opened.is_aborted = True

    def step(self) -> list[Event]:
        """Run one forward pass and return what came of it, in order.

        A row without a token to choose ends its own request. A step that fails as a whole ends the requests that were
        part of it, not the engine.
        """
        with self._machine.at_work() as turn:
            events, work = self._advance()
        if work is not None:
            totals = self._totals
            self._totals = replace(totals, throughput=totals.throughput.after(work, turn.seconds))
        return events

    def _advance(self) -> tuple[list[Event], Work | None]:
        """Take a step; its work is None when there was nothing to compute, or it failed."""
        aborted = [each for each in self._open.values() if each.is_aborted]
        events: list[Event] = [self._cut_short(each, FinishReason.ABORT) for each in aborted]
        shares = self.scheduler.plan(self._machine.clock())
        if not shares:
            return events, None
        planned = [(self._choices[share.sequence.sequence_id], share) for share in shares]
        work = Work.of(planned)
        choices = [choice for choice, share in planned if share.is_complete]
        try:
            sampled = self._compute(shares, choices)
        except Exception as error:
            log.exception("a step failed", extra={"sequences": len(shares)})
            return events + self._fail(shares, error), None
        rows = list(zip(choices, sampled, strict=True))
        events += self._fail_rows(rows)
        # What a failed row left in its blocks may be no numbers: it is not kept for others.
        self.scheduler.commit([share for share in shares if share.sequence.lease is share.lease])
        chosen = [(choice, token) for choice, token in rows if not isinstance(token, NothingToChoose)]
        self._count(shares, len(chosen))
        for choice, token in chosen:
            if choice.request.request_id in self._open:
                events += self._take(choice, token)
        return events, work

    def stats(self) -> Stats:
        """Return the engine's figures now."""
        return replace(
            self._totals,
            running=len(self.scheduler.running),
            waiting=len(self.scheduler.waiting),
            blocks_used=self.cache.total - self.cache.available,
            blocks_total=self.cache.total,
            blocks_cached=self.cache.cached,
            preemptions=self.scheduler.preemptions,
        )

    def _compute(self, shares: Seq[Share], choices: Seq[Choice]) -> Seq[Sampled | NothingToChoose]:
        logits = self._runner.execute(StepPlan(tuple(_chunk(share, self.cache.block_size) for share in shares)))
        if not choices:
            return []
        return self._sampler(logits, [choice.row() for choice in choices], self._vocabulary.eos_ids)

    def _take(self, choice: Choice, sampled: Sampled) -> Iterable[Event]:
        opened = self._open[choice.request.request_id]
        taken = choice.take(sampled, self._vocabulary)
        yield Delta(
            choice.request.request_id, choice.index, taken.text, taken.logprobs, taken.finish, taken.stop, opened.usage
        )
        if taken.finish is not None:
            self._retire(choice)
            if not opened.unfinished:
                yield self._end(opened, taken.finish)

    def _fail(self, shares: Seq[Share], error: Exception) -> list[Event]:
        """End the requests of a step that failed, all their choices included: their blocks hold nothing certain."""
        failed = {self._choices[share.sequence.sequence_id].request.request_id for share in shares}
        requests = [each for request_id, each in self._open.items() if request_id in failed]
        return [
            self._cut_short(each, FinishReason.ERROR, f"{type(error).__name__} in the forward pass")
            for each in requests
        ]

    def _fail_rows(self, rows: Iterable[tuple[Choice, Sampled | NothingToChoose]]) -> Iterable[Event]:
        """End the requests that have a row without a token, all their choices included."""
        for choice, token in rows:
            opened = self._open.get(choice.request.request_id)
            if isinstance(token, NothingToChoose) and opened is not None:
                yield self._cut_short(opened, FinishReason.ERROR, token.reason)

    def _cut_short(self, opened: _Open, reason: FinishReason, error: str | None = None) -> Ended:
        for choice in opened.unfinished:
            self._retire(choice)
        return self._end(opened, reason, error)

    def _retire(self, choice: Choice) -> None:
        self.scheduler.remove(choice.sequence)
        del self._choices[choice.sequence.sequence_id]

    def _end(self, opened: _Open, reason: FinishReason, error: str | None = None) -> Ended:
        del self._open[opened.request.request_id]
        return Ended(opened.request.request_id, reason, opened.usage, error)

    def _count(self, shares: Seq[Share], sampled: int) -> None:
        """Add a step to the totals; what a resumed sequence finds of itself in the cache is no prefix hit."""
        begun = [
            each.sequence for each in shares if each.start == each.sequence.cached and not each.sequence.preemptions
        ]
        totals = self._totals
        self._totals = replace(
            totals,
            prompt_tokens=totals.prompt_tokens + sum(len(sequence.tokens) for sequence in begun),
            prefix_hit_tokens=totals.prefix_hit_tokens + sum(sequence.cached or 0 for sequence in begun),
            generation_tokens=totals.generation_tokens + sampled,
            steps=totals.steps + 1,
        )

    def _require_known(self, tokens: Collection[int], param: str) -> None:
        for token in (min(tokens, default=0), max(tokens, default=0)):
            if not 0 <= token < self.vocab_size:
                raise TokenOutOfVocabulary(token, self.vocab_size, param)


def _chunk(share: Share, block_size: int) -> ChunkPlan:
    return ChunkPlan(
        sequence_id=share.sequence.sequence_id,
        tokens=tuple(share.sequence.tokens[share.start : share.end]),
        start=share.start,
        block_table=tuple(share.lease.blocks[: -(-share.end // block_size)]),
        wants_logits=share.is_complete,
    )
