"""No home ever finds, serves or compares an answer by meaning across a wall, though every question is taken for alike.

The embedding puts all questions in one place, nothing vetoes, and the learner serves whatever it may: what keeps two
callers apart is the scope alone, as the gateway makes it of a request.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.answers import AnswerCache
from cache.config import SemanticSection, SharedBy
from cache.directives import Directives
from cache.epoch import epoch
from cache.judging import AnswerJudge
from cache.semantic.lookup import SemanticCache
from cache.stores import Stored
from gateway.catalogue import Catalogue, Model, Wish
from gateway.providers.absent import AbsentUpstream
from gateway.steps.admission import Asked, Entitled
from gateway.steps.meaning import Lesson, Meaning
from gateway.steps.slot import Slot
from gateway.wire.request.chat_body import ChatFields
from gateway.wire.request.controls import Controls
from governance.attribution import Attribution, Offered
from governance.identity import Caller
from governance.policy.rules import Grant, OutputRule
from tests.support import answer_homes, vector_homes
from tests.support.reckless import AllAlike, Reckless

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = [Model(name, "cloud", name, "cloud", "chat", None) for name in ("large", "small")]
OWNERS = st.sampled_from(["a", "b", "a.b", "ab"])
NAMED = st.sampled_from(["a", "b", "a/b", 'a"', "a,b", "ä"])
TEXTS = st.text(max_size=8)
TOOLS = [{"type": "function", "function": {"name": name}} for name in ("hours", "balance")]
QUESTIONS = st.sampled_from(["When do the shops open?", "How long is a guarantee?", "Which parcels are too large?"])


@dataclass(frozen=True)
class Request:
    """All that may set two requests apart."""

    shared_by: SharedBy
    team: str
    app: str
    key_id: str
    feature: str
    namespace: str | None
    model: str
    version: str | None
    endpoint: str
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
        """Name everything but the question, and of the caller's key only what the policy goes by."""
        key = ("key_id",) if self.shared_by is SharedBy.KEY else ()
        return repr([(name, getattr(self, name)) for name in (*WALLS, *key)])


OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "shared_by": st.sampled_from(SharedBy),
    "team": OWNERS,
    "app": OWNERS,
    "key_id": NAMED,
    "feature": NAMED,
    "namespace": st.none() | NAMED,
    "model": st.sampled_from([model.name for model in MODELS]),
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
    SharedBy.KEY, "t", "a", "k", "f", "n", "large", "v", "chat", "system", ("hi",), (0,), "s", 0, 5,
    "When do the shops open?",
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
        self.cache = cache
        self.recklessness = Reckless()
        upstream = AbsentUpstream("cloud", "cloud", "nobody is called")
        self.catalogue = Catalogue(MODELS, [], {"cloud": upstream}, None)
        self.walls = dict[bytes, str]()

    def bind(self, max_error: object) -> None:
        """Have no bound."""

    def learner(self, feature: str) -> Reckless:
        """Share one learner among all features, the worst that could be."""
        return self.recklessness

    def begin(self, lesson: Lesson) -> None:
        """Learn nothing."""

    def hit(self, asked: object, feature: str, slot: Slot) -> None:
        """Note nothing."""

    async def find(self, request: Request, *, keep: bool = False, watched: bool = False) -> Found:
        """Look a request up; `keep` an answer that says to what."""
        takes_part = {"observe" if watched else "enabled": [f"{request.app}/{request.feature}"]}
        wished = takes_part | {"max_error": 0.5, "ttl": "1h", "shared_by": request.shared_by}
        section = SemanticSection.model_validate(wished | {"multi_turn": "confirmed"})
        meaning = Meaning(
            semantics=self,
            lessons=self,
            section=section,
            catalogue=self.catalogue,
            epoch=epoch(request.version),
            clock=NOW.timestamp,
        )
        directives = Directives(read=True, write=True, namespace=request.namespace)
        wish = Wish(request.model, next(model for model in MODELS if model.name == request.model))
        asked, entitled, place = _asked(request), _entitled(request), Slot(b"", directives, 0)
        slot, stored = await meaning.find(asked, entitled, wish, request.body, place)
        sought = slot.sought
        assert sought is not None
        entries = {each.entry for each in self.recklessness.seen} | {*sought.decision.against, *sought.near}
        if keep:
            self.walls[sought.entry] = request.wall
            body = msgspec.json.encode({"to": request.wall})
            await self.cache.keep(sought, Stored(body, request.model, 1, {}, NOW.timestamp(), request.question), 3_600)
        return Found(None if stored is None else _wall(stored), {self.walls[entry] for entry in entries})


def _wall(stored: Stored) -> str:
    return msgspec.json.decode(stored.body)["to"]


def _asked(request: Request) -> Asked[ChatFields]:
    return Asked(
        request_id="req_1",
        at=NOW,
        tick=0.0,
        endpoint=request.endpoint,
        caller=Caller(request.key_id, request.team, request.app),
        offered=Offered({}, {}),
        controls=Controls(None, None, ""),
        body=request.body,
        size=100,
        fields=msgspec.convert({"model": request.model} | request.body, ChatFields),
        model=request.model,
        limit_s=10.0,
    )


def _entitled(request: Request) -> Entitled:
    caller = Caller(request.key_id, request.team, request.app)
    grant = Grant(tiers=("cloud",), route=None, budgets=(), rates=(), output=OutputRule())
    return Entitled(caller, Attribution(team=request.team, app=request.app, feature=request.feature), grant)


@pytest.fixture(params=product(answer_homes.NAMES, vector_homes.NAMES), ids="-".join)
async def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Gateway]:
    answers, vectors = request.param
    alike = AllAlike()
    async with (
        answer_homes.answer_home(answers, NOW.timestamp, tmp_path, answer_homes.redis_of(request), 50_000_000) as store,
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
