"""A caller that goes round in circles, and the memory it takes to notice."""

from governance.limits.loops import LoopGuard, LoopRule, Repeats
from governance.windows import SESSION, Rolling

RULE = LoopRule(same_request=20, within_s=600, session_requests=500)


def test_a_request_is_counted_from_the_second_time_on_and_by_its_key() -> None:
    guard = LoopGuard(RULE)
    assert guard.repeats("k1", b"a" * 32, "unattributed") == ()
    assert guard.repeats("k2", b"a" * 32, "unattributed") == ()
    (again,) = guard.repeats("k1", b"a" * 32, "unattributed")
    assert again == Repeats(f"key:k1?request={(b'a' * 12).hex()}", Rolling(600, parts=2), 19)


def test_a_session_is_counted_from_the_first_time_on() -> None:
    assert LoopGuard(RULE).repeats("k1", b"", "my session") == (Repeats("key:k1?session=my%20session", SESSION, 500),)


def test_the_table_of_requests_seen_is_bounded_and_forgets_the_oldest() -> None:
    guard = LoopGuard(RULE, seen=2)
    for name in (b"a", b"b", b"a", b"c"):
        guard.repeats("k", name, "unattributed")
    assert len(guard._seen) == 2
    assert guard.repeats("k", b"a", "unattributed") != ()
    assert guard.repeats("k", b"b", "unattributed") == ()


def test_without_a_rule_nothing_is_counted() -> None:
    guard = LoopGuard(None)
    assert not guard.wants_fingerprints
    assert guard.repeats("k", b"a", "s") == guard.repeats("k", b"a", "s") == ()
