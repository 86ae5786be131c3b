"""What `sluice policy check` finds: problems, warnings, and notes of what is not yet obeyed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gateway.policy.findings.enforcement import Note, notes
from gateway.policy.problems import PolicyInvalid, Problem
from gateway.policy.source import STARTER, load_policy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The findings about one policy.

    Attributes:
        source: The document.
        version: Its version; empty when it is invalid.
        problems: What makes it invalid.
        warnings: What does not stop it, but will be missed.
        notes: Parts that are not yet obeyed.
    """

    source: str
    version: str
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the policy may be put in force."""
        return not self.problems

    def lines(self) -> list[str]:
        """Return the report for people, one finding a line, the verdict last."""
        if self.problems:
            return [*map(str, self.problems), f"{self.source}: {counted(len(self.problems), 'problem')}"]
        return [
            *(f"{warning.place}: warning: {warning.told}" for warning in self.warnings),
            *(f"{self.source}: not yet obeyed: {note.path}: {note.sentence}" for note in self.notes),
            f"{self.source}: valid, version {self.version}, {counted(len(self.warnings), 'warning')}",
        ]

    def facts(self) -> dict[str, Any]:
        """Return the report for programs, as plain data."""
        return {"ok": self.ok, **asdict(self)}


def check(path: Path | None, env: Mapping[str, str], at: datetime) -> CheckReport:
    """Check a policy file, or the starter policy when there is none; `at` decides which list prices hold."""
    try:
        loaded = load_policy(path, env, at)
    except PolicyInvalid as invalid:
        return CheckReport(STARTER if path is None else str(path), "", problems=invalid.problems)
    return CheckReport(loaded.source, loaded.version, (), loaded.warnings, notes(loaded.document))


def counted(number: int, noun: str) -> str:
    """Word a count: `1 problem`, `2 problems`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
