from __future__ import annotations

from random import Random

from cache.learning.answers.groups import Groups
from cache.learning.answers.judging import Judging
from cache.learning.lookups import Verdict


def test_one_false_verdict_among_several_neither_merges_nor_splits() -> None:
    judging, groups = Judging(), Groups()
    ours = groups.start(b"a")
    groups.members[b"b"] = groups.members[b"a"]
    groups.members[b"c"] = groups.members[b"a"]
    other = groups.start(b"z")
    verdicts = [Verdict(b"a", same=True), Verdict(b"b", same=True), Verdict(b"c", same=False), Verdict(b"z", same=True)]
    odds = groups.place(verdicts, {ours: 0.5, other: 0.2}, judging)
    assert odds[ours] > 0.6
    groups.compare(ours, verdicts, judging)
    assert groups.of(b"c") == groups.of(b"a") != groups.of(b"z")


def test_groups_that_keep_being_called_the_same_are_merged() -> None:
    judging, groups = Judging(), Groups()
    one, _ = groups.start(b"a"), groups.start(b"b")
    for _ in range(4):
        groups.compare(one, [Verdict(b"b", same=True)], judging)
    assert groups.of(b"a") == groups.of(b"b")
    assert groups.live == 1


def test_a_judge_wrong_one_time_in_twenty_leaves_the_groups_pure() -> None:
    chance, judging, groups = Random(3), Judging(), Groups()
    truth: dict[bytes, int] = {}
    for place in range(400):
        key, answer = place.to_bytes(4), chance.randrange(8)
        known = chance.sample(sorted(truth), min(5, len(truth)))
        verdicts = [Verdict(k, same=(truth[k] == answer) != (chance.random() < 0.05)) for k in known]
        odds = groups.place(verdicts, {}, judging)
        groups.compare(groups.join(key, odds), verdicts, judging)
        judging.check(verdicts, groups)
        truth[key] = answer
    kinds: dict[int | None, list[int]] = {}
    for key, answer in truth.items():
        kinds.setdefault(groups.of(key), []).append(answer)
    pure = sum(max(held.count(answer) for answer in set(held)) for held in kinds.values())
    assert pure > 0.97 * len(truth)


def test_a_forgotten_entry_has_no_group() -> None:
    groups = Groups()
    groups.start(b"a")
    groups.forget(b"a")
    assert groups.of(b"a") is None
