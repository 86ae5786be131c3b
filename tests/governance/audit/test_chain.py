from hypothesis import given
from hypothesis import strategies as st

from governance.audit.chain import GENESIS, Actor, digest, facts_text

parts = st.tuples(st.integers(1, 9), st.integers(0, 9), *(st.text(max_size=4) for _ in range(6)))


def sealed(of: tuple[int, int, str, str, str, str, str, str]) -> str:
    n, at, name, role, act, subject, team, facts = of
    return digest(n, at, Actor(name, role), act, subject, team, facts, GENESIS)


@given(parts, parts)
def test_two_different_entries_never_share_a_hash(
    one: tuple[int, int, str, str, str, str, str, str], other: tuple[int, int, str, str, str, str, str, str]
) -> None:
    assert (sealed(one) == sealed(other)) == (one == other)


def test_facts_are_written_in_one_way() -> None:
    assert facts_text({"b": 1, "a": None}) == facts_text({"a": None, "b": 1}) == '{"a":null,"b":1}'
