"""What stands for what was redacted, and how it is put back."""

import json
import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from governance.guardrails.placeholders import Placeholders, Restoring
from governance.guardrails.rules import Matching, Rule
from governance.guardrails.texts import GuardedText

RULE = Rule(
    name="mail", on="input", action="redact", looks_for=Matching(re.compile(r"\w+@\w+")), reversible=True
)  # fmt: skip


def redacted(text: str) -> tuple[str, Placeholders]:
    placeholders = Placeholders()
    placeholders.avoid(text)
    guarded = GuardedText((RULE,), lambda _: None, placeholders.of, whole=True)
    return guarded.feed(text) + guarded.end(), placeholders


def restored(pieces: list[str], placeholders: Placeholders, *, json: bool = False) -> str:
    if not placeholders.reversible:
        return "".join(pieces)
    restoring = Restoring(placeholders.reversible, json=json)
    return "".join([*(restoring.feed(piece) for piece in pieces), restoring.end()])


def test_the_same_value_has_the_same_placeholder() -> None:
    assert redacted("a@b c@d a@b")[0] == "[MAIL_1] [MAIL_2] [MAIL_1]"


def test_a_number_that_the_text_has_itself_is_left_out() -> None:
    text, placeholders = redacted("[MAIL_1] is from a@b")
    assert text == "[MAIL_1] is from [MAIL_2]"
    assert restored([text], placeholders) == "[MAIL_1] is from a@b"


def test_what_is_redacted_already_stays_as_it_is() -> None:
    once, _ = redacted("a@b c@d")
    assert redacted(once)[0] == once


@given(
    text=st.text("ab@[]MAIL_1 \n", max_size=60),
    places=st.lists(st.integers(0, 80), max_size=10),
)
def test_what_was_redacted_comes_back_however_it_is_cut(text: str, places: list[int]) -> None:
    sent, placeholders = redacted(text)
    edges = sorted({0, len(sent), *(place % (len(sent) + 1) for place in places)})
    assert restored([sent[a:b] for a, b in pairwise(edges)], placeholders) == text


@given(value=st.text(min_size=1, max_size=20), places=st.lists(st.integers(0, 80), max_size=10))
def test_what_comes_back_within_json_is_written_as_json(value: str, places: list[int]) -> None:
    placeholders = Placeholders()
    name = placeholders.of(RULE, "mail", value)
    sent = json.dumps({"to": f"<{name}>"})
    edges = sorted({0, len(sent), *(place % (len(sent) + 1) for place in places)})
    whole = restored([sent[a:b] for a, b in pairwise(edges)], placeholders, json=True)
    assert json.loads(whole) == {"to": f"<{value}>"}


def test_no_more_is_held_back_than_may_be_the_beginning_of_a_placeholder() -> None:
    restoring = Restoring({"[MAIL_1]": "a@b"})
    assert [restoring.feed(piece) for piece in ("x [", "MAIL", "_1", "] y [", "z")] == ["x ", "", "", "a@b y ", "[z"]
