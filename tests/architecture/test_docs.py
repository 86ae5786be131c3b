"""The README speaks of what exists, and of all that people may set or type."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gateway.cli import sluice
from gateway.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
CODE = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", README, re.DOTALL))
OURS = "|".join(re.escape(path.name) for path in ROOT.iterdir() if path.name not in {"var", ".venv", ".git"})
PATHS = sorted(set(re.findall(rf"(?<![\w/.-])(?:{OURS})(?:/[\w.-]+)*(?![\w-])", CODE)))
SETTINGS = sorted(str(field.validation_alias) for field in Settings.model_fields.values())


def verbs(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from verbs(command, (*path, name))
        else:
            yield " ".join((*path, name))


VERBS = sorted(verbs(sluice))


def test_a_file_that_the_readme_names_exists() -> None:
    assert [path for path in PATHS if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", SETTINGS)
def test_the_readme_lists_every_setting(name: str) -> None:
    assert f"`{name}`" in README


@pytest.mark.parametrize("verb", VERBS)
def test_the_readme_shows_every_verb(verb: str) -> None:
    assert re.search(rf"\bsluice {verb}\b", CODE)


def test_the_readme_shows_no_verb_that_does_not_exist() -> None:
    shown = re.findall(r"\bsluice ([a-z]+)(?: ([a-z]+))?", CODE)
    unknown = [" ".join(words) for words in shown if words[0] not in VERBS and " ".join(words) not in VERBS]
    assert unknown == []
