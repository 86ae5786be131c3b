from pathlib import Path

import pytest

from gateway.supervision.greeting import Greeting
from gateway.supervision.suggestion import Suggestion


def greeting(home: Path, suggestion: Suggestion | None) -> Greeting:
    return Greeting(origin="http://127.0.0.1:4000", home=home, suggestion=suggestion)


def test_it_names_the_keys_that_are_there_and_a_line_to_try(tmp_path: Path) -> None:
    demo = greeting(tmp_path, Suggestion("demo", "demo", "auto"))
    assert "the one in SLUICE_ADMIN_KEY" in demo.text()
    (tmp_path / "admin.key").touch()
    (tmp_path / "demo.key").touch()
    assert f"Admin key   {tmp_path}/admin.key" in demo.text()
    assert f'"Authorization: Bearer $(cat {tmp_path}/demo.key)"' in demo.text()
    assert "keys create" not in demo.text()
    assert demo.facts()["base_url"] == "http://127.0.0.1:4000/v1"


@pytest.mark.parametrize("left_over", [True, False])
def test_under_a_policy_of_ones_own_it_makes_a_key_that_this_policy_knows(tmp_path: Path, left_over: bool) -> None:
    if left_over:
        (tmp_path / "demo.key").touch()
    own = greeting(tmp_path, Suggestion("search", "web", "fast"))
    assert "SLUICE_KEY=$(sluice keys create --team search --app web)" in own.text()
    assert '"Authorization: Bearer $SLUICE_KEY"' in own.text()
    assert """-d '{"model": "fast", "messages": [{"role": "user", "content": "Hello!"}]}'""" in own.text()
    assert "demo.key" not in own.text()
    assert own.facts()["demo_key_file"] is None


def test_a_policy_without_apps_offers_nothing_to_try(tmp_path: Path) -> None:
    assert "nobody can ask" in greeting(tmp_path, None).text()
    assert "curl" not in greeting(tmp_path, None).text()
