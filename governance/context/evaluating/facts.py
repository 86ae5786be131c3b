"""Facts, each with questions that are worded otherwise: often they share no word with the answer but a name, or none.

The first half is for development, the second for what is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final


def listed(text: str) -> tuple[str, ...]:
    """Return the parts of a text that are parted by semicolons."""
    return tuple(text.split(";"))


PLACES: Final = listed(
    "Valdora;Kestrin;Ombley;Tarnow;Felsburg;Quillon;Mirador;Ashgrove;Pennick;Lorvale;Brantmoor;Sudhaven;Ostrava;"
    "Delmere;Wexford;Halden;Istria;Norby;Calder;Vesper"
)
PEOPLE: Final = listed(
    "Ines Okafor;Tomas Brandt;Priya Nair;Lena Hoffmann;Marco Bellini;Aisha Rahman;Jonas Lindqvist;Chloe Martin;"
    "Diego Alvarez;Yuki Tanaka;Nadia Petrova;Samuel Osei"
)
THINGS: Final = listed(
    "Aurora;Beacon;Cobalt;Drift;Ember;Falcon;Granite;Harbor;Iris;Juniper;Kepler;Lumen;Meridian;Nimbus;Onyx;Prism"
)

_FACTS: Final = (
    (
        "The {place} branch shuts its doors at {n}:45 on Fridays.",
        (
            "Until when can customers visit the shop in {place} at the end of the working week?",
            "What is the closing time in {place} before the weekend?",
        ),
    ),
    (
        "Buyers have {n} days after delivery to send an item back.",
        ("How long is the return window?", "When is it too late for a refund?"),
    ),
    (
        "{person} took over as head of procurement in spring.",
        ("Who runs purchasing now?", "Which colleague is in charge of buying supplies?"),
    ),
    (
        "The backup generator behind hall {n} feeds the freezers during an outage.",
        ("What keeps the cold storage running when the power fails?",),
    ),
    (
        "Passwords on the {thing} cluster must be rotated every {n} weeks.",
        ("How often do credentials have to be changed on {thing}?",),
    ),
    (
        "Travel above {n}00 euros needs the signature of a director.",
        ("From which amount on must an executive approve a trip?", "Who has to sign off on expensive journeys?"),
    ),
    ("{person} is allergic to penicillin, as noted at admission.", ("Which medicine must {person} not be given?",)),
    (
        "The invoice of the {place} depot was settled twice by mistake.",
        ("Which site's bill did we pay two times?", "Where was there a double payment?"),
    ),
    (
        "Water temperature in the pool is held at {n} degrees for the swimming lessons.",
        ("How warm is the basin kept when children are taught to swim?",),
    ),
    (
        "The {thing} sensor loses its calibration below minus {n} degrees.",
        ("At what cold does {thing} stop measuring correctly?",),
    ),
    (
        "New hires get their laptop from {person} on the first morning.",
        ("Who hands out computers to people who have just started?",),
    ),
    (
        "The lease of the {place} warehouse runs out in {n} months.",
        (
            "When does the rental contract in {place} end?",
            "How much longer may we use the storage building at {place}?",
        ),
    ),
    (
        "Parcels heavier than {n} kilos leave from dock seven.",
        ("Where do big shipments depart?", "Which ramp is used for heavy packages?"),
    ),
    (
        "The deploy failed since the disk of node {thing} was full.",
        ("Why did the release not go through?", "What made the rollout break?"),
    ),
    ("{person} prefers to be called in the evening, never before noon.", ("What is the best time to phone {person}?",)),
    (
        "The museum in {place} lets students in for free on Thursdays.",
        ("On which day do pupils pay nothing in {place}?",),
    ),
    (
        "A late fee of {n} percent is added after the second reminder.",
        (
            "What penalty applies when someone does not pay in time?",
            "How much extra is charged to people who ignore warnings?",
        ),
    ),
    (
        "The elevator at {place} station will be out of service until June.",
        ("Is the lift in {place} working?", "How long can wheelchair users not reach the platform at {place}?"),
    ),
    (
        "{person} signed the non-disclosure agreement on behalf of the supplier.",
        ("Who put their name under the secrecy contract for the vendor?",),
    ),
    (
        "Sessions in the {thing} app expire after {n} minutes without a click.",
        ("After how much idle time does {thing} log users out?",),
    ),
    (
        "The {place} plant draws its cooling water from the canal.",
        ("Where does the factory in {place} get the liquid that keeps it from overheating?",),
    ),
    (
        "Dogs may ride along on the upper deck only.",
        ("Can I take my pet on the ferry?", "Where are animals allowed on board?"),
    ),
    (
        "The winning bid for the {thing} contract came in at {n} million.",
        ("What price was accepted for {thing}?", "How much did the successful tender for {thing} ask?"),
    ),
    (
        "Records of patients are destroyed {n} years after the last visit.",
        ("How long are medical files kept?", "When is the history of someone who was treated deleted?"),
    ),
    (
        "{person} found that the leak started at the valve under the sink.",
        ("Where did the water come out first?", "What was the origin of the flooding in the kitchen?"),
    ),
    ("The vegetarian menu must be ordered {n} hours ahead.", ("How early do guests who eat no meat have to tell us?",)),
    ("Nobody but {person} holds a key to the archive in the cellar.", ("Who can open the room with the old files?",)),
    (
        "The {thing} library was dropped because its licence forbids commercial use.",
        ("Why did we stop using {thing}?", "What was the legal trouble with {thing}?"),
    ),
    (
        "Trains to {place} leave from track {n} during the works.",
        ("From which platform do I get to {place} while there is construction?",),
    ),
    (
        "The insurance covers stolen bicycles up to {n}00 euros.",
        ("What do I get back if my bike is taken?", "How much is reimbursed after a theft of a two-wheeler?"),
    ),
    (
        "The seeds should be soaked for {n} hours before they go into the soil.",
        ("How do I prepare what I want to plant?", "What has to happen prior to sowing?"),
    ),
    (
        "{person} moved the board meeting to the Tuesday after Easter.",
        ("When do the directors come together?", "To which date was the gathering of the management shifted?"),
    ),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence that answers a question."""

    answer: str
    question: str


def facts(chance: Random, count: int, *, reported: bool) -> list[Fact]:
    """Draw different facts, of those that are reported or of those for development."""
    half = len(_FACTS) // 2
    pool = _FACTS[half:] if reported else _FACTS[:half]
    drawn = chance.sample(pool, min(count, len(pool)))
    return [_filled(chance, answer, chance.choice(questions)) for answer, questions in drawn]


def alike(chance: Random, count: int, *, reported: bool) -> list[str]:
    """Draw sentences of the same kind that answer something else."""
    return [fact.answer for _ in range(count) for fact in facts(chance, 1, reported=not reported)]


def _filled(chance: Random, answer: str, question: str) -> Fact:
    slots = {
        "place": chance.choice(PLACES),
        "person": chance.choice(PEOPLE),
        "thing": chance.choice(THINGS),
        "n": str(chance.randint(3, 49)),
    }
    return Fact(answer.format(**slots), question.format(**slots))
