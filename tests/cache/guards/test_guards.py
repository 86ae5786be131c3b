"""What no similarity may bridge, and what the guards let through to the verifier."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.guards import GUARDS, read, veto

KEPT_APART = {
    "number": [
        ("Convert 100 USD to EUR", "Convert 1,000 USD to EUR"),
        ("Is two days enough to see the museum?", "Is five days enough to see the museum?"),
        ("Wake me at 6am", "Wake me at 6pm"),
        ("Where is parcel 77120?", "Where is parcel 77210?"),
        ("Open ticket three hundred", "Open ticket 30"),
        ("Is the Model 5 waterproof?", "Is the Model 5b waterproof?"),
        ("Who was the 3rd president?", "Who was the 5th president?"),
    ],
    "unit": [
        ("How far is 5 km?", "How far is 5 miles?"),
        ("What is 20 dollars worth today?", "What is 20 euros worth today?"),
        ("Is 30 days enough notice?", "Is 30 weeks enough notice?"),
    ],
    "moment": [
        ("Are you open on Monday?", "Are you open on Tuesday?"),
        ("What did I spend last month?", "What did I spend last year?"),
        ("Is the pool open in July?", "Is the pool open in August?"),
        ("What is the weekly rent?", "What is the monthly rent?"),
    ],
    "negation": [
        ("Delete the old logs", "Do not delete the old logs"),
        ("Which fruits are safe for rabbits?", "Which fruits aren't safe for rabbits?"),
        ("Can I return it with a receipt?", "Can I return it without a receipt?"),
    ],
    "opposite": [
        ("How do I mute the channel?", "How do I unmute the channel?"),
        ("Is tax included?", "Is tax excluded?"),
        ("How do I encrypt the disk?", "How do I decrypt the disk?"),
        ("What is the deadline for full-time students?", "What is the deadline for part time students?"),
        ("How do I enable sync?", "How do I disable sync?"),
        ("Is the plug compatible?", "Is the plug incompatible?"),
    ],
    "particle": [("How do I log in?", "How do I log out?"), ("Turn the heating on", "Turn the heating off")],
    "name": [
        ("What is the population of Oslo?", "What is the population of Bergen?"),
        ("how do i install python on windows", "how do i install python on linux"),
        ("Does the Kindle have a light?", "Does the Kobo have a light?"),
    ],
    "code": [
        ("What does `os.walk` return?", "What does `os.scandir` return?"),
        ("Why is user_id null?", "Why is account_id null?"),
        ("Summarise https://example.com/a", "Summarise https://example.com/b"),
        ("How do I read /etc/hosts?", "How do I read /etc/passwd?"),
        ("What does --force do?", "What does --dry-run do?"),
        ('Translate "good night"', 'Translate "good day"'),
    ],
    "language": [
        ("What is the capital of France?", "Wie ist die Hauptstadt und wo ist sie?"),
        ("What is rain?", "Что такое дождь?"),
    ],
    "asking": [
        ("How do I renew a visa?", "When do I renew a visa?"),
        ("Why do cats purr?", "How do cats purr?"),
        ("How long is the tour?", "How much is the tour?"),
    ],
    "tense": [
        ("How much does a stamp cost?", "How much did a stamp cost?"),
        ("What is the speed limit?", "What was the speed limit?"),
    ],
    "scope": [
        ("Delete all photos", "Delete photos"),
        ("What is the first step?", "What is the last step?"),
        ("Are people over 65 exempt?", "Are people under 65 exempt?"),
    ],
    "person": [
        ("Do I need a visa?", "Does my daughter need a visa?"),
        ("What are the signs of measles?", "What are the signs of measles in babies?"),
    ],
    "role": [
        ("How do I move money from savings to checking?", "How do I move money from checking to savings?"),
        ("Convert Celsius to Kelvin", "Convert Kelvin to Celsius"),
        ("Do dogs chase cats?", "Do cats chase dogs?"),
        ("Rinse first, then soak", "Soak first, then rinse"),
    ],
    "sign": [
        ("What is C?", "What is C#?"),
        ("What is C++?", "What is C?"),
        ("What does != mean?", "What does == mean?"),
        ("What does the operator -> do?", "What does the operator <- do?"),
        ("Is 5 > 3 valid in SQL?", "Is 5 < 3 valid in SQL?"),
        ("What does && mean?", "What does || mean?"),
        ("What does 🙃 mean?", "What does 🫠 mean?"),
        ("Is the Disney+ app free?", "Is the Disney app free?"),
    ],
    "accent": [
        ("Is résumé padding common?", "Is resume padding common?"),
        ("¿Cuántos años tiene el rey?", "¿Cuántos anos tiene el rey?"),
        ("Was ist schön?", "Was ist schon?"),
    ],
    "capital": [
        ("How do I say Polish nails?", "How do I say polish nails?"),
        ("What does Turkey export?", "Which farms export turkey?"),
    ],
}

LET_THROUGH = [
    ("What's the fee?", "what is the fee"),
    ("Is there a shuttle to the station?", "To the station, is there a shuttle?"),
    ("I earn £50,000, what do I owe?", "I earn £50000, what do I owe?"),
    ("What is a two-year fix?", "What is a 2 year fix?"),
    ("Could I get a table for two at seven this evening?", "Do you have a table for 2 at 7pm?"),
    ("Is my kid covered?", "Is my child covered?"),
    ("What time does the pool open on Saturdays?", "What time does the pool open on Satrudays?"),
    ("Do you take PayPal?", "do you take paypal"),
    ("Do you sell polish?", "do you sell polish"),
    ("Is the café open - and how long?", "how long is the café open?"),
    ("Are terms & conditions printed (here)?", "Are the terms and conditions printed here?"),
    ("Thanks! Is it 20°C inside; or not…", "Is it 20 °C inside or not"),
    ("What is the capital of Australia?", "Which city is Australia's capital?"),
    ("How do I cancel after a year?", "How do I cancel after 1 year?"),
]


@pytest.mark.parametrize(("guard", "a", "b"), [(guard, *pair) for guard, pairs in KEPT_APART.items() for pair in pairs])
def test_a_near_miss_is_kept_apart_by_its_guard(guard: str, a: str, b: str) -> None:
    ours, theirs = read(a), read(b)
    assert guard in {name for name, differ in GUARDS if differ(ours, theirs)}
    assert guard in {name for name, differ in GUARDS if differ(theirs, ours)}
    assert veto(ours, theirs) is not None


def test_every_guard_has_an_example() -> None:
    assert {name for name, _ in GUARDS} == set(KEPT_APART)


@pytest.mark.parametrize(("a", "b"), LET_THROUGH)
def test_the_same_question_in_other_words_is_let_through(a: str, b: str) -> None:
    assert veto(read(a), read(b)) is None


QUESTIONS = st.sampled_from([text for pairs in KEPT_APART.values() for pair in pairs for text in pair])


@given(QUESTIONS, QUESTIONS)
def test_the_order_of_two_questions_says_nothing(a: str, b: str) -> None:
    ours, theirs = read(a), read(b)
    assert [name for name, differ in GUARDS if differ(ours, theirs)] == [
        name for name, differ in GUARDS if differ(theirs, ours)
    ]


@given(st.one_of(QUESTIONS, st.text(max_size=200)))
def test_no_text_is_kept_from_itself(text: str) -> None:
    assert veto(read(text), read(text)) is None


@given(QUESTIONS, st.sampled_from(["", "?", "!", "...", " ?"]), st.booleans(), st.sampled_from([" ", "  ", "\n"]))
def test_case_space_and_a_closing_mark_say_nothing(text: str, mark: str, lower: bool, space: str) -> None:
    again = space.join((text.lower() if lower else text).rstrip("?").split()) + mark
    found = veto(read(text), read(again))
    assert found is None, found
