"""Opposites and alternatives: lock is not unlock, adults are not children, in store is not online.

A table of groups of which a question means at most one, and the prefixes that turn a word round. Only the words count
that one question has and the other lacks, so that a question which names both sides is not in conflict with itself.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from cache.guards.words import stem, terms

if TYPE_CHECKING:
    from collections.abc import Iterable

_TURNING = ("un", "dis", "in", "im", "il", "ir", "non", "de", "mis", "anti", "self")
_PREFIXES = (*_TURNING, "re", "over", "under", "pre", "post", "sub", "multi")
_PREFIX_PAIRS = (("in", "ex"), ("en", "dis"), ("up", "down"), ("over", "under"), ("pre", "post"), ("in", "out"))
_SHORTEST = 4

TABLE = """
allow allowed permit permitted legal lawful may | ban banned prohibit prohibited forbid forbidden illegal unlawful
add insert attach append join | remove delete drop detach leave
include included contain cover covered | exclude excluded exclusion omit
eat take use | avoid skip
lock freeze block | unlock unfreeze unblock
enable activate | disable deactivate
start begin open launch | stop end finish close quit
subscribe register enrol signup | unsubscribe deregister withdraw cancel
accept approve agree confirm | decline reject refuse deny
increase raise higher up more bigger larger grow boost | decrease reduce lower down less smaller shrink cut
upgrade | downgrade
maximum max most highest largest biggest longest | minimum min least lowest smallest shortest fewest
maximise maximize | minimise minimize
fast fastest quick quickest faster | slow slowest slower
cheap cheapest cheaper | expensive dearest dear pricey
hot warm | cold cool freezing
good best better advantage benefit pro pros upside | bad worst worse disadvantage drawback con cons downside
early earlier earliest | late later latest
before prior | after following | during within
old oldest older | new newest newer | young youngest younger
compulsory mandatory required obligatory | optional voluntary elective
spicy | mild
sweet | sour | bitter | salty
outstanding excellent | inadequate poor
fair | unfair
working healthy | broken faulty fault defective
buy purchase | sell | rent lease hire
borrow | lend loan
deposit | withdraw
send sender outgoing outbound | receive receiver recipient incoming inbound
upload | download
import | export
encode | decode
encrypt | decrypt
compress zip | decompress unzip extract
install | uninstall
push | pull
read | write
save | spend
pack | unpack
follow | unfollow
mute | unmute
show display | hide
expand | collapse
win winner | lose loser
gain | lose
arrive arrival | depart departure leave
ascend ascending | descend descending
horizontal horizontally | vertical vertically
left | right
north northern | south southern | east eastern | west western
above | below
inside indoor indoors internal | outside outdoor outdoors external
front | back | side
top | bottom
male man men boy boys | female woman women girl girls
public | private
personal | business commercial corporate | household
fulltime | parttime
permanent | temporary contract
online internet web | instore store shop branch | phone telephone
free complimentary | paid
single | double | twin | triple
oneway | return roundtrip
domestic | international overseas abroad
employed | selfemployed | unemployed
buildings building | contents | landlord | travel | car motor vehicle | home house | pet | life | health
standard basic | premium extended | enterprise
economy | business | first
monthly | yearly annual annually | weekly | daily
credit | debit | prepaid
visitor guest | resident | member | nonmember
student pupil | teacher | staff | nonprofit
adult | child kid children | baby infant babies | teenager teen | senior elderly
employer boss | employee worker
landlord | tenant renter
buyer | seller
client | server
frontend | backend
input | output
manual manually | automatic automatically
wireless | wired
portrait | landscape
dark | light
wet | dry
raw | cooked
solid | liquid | gas
win | draw
love like | hate dislike
safe | dangerous unsafe
easy easiest simple | hard hardest difficult
true | false
success succeed pass | failure fail
import | export
debit | credit
gross | net
fixed | variable
undergraduate bachelor | postgraduate master masters | doctorate phd
primary | secondary | tertiary
breakfast | lunch | dinner
vegan | vegetarian
present | absent
wide | narrow
deep | shallow
high | low
long | short
heavy | light
strong | weak
rich | poor
empty | full
hard | soft
thick | thin
tight | loose
ancient | modern
symptom symptoms sign signs | cause causes | treatment treatments cure | prevention prevent
"""
_PHRASES = (
    "turn switch put : on | off",
    "log sign check clock opt : in | out",
    "pay put transfer : in into | out off",
    "go move scale come : up | down",
)
_AXES = tuple(tuple(terms(side) for side in line.split("|")) for line in TABLE.strip().splitlines())


def _paired(axes: Iterable[tuple[tuple[str, ...], ...]]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (stem(word), stem(other))
        for axis in axes
        for ours, theirs in combinations(axis, 2)
        for word, other in (
            *((word, other) for word in ours for other in theirs),
            *((other, word) for word in ours for other in theirs),
        )
        if stem(word) != stem(other)
    )


_OPPOSED = _paired(_AXES)
_PARTICLES = tuple(
    (frozenset(map(stem, verbs.split())), tuple(frozenset(side.split()) for side in sides.split("|")))
    for verbs, sides in (phrase.split(":") for phrase in _PHRASES)
)
_REACH = 4
"""How many words after its verb a particle may stand: `turn my water supply on`."""


def read(words: tuple[str, ...], stems: tuple[str, ...]) -> frozenset[str]:
    """Find the particles that turn a verb's meaning, as `family:side`."""
    found: set[str] = set()
    for at, verb in enumerate(stems):
        for family, (verbs, sides) in enumerate(_PARTICLES):
            if verb in verbs:
                reach = words[at + 1 : at + 1 + _REACH]
                found |= {f"{family}:{side}" for side, said in enumerate(sides) if said.intersection(reach)}
    return frozenset(found)


def differ(a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell whether a stem of one question is the opposite of a stem of the other.

    Args:
        a: The stems that only the one question has.
        b: The stems that only the other has.
    """
    return any((word, other) in _OPPOSED or _turned(word, other) for word in a for other in b)


def differ_in_particle(a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell whether both questions turn the same kind of verb, each another way: sign in, sign out."""
    families = {one.split(":")[0] for one in a} & {one.split(":")[0] for one in b}
    return any(
        {one for one in a if one.startswith(f"{family}:")} != {one for one in b if one.startswith(f"{family}:")}
        for family in families
    )


def _turned(word: str, other: str) -> bool:
    """Tell whether one word is the other with a prefix that turns it round, or both are of one root."""
    return word[-2:] == other[-2:] and _is_turned(*sorted((word, other), key=len))


def _is_turned(short: str, long: str) -> bool:
    if any(long == prefix + short and len(short) >= _SHORTEST - (prefix in _TURNING) for prefix in _PREFIXES):
        return True
    return any(
        {short, long} == {ours + root, theirs + root}
        for ours, theirs in _PREFIX_PAIRS
        for root in (short.removeprefix(ours), short.removeprefix(theirs))
        if len(root) > 1
    )
