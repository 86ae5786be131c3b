"""One gateway for nearly all tests of published faults: starting one takes longer than a test.

Every test that uses it proves as well that each call its provider saw is one attempt in a ledger whose sums agree.
"""

from collections.abc import AsyncGenerator

import pytest

from tests.support.polyglot import DIALECTS, PRICE, Polyglot, polyglot, sold
from tests.support.providers.gateways import UNAIDED

BARE = {"input": 3, "output": 15}
SOUND = {"audio_input": 40, "cached_audio": 4}
MODELS = [
    *(sold(f"{name}-bare", name, BARE) for name in DIALECTS),
    sold("own", "chat", {"input": 1, "output": 2}),
    sold("sound", "chat", PRICE | SOUND),
    sold("sound-gemini", "gemini", PRICE | SOUND),
    sold("long", "chat", PRICE | {"tiers": [{"above": 1000, "input": 6, "output": 22.5}]}),
    sold("rising", "chat", [PRICE, {"from": "2020-01-01", "input": 7, "output": 8},
                            {"from": "2199-01-01", "input": 70, "output": 80}]),
    sold("gpt-of-next-year", "chat", "list"),
    sold("vectors", "chat", {"input": 2}, kind="embedding"),
]  # fmt: skip
TEAMS = [
    {"name": "blue", "apps": [{"name": "bot", "budgets": [{"limit": 9000, "window": "month"}]}, {"name": "other"}]},
    {"name": "red", "apps": [{"name": "bot"}]},
]


@pytest.fixture(scope="module")
async def started(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Polyglot]:
    folder = tmp_path_factory.mktemp("faults")
    async with polyglot(folder, models=MODELS, teams=TEAMS, reliability=UNAIDED) as running:
        yield running


@pytest.fixture
async def shop(started: Polyglot) -> AsyncGenerator[Polyglot]:
    """Give the gateway with a provider that has served nothing."""
    async with started.audited():
        yield started
