from hypothesis import given
from hypothesis import strategies as st

from governance.names import shown


def test_what_a_terminal_would_obey_is_replaced() -> None:
    assert shown("\x1b[31mred\x9b0m\u202ename") == "�[31mred�0m�name"


@given(st.text())
def test_a_shown_name_prints_and_keeps_its_length(text: str) -> None:
    assert shown(text).isprintable()
    assert len(shown(text)) == len(text)
    assert shown(shown(text)) == shown(text)


@given(st.text().filter(str.isprintable))
def test_a_name_that_prints_is_left_alone(text: str) -> None:
    assert shown(text) == text
