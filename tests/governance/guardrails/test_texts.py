"""A text on its way through the rules: the same result for every cut of it, and nothing that was found gets through."""

import json
import re
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from governance.guardrails.rules import Detecting, Matching, Rule, label_of
from governance.guardrails.texts import GuardedText

SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
EMAIL = "ann.lee@example.org"


class Blocked(Exception):
    pass


def rule(looks_for: Matching | Detecting, action: str = "redact", name: str = "rule") -> Rule:
    return Rule(name=name, on="output", action=action, looks_for=looks_for)  # type: ignore[arg-type]


SECRETS = rule(Detecting(("secret", "private_key", "email")), name="secrets")
NIGHTJAR = rule(Matching(re.compile(r"(?i)project\s+nightjar")), name="no-nightjar")
AROUND = rule(Matching(re.compile(r"(?i)nightjar \w+")), name="around")
FLAG = rule(Matching(re.compile("a")), "flag", name="flag")


def acting(rule: Rule) -> None:
    if rule.action == "block":
        raise Blocked


def replaced(rule: Rule, kind: str, value: str) -> str:
    return f"[{label_of(kind)}]"


def through(pieces: list[str], *rules: Rule, json: bool = False) -> str:
    text = GuardedText(rules, acting, replaced, json=json)
    return "".join([*(text.feed(piece) for piece in pieces), text.end()])


parts = st.lists(
    st.sampled_from(
        [SECRET, EMAIL, "Project \n Nightjar", "nightjar tonight", "The plan. ", " ", "projec", "a", "你好", '"', "\\"]
    ),
    max_size=8,
)


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in pairwise(edges)]


@settings(max_examples=80)
@given(parts=parts, places=st.lists(st.integers(0, 500), max_size=15))
def test_any_cut_gives_the_same_text_and_lets_nothing_through(parts: list[str], places: list[int]) -> None:
    text, rules = "".join(parts), (SECRETS, NIGHTJAR, AROUND, FLAG)
    passed = through(cut(text, places), *rules)
    assert passed == through([text], *rules)
    assert not re.search(r"(?i)project\s+nightjar", passed)
    assert " " + SECRET + " " not in passed


@settings(max_examples=60)
@given(parts=parts, places=st.lists(st.integers(0, 500), max_size=15), ascii_only=st.booleans())
def test_the_arguments_of_a_call_stay_json_however_they_are_cut(
    parts: list[str], places: list[int], ascii_only: bool
) -> None:
    written = json.dumps({"note": " ".join(parts)}, ensure_ascii=ascii_only)
    passed = through(cut(written, places), SECRETS, NIGHTJAR, json=True)
    assert passed == through([written], SECRETS, NIGHTJAR, json=True)
    assert not re.search(r"(?i)project\s+nightjar", json.loads(passed)["note"])


def test_escapes_hide_nothing() -> None:
    assert through(['{"q":"\\u0070roject\\nnightjar!"}'], NIGHTJAR, json=True) == '{"q":"[NO_NIGHTJAR]!"}'


def test_what_two_rules_find_is_one_finding_named_after_the_first() -> None:
    assert through(list("Project Nightjar tonight"), AROUND, NIGHTJAR) == "[NO_NIGHTJAR]"


@given(places=st.lists(st.integers(0, 60), max_size=15))
def test_of_what_is_blocked_nothing_has_gone_on_when_it_is(places: list[int]) -> None:
    text = GuardedText((rule(NIGHTJAR.looks_for, "block"),), acting, replaced)  # type: ignore[arg-type]
    passed = ""
    blocked = False
    for piece in cut("All about Project Nightjar and more", places):
        try:
            passed += text.feed(piece)
        except Blocked:
            blocked = True
            break
    assert blocked
    assert "All about ".startswith(passed)


def test_a_rule_that_flags_holds_nothing_back() -> None:
    text = GuardedText((FLAG, rule(Matching(re.compile("x+y")), "flag")), acting, replaced)
    assert [text.feed(piece) for piece in ("xx", "xa")] == ["xx", "xa"]
