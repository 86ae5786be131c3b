"""The folders at the root are ours alone: no installed package shadows them."""

from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "governance", "cache", "router_models", "local_engine", "dashboards", "migrations")


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_is_the_one_in_this_repository(name: str) -> None:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).is_relative_to(ROOT / name)


@pytest.mark.parametrize("name", PACKAGES)
def test_a_package_begins_with_its_map(name: str) -> None:
    text = (ROOT / name / "__init__.py").read_text()
    assert text.startswith('"""')
    assert len(text.split()) > 20, "says what it does, what it does not know, and what to read first"
