"""A context section within another one."""

from dataclasses import replace

from governance.context.rule import NOTHING_ASKED, ContextRule
from governance.policy.contexts import ContextSection, TrimSection, within

ORG = ContextRule(audit=True, max_input_tokens=32_000, mode="warn", keep_last_turns=6, target_tokens=8_000)


def test_the_innermost_holds_and_what_is_absent_is_as_around_it() -> None:
    inner = ContextSection(trim=TrimSection(mode="trim", target_tokens=4_000))

    assert within(ORG, inner) == replace(ORG, mode="trim", target_tokens=4_000)
    assert within(ORG, None) is ORG
    assert within(ORG, ContextSection(audit=False)).audit is False


def test_the_longest_prompt_is_never_longer_than_around_it() -> None:
    assert within(ORG, ContextSection(max_input_tokens=64_000)).max_input_tokens == 32_000
    assert within(ORG, ContextSection(max_input_tokens=1_000)).max_input_tokens == 1_000
    assert within(NOTHING_ASKED, ContextSection()).max_input_tokens is None


def test_without_a_target_the_longest_prompt_is_one() -> None:
    assert ContextRule(max_input_tokens=9).target == 9
    assert ContextRule(max_input_tokens=9, target_tokens=5).target == 5
    assert NOTHING_ASKED.idle
    assert not ContextRule(max_input_tokens=9).idle
