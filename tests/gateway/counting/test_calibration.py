"""What is learnt of a tokenizer from settled usage, and how far it can be trusted."""

from collections.abc import Callable, Sequence
from functools import cache
from statistics import median

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.counting.calibration import ENOUGH, RECENT, Calibration, Learnt
from gateway.counting.makeup import MEASURES, makeup
from local_engine.text.tokenizer import Tokenizer
from tests.support.bundled import open_bundled
from tests.support.tokenized_texts import texts

Counter = Callable[[str], int]
PLAIN = st.text(st.characters(exclude_categories=["Cs"]))
TAUGHT = st.lists(st.tuples(PLAIN, st.integers(1, 100_000)), max_size=60)


def measured(text: str) -> tuple[int, ...]:
    return makeup({"messages": [{"role": "user", "content": text}]}).measures


def taught(count: Counter, lessons: Sequence[str]) -> Calibration:
    calibration = Calibration()
    for text in lessons:
        calibration.learn(measured(text), count(text))
    return calibration


def synthetic(text: str) -> int:
    """Count as a tokenizer does that has a token for each third letter, each digit and each sign."""
    measures = dict(zip(MEASURES, measured(text), strict=True))
    others = sum(measures[name] for name in ("digits", "marks", "latin", "ideographs"))
    return measures["letters"] // 3 + others + 9


@cache
def tokenizer() -> Tokenizer:
    return Tokenizer(open_bundled().vocabulary)


def engine(text: str) -> int:
    return len(tokenizer().encode(text)) + 31  # and what its chat template adds


def errors(calibration: Calibration, count: Counter, held_out: Sequence[str]) -> list[float]:
    return sorted(abs(calibration.estimate(measured(text)) / count(text) - 1) for text in held_out)


@given(TAUGHT, PLAIN, PLAIN)
@settings(max_examples=50)
def test_an_estimate_is_at_least_one_token_and_never_falls_when_text_is_added(
    lessons: list[tuple[str, int]], text: str, more: str
) -> None:
    calibration = Calibration()
    for lesson, tokens in lessons:
        calibration.learn(measured(lesson), tokens)
    shorter, longer = calibration.estimate(measured(text)), calibration.estimate(measured(text + more))

    assert 1 <= shorter <= longer * (1 + 1e-9)
    most = calibration.most(measured(text))
    assert (most is None) == (len(lessons) < ENOUGH)
    assert most is None or most >= shorter


def test_nothing_is_bounded_by_what_too_few_prompts_have_taught() -> None:
    lessons = texts(ENOUGH, 1)

    assert taught(synthetic, lessons[:-1]).most(measured("hello")) is None
    assert taught(synthetic, lessons).most(measured("hello")) is not None


@pytest.mark.parametrize("count", [synthetic, engine])
def test_a_tokenizer_is_learnt_to_a_few_percent_from_two_hundred_prompts(count: Counter) -> None:
    held_out = texts(200, 2)
    before, after = errors(Calibration(), count, held_out), errors(taught(count, texts(200, 3)), count, held_out)

    assert median(after) < 0.05 < median(before)
    assert after[190] < 0.15


@pytest.mark.parametrize("count", [synthetic, engine])
def test_almost_no_prompt_has_more_than_was_learnt_and_far_less_is_held_than_a_token_a_byte(count: Counter) -> None:
    calibration, held_out = taught(count, texts(600, 4)), texts(500, 5)
    most = [calibration.most(measured(text)) or 0 for text in held_out]
    counts = [count(text) for text in held_out]

    assert sum(tokens > bound for tokens, bound in zip(counts, most, strict=True)) <= 15
    assert sum(most) < 1.4 * sum(counts)
    assert 1.4 * sum(counts) < sum(len(text.encode()) for text in held_out)


def test_the_error_it_tells_is_the_error_it_makes() -> None:
    calibration = taught(engine, texts(400, 6))
    made = errors(calibration, engine, texts(400, 7))

    assert calibration.error(0.95) == pytest.approx(made[380], abs=0.08)


def test_a_name_that_comes_to_stand_for_another_tokenizer_is_learnt_anew() -> None:
    calibration = taught(lambda text: 3 * synthetic(text), texts(400, 8))
    for text in texts(2 * RECENT, 9):
        calibration.learn(measured(text), synthetic(text))

    assert median(errors(calibration, synthetic, texts(100, 10))) < 0.05


def test_one_absurd_count_does_not_bend_the_weights() -> None:
    lessons = texts(300, 11)
    sound, misled = taught(synthetic, lessons), taught(synthetic, lessons)
    misled.learn(measured(lessons[0]), 900_000_000)
    misled.learn(measured(lessons[1]), 1)

    assert median(errors(misled, synthetic, texts(100, 12))) < median(errors(sound, synthetic, texts(100, 12))) + 0.05


def test_it_may_learn_for_years_and_stays_sound() -> None:
    calibration = Calibration()
    for _ in range(20_000):
        calibration.learn(measured("hello"), 12)

    assert calibration.estimate(measured("hello")) == pytest.approx(12, rel=0.05)
    assert 1 < calibration.estimate(measured("größer 中文 123")) < 40


def test_what_was_learnt_can_be_stored_and_goes_on_from_there() -> None:
    learnt = taught(engine, texts(100, 13))
    stored = msgspec.json.encode(learnt.learnt)
    again = Calibration.of(msgspec.json.decode(stored, type=Learnt))

    assert again.prompts == learnt.prompts
    for text in texts(20, 14):
        assert again.estimate(measured(text)) == pytest.approx(learnt.estimate(measured(text)), rel=1e-4)
        assert again.most(measured(text)) == pytest.approx(learnt.most(measured(text)), rel=1e-3, abs=1)
        for each in (again, learnt):
            each.learn(measured(text), engine(text))


SIZE = len(MEASURES)


@pytest.mark.parametrize(
    "change",
    [
        {"measures": ("words",)},
        {"sums": ()},
        {"sums": ((0.0,) * SIZE,) * SIZE},
        {"weights": (1.0,)},
        {"weights": (-1.0,) * SIZE},
        {"goals": ()},
    ],
)
def test_what_was_stored_by_another_version_or_makes_no_sense_is_of_no_use(change: dict[str, object]) -> None:
    learnt = msgspec.structs.replace(taught(synthetic, texts(60, 15)).learnt, **change)

    assert Calibration.of(learnt).prompts == 0


def test_a_store_without_recent_prompts_bounds_nothing_yet() -> None:
    learnt = msgspec.structs.replace(taught(synthetic, texts(60, 15)).learnt, ratios=())

    assert Calibration.of(learnt).most(measured("hello")) is None


def test_a_model_that_is_well_known_learns_from_few_prompts() -> None:
    fresh, known = Calibration(), taught(synthetic, texts(300, 16))

    assert all(fresh.wants_more() for _ in range(100))
    assert sum(known.wants_more() for _ in range(100)) == 25
