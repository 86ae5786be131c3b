"""Facts, each with questions that are worded otherwise: often they share no word with the answer but a name, or none.

The last ones are for what is reported: nothing was fitted on them. The others are for development.
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

_REPORTED: Final = 16

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
    (
        "{person} waters the plants on the third floor during the holidays.",
        ("Who looks after the greenery while everybody is on vacation?",),
    ),
    ("The {place} office has no reception on Mondays.", ("When is nobody at the front desk in {place}?",)),
    (
        "Refunds above {n}00 euros are checked by two people.",
        ("Which repayments need a second pair of eyes?", "What happens before a large amount is given back?"),
    ),
    (
        "The {thing} printer only takes paper of the recycled kind.",
        ("What has to be loaded into {thing} for it to work?",),
    ),
    (
        "Swimmers under twelve must be accompanied by a grown-up.",
        ("May kids enter the water on their own?", "Who has to come along with young children at the lake?"),
    ),
    (
        "The camera at gate {n} was turned off for the weekend by mistake.",
        ("Why is there no footage of Saturday?", "What went wrong with the video surveillance?"),
    ),
    (
        "{person} speaks Portuguese and can take over the call from Lisbon.",
        ("Which colleague is able to talk to the customer in his own language?",),
    ),
    (
        "Glass bottles are collected every second Wednesday in {place}.",
        ("How often is the recycling picked up in {place}?",),
    ),
    (
        "The {thing} battery swells when it is charged below freezing.",
        ("What is dangerous about plugging in {thing} in winter?",),
    ),
    (
        "The choir rehearses in the chapel because the hall is being painted.",
        ("Where do the singers practise at the moment?", "Why did the music group change its room?"),
    ),
    (
        "Membership ends by itself after {n} months without a visit.",
        ("When does somebody who never comes lose the subscription?",),
    ),
    (
        "The mill by the {place} bridge grinds rye only.",
        ("What sort of grain is processed near the bridge of {place}?",),
    ),
    (
        "{person} broke a wrist while skiing and types with one hand.",
        ("Why is {person} so slow at the keyboard?",),
    ),
    (
        "Cash is no longer accepted on the night bus.",
        ("How can I not pay when I ride home late?", "Are coins and notes fine for the last bus?"),
    ),
    (
        "The {thing} report was held back until the auditors had signed it.",
        ("Why was {thing} published so late?",),
    ),
    (
        "The shelter takes in cats, but dogs go to the farm in {place}.",
        ("Where are stray puppies brought?",),
    ),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence that answers a question."""

    answer: str
    question: str


def facts(chance: Random, count: int, *, reported: bool) -> list[Fact]:
    """Draw different facts, of those that are reported or of those for development."""
    pool = _FACTS[-_REPORTED:] if reported else _FACTS[:-_REPORTED]
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
