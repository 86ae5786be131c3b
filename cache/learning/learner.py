"""The learned decision of one feature: serve, explore or ask, within an error bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from cache.learning.answers.comparing import MOST, to_compare
from cache.learning.evidence import NEIGHBOURS, expect, weigh
from cache.learning.exploring import FIRST, explore_rate
from cache.learning.lookups import Action, Decision, Observation
from cache.learning.prior import Prior, shipped
from cache.learning.standing import Reason, Standing
from cache.learning.state import State
from cache.learning.threshold import LEAST, WINDOW, plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from random import Random

    from cache.learning.evidence import Evidence
    from cache.learning.lookups import Candidate, Verdict

_REPLAN = 25
_BLIND = 0.5
_CONTROLS = 8
_GROUPS = 8
_CONFIRMED = 0.9
_LOOSEN = 1e-4
_NEAR = 0.25
_OPEN_MIND = 0.98
_SCEPTIC = 0.9
_FOCUS = 0.05
_FAR = 0.15
_NOVELTY = 0.02
_NEW = 0.25


class Learner:
    """Decides the lookups of one feature and learns from what comes of them.

    It holds only fingerprints and numbers. Not thread-safe; decisions and lessons may interleave as they come.
    """

    def __init__(self, max_error: float, rng: Random, prior: Prior | None = None) -> None:
        """Begin with what the prior knows.

        Args:
            max_error: The largest share of lookups that may be served a wrong answer.
            rng: Chance, for exploration and controls.
            prior: The starting point; the shipped one when left out.
        """
        self.max_error = max_error
        self._rng = rng
        self._prior = prior or shipped()
        self._start = self._prior.model()
        self._state = State(model=self._prior.model())

    def decide(self, candidates: Sequence[Candidate], partition: bytes = b"", *, watched: bool = False) -> Decision:
        """Decide one lookup.

        Args:
            candidates: Its neighbours, nearest first; up to `evidence.NEIGHBOURS` of them are looked at.
            partition: Where they were searched; controls are taken from nowhere else.
            watched: Serve nothing: whatever would be served is explored.
        """
        state, evidence = self._state, weigh(candidates, self._state.groups, self._state.novelty)
        if state.ledger.lookups % _REPLAN == 0:
            state.threshold = plan(state.ledger, state.recent, self.max_error, self._state.judging.inflation())
        if evidence is None:
            decision = self._ask(candidates, partition)
        else:
            decision = self._weighed(candidates, partition, evidence, watched=watched)
        self._count(decision)
        return decision

    def _ask(self, candidates: Sequence[Candidate], partition: bytes) -> Decision:
        controls = self._controls(candidates, partition)
        return Decision(Action.ASK, None, controls, 1.0, self._state.threshold, 1.0, len(controls), partition)

    def _weighed(
        self, candidates: Sequence[Candidate], partition: bytes, evidence: Evidence, *, watched: bool
    ) -> Decision:
        state = self._state
        features = self._prior.scaled(evidence.features)
        risk = state.model.predict(features)
        would_be = evidence.entry is not None and risk <= state.threshold
        explored = (
            explore_rate(state.audited, state.would_be, risk, state.threshold, state.groups.judged(evidence.group))
            if would_be
            else 1.0
        )
        if would_be and (watched or self._closed(risk) is not None):
            explored = 1.0
        asked = explored >= 1.0 or self._rng.random() < explored
        controls = self._controls(candidates, partition) if asked else ()
        repeats = 3 if state.judging.noisy() else 1
        against = (
            to_compare(candidates[:NEIGHBOURS], evidence, state.groups, repeats, MOST - len(controls)) if asked else []
        )
        return Decision(
            action=(Action.EXPLORE if asked else Action.SERVE) if would_be else Action.ASK,
            entry=evidence.entry,
            against=(*against, *controls),
            risk=risk,
            threshold=state.threshold,
            explored=explored,
            controls=len(controls),
            partition=partition,
            features=features,
            prior=expect(evidence, risk, MOST),
        )

    def _closed(self, risk: float = 0.0) -> Reason | None:
        state = self._state
        controls = state.judging.controls
        if controls.trials >= _CONTROLS and controls.events > _BLIND * controls.trials:
            return Reason.BLIND_JUDGE
        if min(state.audited - FIRST, controls.trials - _CONTROLS, state.groups.live - _GROUPS) < 0:
            return Reason.DRIFT if state.drifted else Reason.LEARNING
        if state.novelty > _NEW:
            return Reason.NOVEL
        if state.ledger.upper(risk, self._state.judging.inflation()) > self.max_error * (state.ledger.lookups + 1):
            return Reason.SPENT
        return None

    def _controls(self, candidates: Sequence[Candidate], partition: bytes) -> tuple[bytes, ...]:
        state = self._state
        if self._rng.random() > state.judging.tested():
            return ()
        return state.controls.draw(partition, candidates, state.groups, self._rng)

    def _count(self, decision: Decision) -> None:
        state = self._state
        state.ledger.lookups += 1
        state.novelty *= 1.0 - _NOVELTY
        state.recent.append(decision.risk if decision.entry is not None else 1.0)
        del state.recent[:-WINDOW]
        state.would_be += decision.action is not Action.ASK
        if decision.action is Action.SERVE:
            state.ledger.hits += 1
            state.ledger.served_risk += decision.risk
            state.drift.serve()

    def learn(self, decision: Decision, fresh: bytes | None, verdicts: Sequence[Verdict]) -> float | None:
        """Learn what came of a lookup for which the model was asked.

        Args:
            decision: What `decide` returned.
            fresh: The fingerprint of the fresh answer, if it was stored.
            verdicts: The judge's word on each of `decision.against`, or on as many as it could tell.

        Returns:
            How probably the best candidate was wrong; None when nothing was compared.
        """
        state = self._state
        near, controls = decision.told_apart(verdicts)
        for verdict in controls:
            state.judging.controls.count(float(verdict.same))
        for verdict in near:
            if verdict.entry not in state.groups.members:
                state.groups.start(verdict.entry)
        odds = state.groups.place(near, self._before(decision, _OPEN_MIND), state.judging)
        wrong = None
        if near:
            lead = self._lead(decision)
            wrong = 1.0 - odds.get(lead, 0.0)
            if state.ledger.lookups > LEAST:
                self._judged(decision, lead, wrong, near)
            state.judging.check(near, state.groups)
        group = max(odds, key=odds.__getitem__, default=0)
        if fresh is not None:
            known = state.groups.named
            group = state.groups.join(fresh, odds)
            state.novelty += _NOVELTY * (state.groups.named - known)
            state.controls.keep(decision.partition, fresh, self._rng)
        if odds.get(group, 1.0) > _NEAR * 3:
            state.groups.compare(group, near, state.judging)
        return wrong

    def _before(self, decision: Decision, most: float) -> dict[int, float]:
        """Return how probable each group was before the judge spoke, none more than `most`.

        The model must not talk the judge out of what it never expected.
        """
        root = self._state.groups.root
        return {root(group): min(most, share) for group, share in decision.prior if group > 0}

    def _lead(self, decision: Decision) -> int:
        lead, groups = decision.prior[0][0], self._state.groups
        if lead < 0 and decision.entry is not None:  # its group was not known when it was decided
            lead = groups.of(decision.entry) or 0
        return groups.root(lead)

    def _judged(self, decision: Decision, lead: int, wrong: float, near: Sequence[Verdict]) -> None:
        state = self._state
        groups = state.groups
        state.model.loosen(self._start, _LOOSEN)
        state.model.learn(decision.features, wrong, min(1.0, max(_FAR, _FOCUS / decision.risk)))
        if decision.entry is not None:
            groups.score(decision.entry, lead, wrong)
        if decision.risk > _NEAR:
            return
        wrong = 1.0 - groups.place(near, self._before(decision, _SCEPTIC), state.judging).get(lead, 0.0)
        alarms = state.judging.false_alarms(sum(groups.of(verdict.entry) == lead for verdict in near))
        state.ledger.see(decision.risk + alarms, wrong, min(1.0, decision.threshold / decision.risk) ** 2)
        if decision.action is Action.EXPLORE:
            state.audited += 1
            state.ledger.audit(decision.explored, decision.risk + alarms, wrong)
        if state.drift.see(min(_NEAR * 2, decision.risk + alarms), wrong):
            self._reopen_later()

    def _reopen_later(self) -> None:
        state, drift = self._state, self._state.drift
        state.ledger.debt += drift.since_hits * drift.since_wrong / (drift.since_judged + 2.0)
        state.audited = state.would_be = 0
        state.drifted = True
        state.model.loosen(self._start, 0.5)
        drift.restart()

    def feedback(self, entry: bytes, *, right: bool) -> None:
        """Learn what a person said of a served answer: the truth, as far as it goes."""
        state = self._state
        group = state.groups.of(entry)
        if group is None:
            return
        state.groups.score(entry, group, 0.0 if right else 1.0)
        if not right:
            state.ledger.debt += 1.0
            state.groups.start(entry)

    def confirmed(self, entry: bytes) -> bool:
        """Say whether a judge has found an entry right for another question, and never wrong."""
        member = self._state.groups.members.get(entry)
        return member is not None and member.right >= _CONFIRMED and member.wrong < _NEAR

    def absorb(self, seen: Observation) -> float | None:
        """Learn from what another learner of the feature observed, whose groups have other numbers than these.

        Returns:
            As `learn` does.
        """
        entry, risk = seen.decision.entry, seen.decision.risk
        lead = None if entry is None else self._state.groups.of(entry)
        decision = msgspec.structs.replace(seen.decision, prior=((-1 if lead is None else lead, 1.0 - risk),))
        self._count(decision)
        return None if decision.action is Action.SERVE else self.learn(decision, seen.fresh, seen.verdicts)

    def forget(self, entry: bytes) -> None:
        """Forget an entry that is stored no more."""
        self._state.groups.forget(entry)

    def standing(self) -> Standing:
        """Say how the feature stands."""
        state, ledger = self._state, self._state.ledger
        closed = self._closed()
        lookups = max(ledger.lookups, 1)
        return Standing(
            open=closed is None,
            reason=closed or Reason.OPEN,
            lookups=ledger.lookups,
            hits=ledger.hits,
            audited=ledger.audited,
            wrong=ledger.wrong,
            error=min(1.0, ledger.expected() / lookups),
            upper=min(ledger.upper(0.0, self._state.judging.inflation()), float(ledger.hits)) / lookups,
            proven=ledger.proven() / lookups,
            threshold=state.threshold,
            exploration=explore_rate(state.audited, state.would_be, state.threshold, state.threshold, 1.0),
            judge_misses=state.judging.misses.mean(),
            judge_alarms=state.judging.alarms.mean(),
        )

    def to_bytes(self) -> bytes:
        """Return all that was learned."""
        return msgspec.msgpack.encode(self._state)

    @classmethod
    def from_bytes(cls, kept: bytes, max_error: float, rng: Random, prior: Prior | None = None) -> Learner:
        """Go on from what `to_bytes` returned.

        Raises:
            msgspec.DecodeError: The bytes are not what `to_bytes` of this version returned.
        """
        learner = cls(max_error, rng, prior)
        learner._state = msgspec.msgpack.decode(kept, type=State)
        return learner

    @classmethod
    def rebuilt(
        cls, observations: Iterable[Observation], max_error: float, rng: Random, prior: Prior | None = None
    ) -> Learner:
        """Learn again from all that was observed, in its order."""
        learner = cls(max_error, rng, prior)
        for seen in observations:
            learner._count(seen.decision)
            if seen.decision.action is not Action.SERVE:
                learner.learn(seen.decision, seen.fresh, seen.verdicts)
        return learner
