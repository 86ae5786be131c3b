"""No home ever finds, serves or compares an answer by meaning across a wall, though every question is taken for alike.

The embedding puts all questions in one place, nothing vetoes, and the learner serves whatever it may: what keeps two
callers apart is the scope alone, as the gateway makes it of a request.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.answers import AnswerCache
from cache.config import SharedBy
from cache.judging import AnswerJudge
from cache.semantic.lookup import SemanticCache
from tests.support import answer_homes, vector_homes
from tests.support.meanings import MODELS, NOW, Meanings, Place
from tests.support.reckless import AllAlike, Reckless

OWNERS = st.sampled_from(["a", "b", "a.b", "ab"])
NAMED = st.sampled_from(["a", "b", "a/b", 'a"', "a,b", "ä"])
TEXTS = st.text(max_size=8)
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("hours", "balance")]
QUESTIONS = st.sampled_from(["When do the shops open?", "How long is a guarantee?", "Which parcels are too large?"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Place):
    """All that may set two requests apart."""

    system: str | None
    earlier: tuple[str, ...]
    tools: tuple[int, ...]
    schema: str | None
    temperature: float | None
    max_tokens: int | None
    question: str

    @property
    def body(self) -> dict[str, Any]:
        system = [] if self.system is None else [{"role": "system", "content": self.system}]
        turns = [{"role": "user" if n % 2 else "assistant", "content": text} for n, text in enumerate(self.earlier)]
        schema = {"type": "json_schema", "json_schema": {"name": self.schema}}
        wished = {
            "tools": [TOOLS[n] for n in self.tools] or None,
            "response_format": None if self.schema is None else schema,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }
        sent = {name: value for name, value in wished.items() if value is not None}
        return {"messages": [*system, *turns, {"role": "user", "content": self.question}]} | sent

    @property
    def wall(self) -> str:
        """Name everything but the question, and the caller's key only where the policy goes by it."""
        key = ("key_id",) if self.shared_by is SharedBy.KEY else ()
        return repr([(name, getattr(self, name)) for name in (*WALLS, *key)])


OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "shared_by": st.sampled_from(SharedBy),
    "team": OWNERS,
    "app": OWNERS,
    "key_id": NAMED,
    "feature": NAMED,
    "namespace": st.none() | NAMED,
    "model": st.sampled_from(sorted(MODELS)),
    "version": st.none() | NAMED,
    "endpoint": st.sampled_from(["chat", "messages", "responses"]),
    "system": st.none() | TEXTS,
    "earlier": st.lists(TEXTS, max_size=3).map(tuple),
    "tools": st.sampled_from([(), (0,), (1,), (0, 1), (1, 0)]),
    "schema": st.none() | NAMED,
    "temperature": st.sampled_from([None, 0, 0.2]),
    "max_tokens": st.sampled_from([None, 5, 50]),
    "question": QUESTIONS,
}
WALLS = sorted(set(OTHERS) - {"key_id", "question"})
REQUESTS = st.builds(Request, **OTHERS)
PAIRS = REQUESTS.flatmap(
    lambda one: st.tuples(
        st.just(one),
        st.sampled_from(sorted(OTHERS)).flatmap(lambda name: OTHERS[name].map(lambda v: replace(one, **{name: v}))),
        QUESTIONS,
    )
)
ONE = Request(
    shared_by=SharedBy.KEY, namespace="n", version="v", system="system", earlier=("hi",), tools=(0,), schema="s",
    temperature=0, max_tokens=5, question="When do the shops open?",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """What a look-up came to.

    Attributes:
        served: The wall around the answer that was served.
        known: The wall around every answer that was read, judged, or would be compared.
    """

    served: str | None
    known: set[str]


class Gateway:
    """The semantic cache over its homes, as any number of callers and policies see it."""

    def __init__(self, cache: SemanticCache) -> None:
        self._reckless = Reckless()
        self._meanings = Meanings(cache, self._reckless)
        self._walls = dict[bytes, str]()

    async def find(self, request: Request, *, keep: bool = False, watched: bool = False) -> Found:
        """Look a request up; `keep` an answer that says to what."""
        sought, stored = await self._meanings.find(request, request.body, watched=watched)
        assert sought is not None
        entries = {each.entry for each in self._reckless.seen} | {*sought.decision.against, *sought.near}
        if keep:
            self._walls[sought.entry] = request.wall
            await self._meanings.keep(sought, {"to": request.wall})
        served = None if stored is None else msgspec.json.decode(stored.body)["to"]
        return Found(served, {self._walls[entry] for entry in entries})


@pytest.fixture(params=product(answer_homes.NAMES, vector_homes.NAMES), ids="-".join)
async def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Gateway]:
    answers, vectors = request.param
    alike, redis = AllAlike(), answer_homes.redis_of(request)
    async with (
        answer_homes.answer_home(answers, NOW.timestamp, tmp_path, redis, 50_000_000) as store,
        vector_homes.vector_home(vectors, vector_homes.vector_redis_of(request), 10_000) as index,
    ):
        yield Gateway(SemanticCache(alike, index, AnswerCache(store, NOW.timestamp), AnswerJudge(alike)))


@given(pair=PAIRS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_an_answer_is_found_served_and_compared_only_within_its_wall(
    gateway: Gateway, pair: tuple[Request, Request, str]
) -> None:
    one, other, words = pair
    await gateway.find(one, keep=True)
    assert await gateway.find(replace(one, question=words)) == Found(one.wall, {one.wall})
    found = await gateway.find(other)
    assert found.known <= {other.wall}
    assert found.served in {None, other.wall}
    if other.wall == one.wall:
        assert found.served == one.wall


async def test_each_wall_is_one_and_the_words_are_none(gateway: Gateway) -> None:
    await gateway.find(ONE, keep=True)
    assert await gateway.find(replace(ONE, question="How long is a guarantee?")) == Found(ONE.wall, {ONE.wall})
    others = {
        "shared_by": SharedBy.APP, "model": "small", "endpoint": "messages", "earlier": ("hi", "x"), "tools": (0, 1),
        "temperature": 0.2, "max_tokens": 6,
    }  # fmt: skip
    for name in (*WALLS, "key_id"):
        assert await gateway.find(replace(ONE, **{name: others.get(name, "x")})) == Found(None, set()), name


async def test_what_is_only_watched_is_compared_only_within_its_wall(gateway: Gateway) -> None:
    await gateway.find(ONE, keep=True)
    await gateway.find(replace(ONE, system="another"), keep=True)
    assert await gateway.find(ONE, watched=True) == Found(None, {ONE.wall})
