"""What is held for a prompt, what it probably is, and what it teaches."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.counting.bound import PICTURE_TOKENS
from gateway.counting.calibration import ENOUGH, Calibration
from gateway.counting.makeup import makeup
from gateway.counting.tally import Prompt, Tally
from governance.prices import Usage
from tests.support.tokenized_texts import texts

PICTURE = {"type": "image_url", "image_url": {"url": "https://x/y.png"}}
SOUND = {"type": "input_audio", "input_audio": {"data": "AAAA" * 100, "format": "wav"}}


def chat(content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": content}]}


def tally(body: dict[str, Any], calibration: Calibration | None = None, *, calibrated: bool = True) -> Tally:
    prompt = Prompt(body, len(msgspec.json.encode(body)))
    return Tally("gpt-4o", calibration or Calibration(), prompt, calibrated)


def settled(prompts: int = 200, share: float = 0.25) -> Calibration:
    """Return what is known of a tokenizer after so many prompts: it makes a token of every four bytes."""
    calibration = Calibration()
    for text in texts(prompts, 1):
        calibration.learn(makeup(chat(text)).measures, max(1, int(len(text.encode()) * share)))
    return calibration


KNOWN = settled()


def test_a_bound_is_held_unless_the_policy_says_otherwise_and_while_too_little_is_known() -> None:
    body = chat(texts(1, 2)[0])
    bound = tally(body).prompt.bound

    assert tally(body, KNOWN, calibrated=False).held == bound
    assert tally(body, settled(ENOUGH - 1)).held == bound
    assert tally(body, settled(ENOUGH)).held < bound


def test_far_less_than_a_token_a_byte_is_held_for_a_prompt_of_a_model_that_is_known() -> None:
    text = texts(1, 3)[0]

    assert len(text.encode()) / 4 < tally(chat(text), KNOWN).held < len(text.encode()) / 1.5


@pytest.mark.parametrize(("part", "bound"), [(PICTURE, PICTURE_TOKENS), (SOUND, 400)])
def test_what_is_attached_is_held_for_at_its_bound_all_the_same(part: dict[str, Any], bound: int) -> None:
    body = chat([{"type": "text", "text": texts(1, 4)[0]}, part])

    assert bound < tally(body, KNOWN).held < tally(body).prompt.bound


def test_a_picture_is_guessed_at_by_its_model() -> None:
    without, with_it = tally(chat([])), tally(chat([PICTURE]))

    assert with_it.likely - without.likely == pytest.approx(765, abs=2)


contents = st.text(st.characters(exclude_categories=["Cs"]), max_size=400) | st.lists(
    st.sampled_from([PICTURE, SOUND, {"type": "text", "text": "word 12 größer"}, {"type": "new"}]), max_size=4
)


@given(contents, st.sampled_from([Calibration(), KNOWN, settled(100, 1.0), settled(100, 0.01)]))
def test_neither_a_hold_nor_a_guess_is_ever_above_the_bound_or_below_one(
    content: Any, calibration: Calibration
) -> None:
    found = tally(chat(content), calibration)

    assert 1 <= found.likely <= found.held <= found.prompt.bound


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_an_answer_is_never_guessed_at_more_tokens_than_it_has_bytes(said: list[str]) -> None:
    guess = tally(chat("x"), settled(100, 1.0)).said(said)

    assert (guess > 0) == any(said)
    assert guess <= sum(len(text.encode()) for text in said)


def test_what_a_provider_counted_teaches_and_what_it_did_not_say_does_not() -> None:
    calibration = Calibration()
    tally(chat("hello"), calibration).learn(Usage(fresh_input=3, cache_read=9, output=1))
    assert calibration.prompts == 1
    tally(chat("hello"), calibration).learn(None)
    tally(chat("hello"), calibration).learn(Usage(output=1))
    tally(chat([PICTURE]), calibration).learn(Usage(fresh_input=800))
    assert calibration.prompts == 1
