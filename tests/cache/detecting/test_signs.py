import json
import re
from pathlib import Path

import pytest

from cache.detecting.reading import read
from cache.detecting.signs import first, read_signs, words

FILES = ("acting", "personal", "time_sensitive", "varied")
TEXTS = [
    json.loads(line)["text"]
    for path in sorted(Path(__file__).parent.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("name", FILES)
def test_the_needed_words_of_a_sign_hide_no_match(name: str) -> None:
    readings = [read(text) for text in TEXTS]
    hidden = [
        (sign.what, reading.text)
        for sign in read_signs(name)
        for reading in readings
        if reading.words.isdisjoint(sign.needs)
        and sign.pattern.search(reading.ask if name in {"personal", "time_sensitive"} else reading.start)
    ]
    assert hidden == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_names_each_reason_once_and_leaves_no_name_unfilled(name: str) -> None:
    signs = read_signs(name)
    assert len({sign.what for sign in signs}) == len(signs)
    assert all(sign.needs for sign in signs)
    assert not [sign for sign in signs if re.search(r"\{[a-z]", sign.pattern.pattern)]


def test_the_first_sign_that_shows_gives_the_reason() -> None:
    weather = next(sign for sign in read_signs("time_sensitive") if sign.what == "the weather")
    assert first((weather,), "weather in oslo", words("weather in oslo")) == "the weather"
    assert first((weather,), "whether in oslo", words("whether in oslo")) is None
