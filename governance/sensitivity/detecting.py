"""Find sensitive text of the kinds that are asked for.

A prefilter keeps this cheap: a kind whose letters do not occur is not looked for at all. Every pattern is bounded, so
that no text takes more than time in proportion to its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from governance.sensitivity.finding import Finding
from governance.sensitivity.kinds import card, email, iban, national_id, phone, private_key, secret
from governance.sensitivity.views import views

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from governance.sensitivity.finding import Kind

_FINDERS: Final[Mapping[Kind, Callable[[str], Iterator[tuple[int, int]]]]] = {
    "private_key": private_key.find,
    "secret": secret.find,
    "card": card.find,
    "iban": iban.find,
    "national_id": national_id.find,
    "email": email.find,
    "phone": phone.find,
}
"""The finders, the surest first: what one has found is nothing else as well."""


def detect(text: str, kinds: Collection[Kind]) -> tuple[Finding, ...]:
    """Find what a text has of some kinds, in its own letters or encoded.

    Args:
        text: The text.
        kinds: What to look for.

    Returns:
        Findings in their order, none of which overlaps another.
    """
    found: list[Finding] = []
    for view in views(text):
        for kind, finder in _FINDERS.items():
            # All kinds are looked for, so that a card is no telephone number even where nobody asks for cards.
            found.extend(Finding(*view.origin(start, end), kind) for start, end in finder(view.text))
    return tuple(one for one in _apart(found) if one.kind in kinds)


def redacted(text: str, findings: Iterable[Finding], placeholder: Callable[[Finding], str]) -> str:
    """Return a text with what was found in it replaced.

    Args:
        text: The text.
        findings: What was found in it, as `detect` returns it.
        placeholder: What stands for a finding.
    """
    pieces: list[str] = []
    done = 0
    for one in findings:
        pieces += [text[done : one.start], placeholder(one)]
        done = one.end
    return "".join([*pieces, text[done:]])


def _apart(found: list[Finding]) -> list[Finding]:
    """Return what was found in order, the surest kind of what overlaps, over all that the others cover."""
    surest = {kind: rank for rank, kind in enumerate(_FINDERS)}
    kept: list[Finding] = []
    for one in sorted(found):
        if kept and one.start < kept[-1].end:
            last = kept.pop()
            kind: Kind = last.kind if surest[last.kind] <= surest[one.kind] else one.kind
            one = Finding(last.start, max(last.end, one.end), kind)  # noqa: PLW2901  what overlaps is one
        kept.append(one)
    return kept
