"""Guardrails that find nothing, or that nothing gets past."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, cast

from cache.embedding.opening import installed
from governance.policy.patterns import LONGEST_TEXT

# As in `governance/policy/patterns.py`.
from re import _parser as parser  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]  # isort: skip

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from gateway.policy.document import Policy
    from gateway.policy.problems import Problem, Reporter

_EXTRA: Final = "install sluicegate[semantic]"


class _Parsed(Protocol):
    def getwidth(self) -> tuple[int, int]: ...


def unguarding(report: Reporter, document: Policy) -> Iterator[Problem]:
    """Find the rules of the kind."""
    for place, rule in enumerate(document.guardrails):
        path = ("guardrails", place)
        if rule.detect is not None and not rule.detect:
            yield report.at((*path, "detect"), "finds nothing: it names no kind of text")
        if rule.pattern is not None and (why := _never(rule.pattern)):
            yield report.at((*path, "pattern"), why)
        if (rule.topics is not None or rule.injection is not None) and not installed():
            what = "nothing gets past it" if rule.action == "block" else "it never finds anything"
            yield report.at(path, f"needs the bundled embedding, which is not installed: {what}", _EXTRA)


def _never(pattern: re.Pattern[str]) -> str:
    fewest, most = cast("_Parsed", parser.parse(pattern.pattern, pattern.flags)).getwidth()
    if most == 0:
        return "finds nothing: what it matches has no length"
    if fewest > LONGEST_TEXT:
        return f"finds nothing: a pattern reads {LONGEST_TEXT} characters at most, and it needs {fewest}"
    return ""
