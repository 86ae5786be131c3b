from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import pytest
from pydantic import TypeAdapter

import cache

DATA = Path(cache.__file__).parent / "verifying" / "data"
Kind = Literal[
    "negation",
    "antonym",
    "number",
    "date",
    "time",
    "unit",
    "currency",
    "entity",
    "place",
    "product",
    "version",
    "identifier",
    "scope",
    "audience",
    "role_swap",
    "comparative",
    "question_type",
    "tense",
    "sequence",
    "format",
    "condition",
    "attribute",
]


@dataclass(frozen=True, slots=True)
class Trap:
    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    id: str
    domain: str
    base: str
    same: tuple[str, ...]
    near: tuple[str, ...]
    traps: tuple[Trap, ...]

    def alike(self) -> tuple[str, ...]:
        return (self.base, *self.same, *self.near)


@pytest.fixture(scope="module")
def groups() -> tuple[Group, ...]:
    line_holds = TypeAdapter(Group)
    lines = [line for path in sorted(DATA.glob("groups-*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    return tuple(line_holds.validate_json(line) for line in lines)


def folded(text: str) -> str:
    return " ".join(text.casefold().split())


def test_every_group_has_an_id_and_a_base_of_its_own(groups: tuple[Group, ...]) -> None:
    assert groups
    assert len({group.id for group in groups}) == len(groups)
    assert len({folded(group.base) for group in groups}) == len(groups)
    assert all(group.id.rpartition("-")[0] == group.domain for group in groups)


def test_a_group_has_as_many_wordings_and_traps_as_its_description_says(groups: tuple[Group, ...]) -> None:
    odd = [
        group.id
        for group in groups
        if not (3 <= len(group.same) <= 5 and 1 <= len(group.near) <= 2 and 5 <= len(group.traps) <= 8)
    ]
    assert odd == []


def test_no_text_stands_twice_in_a_group(groups: tuple[Group, ...]) -> None:
    odd = [
        group.id
        for group in groups
        if len({folded(t) for t in (group.base, *group.same, *(trap.text for trap in group.traps))})
        != 1 + len(group.same) + len(group.traps)
    ]
    assert odd == []


def test_no_trap_is_a_text_that_means_the_same(groups: tuple[Group, ...]) -> None:
    odd = [
        group.id for group in groups if {folded(t) for t in group.alike()} & {folded(trap.text) for trap in group.traps}
    ]
    assert odd == []


def test_every_trap_is_of_a_known_kind_and_a_group_mixes_kinds(groups: tuple[Group, ...]) -> None:
    assert {trap.kind for group in groups for trap in group.traps} == set(get_args(Kind))
    assert [group.id for group in groups if len({trap.kind for trap in group.traps}) < 4] == []


def test_no_text_is_empty_or_padded(groups: tuple[Group, ...]) -> None:
    texts = [t for group in groups for t in (*group.alike(), *(trap.text for trap in group.traps))]
    assert [t for t in texts if not t or t != t.strip()] == []
