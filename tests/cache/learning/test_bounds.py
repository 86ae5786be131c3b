from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from cache.learning.bounds import LEAST_EXPLORED, Ledger


@given(st.lists(st.tuples(st.floats(LEAST_EXPLORED, 1), st.floats(0, 1), st.floats(0, 1)), max_size=50))
def test_bounds_are_never_below_what_is_expected_and_grow_with_what_is_served(
    audits: list[tuple[float, float, float]],
) -> None:
    ledger = Ledger()
    for explored, risk, wrong in audits:
        ledger.audit(explored, risk, wrong)
        ledger.see(risk, wrong, 1.0)
    assert ledger.upper() >= ledger.expected()
    assert ledger.upper(1.0) >= ledger.upper()
    assert ledger.proven() >= 0.0


def test_the_proven_bound_holds_at_all_times_in_nineteen_of_twenty_streams_whatever_the_model_says() -> None:
    broken = 0
    for seed in range(300):
        chance, ledger, wrong_served, over = Random(seed), Ledger(), 0, False
        share = chance.choice([0.05, 0.3, 1.0])
        for _ in range(400):
            explored, wrong = chance.uniform(LEAST_EXPLORED, 0.3), chance.random() < share
            if chance.random() < explored:
                ledger.audit(explored, 0.0, float(wrong))
            else:
                ledger.hits += 1
                wrong_served += wrong
            over = over or wrong_served > ledger.proven()
        broken += over
    assert broken <= 300 * 0.05


def test_audits_without_a_wrong_one_make_riskier_worlds_implausible() -> None:
    doubtful, sure = Ledger(served_risk=1.0, hits=100), Ledger(served_risk=1.0, hits=100)
    for _ in range(80):
        sure.audit(0.1, 0.01, 0.0)
    assert sure.upper() < doubtful.upper()
