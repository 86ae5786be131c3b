import pytest

from cache.detecting.reading import read


@pytest.mark.parametrize(
    "text",
    [
        'How do you say "what is the weather today" in Dutch?',
        "Translate into Dutch: what is the weather today?",
        "What does `the weather today` print?",
        "how would i say what is the weather today in dutch",
    ],
)
def test_what_is_quoted_or_to_be_worked_on_is_set_aside(text: str) -> None:
    reading = read(text)
    assert reading.material
    assert "weather" not in reading.words


def test_contractions_are_spelled_out() -> None:
    assert read("What's up, I'm here and they\u2019re there").ask == "what is up, i am here and they are there"
    assert read("whats its colour").ask == "what is its colour"


@pytest.mark.parametrize("text", ["Hi, could you please close the gate", "please close the gate", "Close the gate"])
def test_greetings_and_pleas_stand_before_the_start(text: str) -> None:
    assert read(text).start == "close the gate"


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("How do I close the gate?", True),
        ("What does closing the gate mean?", True),
        ("Why does the gate close?", True),
        ("Is the gate closed?", False),
        ("Close the gate", False),
        ("Wie schließe ich das Tor?", True),
        ("Comment fermer le portail ?", True),
        ("¿Cómo cierro la puerta?", True),
    ],
)
def test_a_question_about_the_way_or_the_meaning_is_one_of_method(text: str, method: bool) -> None:
    assert read(text).method == method


def test_only_the_ends_of_a_long_text_are_the_askers_own() -> None:
    reading = read(
        "Summarise this. " + "Filler of no interest. " * 100 + "What is the weather? " + "More filler. " * 100
    )
    assert reading.material
    assert "weather" not in reading.words
