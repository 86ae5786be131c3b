"""What a valid policy says that cannot mean what was meant: warnings, each with its place and a hint.

`shadowed.py` finds budgets and limits that never bind, `unreachable.py` routes and fallbacks that never answer,
`unlearned.py` features that a semantic cache never serves, `unguarding.py` guardrails that find nothing. All look at a
whole document whose names are known to be right, and say nothing where they are not certain. `enforcement.py` names the
parts that this release reads but does not obey.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.policy.findings.shadowed import shadowed
from gateway.policy.findings.unguarding import unguarding
from gateway.policy.findings.unlearned import unlearned
from gateway.policy.findings.unreachable import unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.policy.document import Policy
    from gateway.policy.problems import Problem, Reporter


def findings(report: Reporter, document: Policy, unpriced: Mapping[str, str]) -> Iterator[Problem]:
    """Find everything of the kind in a document."""
    yield from shadowed(report, document)
    yield from unreachable(report, document, unpriced)
    yield from unlearned(report, document, unpriced)
    yield from unguarding(report, document)
