"""What cannot be replayed is said, where two policies differ in it and nowhere else."""

from __future__ import annotations

import pytest

from gateway.policy.replay.unknowns import CACHE, DEFAULT_LENGTH, SAME_REQUEST, SEMANTIC, TIGHTENED_LENGTH, left_out
from tests.support.policy_texts import SMALL, read

OLD = read(SMALL)
CEILING = "output: {max_tokens: {ceiling: 90}}\n"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        ("limits: {loop: {same_request: 5}}\n", SAME_REQUEST),
        ("cache: {exact: {ttl: 24h, shared_by: app}}\n", CACHE),
        ("cache: {semantic: {enabled: [bot/faq], max_error: 0.01, ttl: 7d}}\n", SEMANTIC),
        ("output: {max_tokens: {default: 90}}\n", DEFAULT_LENGTH),
        ("budgets: [{scope: org, limit: 5, window: day, steps: {50%: tighten}}]\n", TIGHTENED_LENGTH),
    ],
)
def test_a_difference_that_the_ledger_cannot_tell_is_named(edit: str, sentence: str) -> None:
    new = read(SMALL + edit)
    assert left_out(new, [OLD]) == (sentence,)
    assert left_out(OLD, [new, OLD]) == ((sentence,) if sentence == DEFAULT_LENGTH else ())
    assert left_out(new, [new]) == left_out(new, []) == ()


@pytest.mark.parametrize("edit", [CEILING, "limits: {loop: {session_requests: 5}}\n", "limits: {concurrent: 3}\n"])
def test_what_can_be_replayed_is_not_named(edit: str) -> None:
    assert left_out(read(SMALL + edit), [OLD]) == ()
