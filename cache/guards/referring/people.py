"""Who a question is about: what I need to travel is not what my child needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cache.guards.words import Words

_ROLES = {
    word: group.split()[0]
    for group in (
        "child children kid kids son sons daughter daughters teenager teenagers teen toddler grandchild",
        "baby babies infant infants newborn",
        "partner husband wife spouse fiance fiancee boyfriend girlfriend",
        "parent parents mother father mum mom dad stepmother stepfather",
        "grandparent grandparents grandmother grandfather grandma grandpa",
        "sibling brother sister brothers sisters",
        "friend friends flatmate roommate colleague colleagues neighbour neighbours neighbor neighbors",
        "employer boss",
        "dog dogs puppy",
        "cat cats kitten",
        "pregnant",
        "visitors visitor guest guests",
        "tenant tenants renter renters",
        "landlord landlords",
        "student students pupil pupils",
        "adult adults",
    )
    for word in group.split()
}
_OTHERS = frozenset(("child", "baby", "partner", "parent", "grandparent", "sibling", "friend", "pregnant"))
"""Whoever the asker is not, or is only now."""


def read(words: Words) -> frozenset[str]:
    """Find the people that a question is about, other than who asks."""
    return frozenset(_ROLES[word] for word in words.words if word in _ROLES)


def differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell whether the questions are about different people; what the asker is themselves is often left out."""
    return (bool(a and b) and a != b) or bool((a ^ b) & _OTHERS)
