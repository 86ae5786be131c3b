"""Files stay small, folders stay shallow, names say something."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "governance", "cache", "router_models", "local_engine", "dashboards", "migrations")
SOURCES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
FOLDERS = sorted({path.parent for path in SOURCES})
MOST_LINES = 300
MOST_MODULES = 12
SAYS_NOTHING = {"util", "utils", "common", "core", "helper", "helpers", "misc", "shared", "base_utils"}


def named(paths: list[Path]) -> list[object]:
    return [pytest.param(path, id=str(path.relative_to(ROOT))) for path in paths]


@pytest.mark.parametrize("path", named(SOURCES))
def test_a_source_file_has_at_most_300_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("folder", named(FOLDERS))
def test_a_folder_has_at_most_12_modules_beside_its_map(folder: Path) -> None:
    modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    a_history_only_grows = folder == ROOT / "migrations" / "versions"
    assert a_history_only_grows or len(modules) <= MOST_MODULES


@pytest.mark.parametrize("path", named(SOURCES))
def test_a_name_says_what_is_inside(path: Path) -> None:
    assert not {part.removesuffix(".py") for part in path.relative_to(ROOT).parts} & SAYS_NOTHING


@pytest.mark.parametrize("folder", named(FOLDERS))
def test_a_folder_of_modules_is_a_package_with_a_map(folder: Path) -> None:
    alembic_reads_it = folder == ROOT / "migrations" / "versions"
    assert alembic_reads_it or (folder / "__init__.py").read_text().startswith('"""')


@pytest.mark.parametrize("path", named([path for path in SOURCES if path.name == "__init__.py"]))
def test_a_map_names_only_what_is_there(path: Path) -> None:
    places = re.findall(r"`([\w/.]+(?:\.py|/))`", path.read_text())
    assert [place for place in places if not (path.parent / place).exists() and not (ROOT / place).exists()] == []
