"""No home ever gives an answer across a wall: another tenant, prompt, tool set, namespace, model, policy or version."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cache.answers import AnswerCache
from cache.config import ExactSection, SharedBy
from cache.epoch import epoch
from cache.flights import Flight
from cache.stores import AnswerStore
from gateway.catalogue import Catalogue, Model, Wish
from gateway.providers.absent import AbsentUpstream
from gateway.steps.admission import Asked, Entitled
from gateway.steps.reuse.slot import ExactCache
from gateway.wire.request.controls import Controls
from governance.attribution import Attribution, Offered
from governance.confinement.confined import UNCONFINED
from governance.identity import Caller
from governance.ledger.events import Settlement
from governance.policy.rules import Grant, OutputRule
from governance.prices import Usage
from tests.support.answer_homes import NAMES, answer_home, redis_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = [Model(name, "cloud", name, "cloud", "chat", None) for name in ("large", "small")]
NAMED = st.sampled_from(["a", "b", "a/b", 'a"', "a,b", "ä"])
TEXTS = st.text(max_size=8)


@dataclass(frozen=True)
class Request:
    """All that may set two requests apart."""

    shared_by: SharedBy
    team: str
    app: str
    key_id: str
    namespace: str | None
    model: str
    version: str | None
    endpoint: str
    system: str
    question: str
    tool: str | None

    @property
    def body(self) -> dict[str, Any]:
        messages = [{"role": "system", "content": self.system}, {"role": "user", "content": self.question}]
        tools = {} if self.tool is None else {"tools": [{"type": "function", "function": {"name": self.tool}}]}
        cache = {} if self.namespace is None else {"cache": {"namespace": self.namespace}}
        return {"messages": messages} | tools | cache

    @property
    def all_that_counts(self) -> str:
        """Name the request, and of its caller what the policy goes by."""
        who = {"key": ("team", "app", "key_id"), "app": ("team", "app"), "team": ("team",), "org": ()}[self.shared_by]
        what = ("shared_by", "namespace", "model", "version", "endpoint", "system", "question", "tool")
        return repr([(name, getattr(self, name)) for name in (*what, *who)])


OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "shared_by": st.sampled_from(SharedBy),
    "team": NAMED,
    "app": NAMED,
    "key_id": NAMED,
    "namespace": st.none() | NAMED,
    "model": st.sampled_from([model.name for model in MODELS]),
    "version": st.none() | NAMED,
    "endpoint": st.sampled_from(["chat", "messages", "responses"]),
    "system": TEXTS,
    "question": TEXTS,
    "tool": st.none() | NAMED,
}
REQUESTS = st.builds(Request, **OTHERS)
PAIRS = REQUESTS.flatmap(
    lambda one: st.tuples(
        st.just(one),
        st.sampled_from(sorted(OTHERS)).flatmap(lambda name: OTHERS[name].map(lambda v: replace(one, **{name: v}))),
    )
)


class Gateway:
    """The exact cache over one home, as any number of callers and policies see it."""

    def __init__(self, store: AnswerStore) -> None:
        self.answers = AnswerCache(store, NOW.timestamp)
        upstream = AbsentUpstream("cloud", "cloud", "nobody is called")
        self.catalogue = Catalogue(MODELS, [], {"cloud": upstream}, None)

    async def find(self, request: Request) -> str | None:
        """Return what is found; when nothing is, keep an answer that says to what."""
        exact = ExactCache(
            answers=self.answers,
            section=ExactSection.model_validate({"ttl": "1h", "shared_by": request.shared_by}),
            catalogue=self.catalogue,
            epoch=epoch(request.version),
            refresh=lambda *_: None,
            ticks=lambda: 0.0,
        )
        asked, entitled = _asked(request), _entitled(request)
        wish = Wish(request.model, next(model for model in MODELS if model.name == request.model))
        async with AsyncExitStack() as stack:
            slot, stored = await exact.find(asked, entitled, wish, _counted(request), stack)
            if stored is not None:
                return msgspec.json.decode(stored.body)["to"]
            assert isinstance(slot.flight, Flight)
            paid = Settlement(outcome="ok", status=200, usage=Usage(output=1))
            await exact.keep(asked, entitled, slot, request.model, paid, {"to": request.all_that_counts})
        return None


def _counted(request: Request) -> dict[str, Any]:
    return {name: value for name, value in request.body.items() if name != "cache"}


def _asked(request: Request) -> Asked[None]:
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
        fields=None,
        model=request.model,
        limit_s=10.0,
    )


def _entitled(request: Request) -> Entitled:
    caller = Caller(request.key_id, request.team, request.app)
    grant = Grant(tiers=("cloud",), route=None, budgets=(), rates=(), output=OutputRule())
    return Entitled(caller, Attribution(team=request.team, app=request.app), grant, UNCONFINED)


@pytest.fixture(params=NAMES)
async def gateway(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Gateway]:
    async with answer_home(request.param, NOW.timestamp, tmp_path, redis_of(request), 50_000_000) as home:
        yield Gateway(home)


@given(pair=PAIRS)
@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_an_answer_is_given_only_to_those_who_differ_in_nothing_that_counts(
    gateway: Gateway, pair: tuple[Request, Request]
) -> None:
    one, other = pair
    await gateway.find(one)
    assert await gateway.find(one) == one.all_that_counts
    assert await gateway.find(other) in {None, other.all_that_counts}


async def test_each_wall_is_one(gateway: Gateway) -> None:
    one = Request(SharedBy.KEY, "t", "a", "k", "n", "large", "v", "chat", "system", "question", "tool")
    assert await gateway.find(one) is None
    for name in OTHERS:
        value = {"shared_by": SharedBy.APP, "model": "small", "endpoint": "messages"}.get(name, "x")
        assert await gateway.find(replace(one, **{name: value})) is None, name
        assert await gateway.find(one) == one.all_that_counts
