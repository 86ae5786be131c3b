"""The semantic cache through a whole gateway: what it serves, to whom, what it learns, and what it forgets."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from cache.embedding import opening
from cache.embedding.batching import Limits
from governance.lookups import purges
from governance.lookups.purges import Purge
from tests.support.running_gateway import RunningGateway, policy, running_gateway
from tests.support.waiting import until

pytest.importorskip("onnxruntime")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a vector as long as it takes: on a busy machine a gateway would go without."""
    opened = opening.open_embedding
    monkeypatch.setattr(opening, "open_embedding", partial(opened, limits=Limits(patience_s=30)))


ASKED = "How do I change the delivery address of an order?"
REWORDED = "How can I change the delivery address for an order?"
OTHER = "What is the largest parcel that you deliver?"
HEADERS = {"x-sluice-feature": "faq"}


def with_semantic(**changes: Any) -> dict[str, Any]:
    semantic = {"enabled": ["bot/faq"], "max_error": 0.2, "ttl": "1h", "shared_by": "app"} | changes
    red = {
        "name": "red",
        "apps": [
            {"name": "bot", "headers": ["feature"], "features": [{"name": "faq"}, {"name": "triage"}]},
            {"name": "other", "headers": ["feature"], "features": [{"name": "faq"}]},
        ],
    }
    blue = {"name": "blue", "apps": [{"name": "bot", "headers": ["feature"], "features": [{"name": "faq"}]}]}
    return policy(cache={"exact": {"ttl": "1h"}, "semantic": semantic}, teams=[red, blue], limits={})


@asynccontextmanager
async def semantic_gateway(
    folder: Path, *, stores: Mapping[str, Any] | None = None, **changes: Any
) -> AsyncGenerator[RunningGateway]:
    async with running_gateway(folder, with_semantic(**changes), stores=stores) as gateway:
        await until(lambda: semantics(gateway).cache is not None, 30)
        gateway.upstream.answers = answer
        yield gateway


ANSWERS = {
    "address": "Choose the order under Orders, press Edit and type the new address.",
    "largest parcel": "A parcel may weigh 30 kg and be two metres long.",
    "return shoes": "Print a label from our website and drop the box at any shop within 60 days.",
    "gift card": "At the till or online: type its sixteen digits where we ask how to pay.",
    "invoice": "Every invoice lies in the account as a file, one year back.",
    "warranty": "Two years from the day of delivery, batteries excepted.",
    "newsletter": "Press the last link in any of its mails.",
    "student discount": "Ten per cent for whoever shows a card of a university.",
    "spare parts": "The workshop keeps them for seven years after a model has ended.",
    "wrap presents": "Yes, for three euros, in red or in green paper.",
    "assemble furniture": "A fitter comes along with the lorry where that is booked.",
}


def answer(body: dict[str, Any]) -> list[str]:
    """A model that answers by what is asked for, whatever the wording."""
    text = body["messages"][-1]["content"]
    return [next(said for about, said in ANSWERS.items() if about in text)]


def semantics(gateway: RunningGateway) -> Any:
    return gateway.services.edge.in_force.governed.chat.meaning.semantics


async def asked(gateway: RunningGateway, key: str, text: str, **more: Any) -> httpx.Response:
    """Ask, and wait until what followed from the answer is done."""
    reply = await gateway.chat(key, text, headers=HEADERS | more.pop("headers", {}), **more)
    assert reply.status_code == 200, reply.text
    await lessons_done()
    return reply


async def lessons_done() -> None:
    while lessons := [task for task in asyncio.all_tasks() if task.get_name() == "lesson"]:
        await asyncio.gather(*lessons)


QUESTIONS = (
    ASKED,
    "How do I return shoes that do not fit?",
    "How does one pay with a gift card?",
    "Where does one find an invoice?",
    "How long does the warranty last?",
    "How do I cancel the newsletter?",
    "Is there a student discount?",
    "How long are spare parts kept?",
    "Do you wrap presents?",
    "Do you assemble furniture?",
)
BEFORE = (
    "",
    "Hello, ",
    "Hi, ",
    "Please tell me: ",
    "Quick question: ",
    "Good morning, ",
    "Good evening, ",
    "Dear team, ",
)
AFTER = (
    "", " Thanks", " Thank you", " Many thanks", " Please", " Cheers", " Thanks a lot", " Kind regards", " Best wishes",
    " Thanks in advance", " Thank you very much", " All the best",
)  # fmt: skip


ENOUGH = 25
"""Compared answers from which on a feature that is open serves most of what it could."""


def parts(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    return (texts[n : n + size] for n in range(0, len(texts), size))


def wordings(text: str) -> list[str]:
    """Return many ways to ask the same, none of them twice."""
    return [f"{before}{text}{after}" for after in AFTER for before in BEFORE]


async def teach(gateway: RunningGateway, key: str) -> None:
    """Let a feature see enough of wordings that agree for it to open."""
    mixed = [text for same in zip(*map(wordings, QUESTIONS), strict=True) for text in same]
    for texts in parts(mixed, len(QUESTIONS)):
        await asyncio.gather(*(gateway.chat(key, text, headers=HEADERS) for text in texts))
        await lessons_done()
        standing = semantics(gateway).standings().get("red/bot/faq")
        if standing is not None and standing.open and standing.audited > ENOUGH:
            return
    pytest.fail(str(semantics(gateway).standings()))


async def test_a_question_in_other_words_is_answered_from_the_cache_once_enough_is_known(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        calls = len(gateway.upstream.bodies)
        replies = [await asked(gateway, key, text) for text in wordings(REWORDED)[:12]]
        hits = [reply for reply in replies if reply.headers["x-sluice-cache"].startswith("semantic;similarity=0.9")]
        assert hits
        served = [reply for reply in replies if reply.headers["x-sluice-cache"] != "miss"]
        assert len(gateway.upstream.bodies) - calls == len(replies) - len(served)
        assert hits[0].headers["x-sluice-cost-usd"] == "0.00"
        assert hits[0].json()["choices"][0]["message"]["content"] == ANSWERS["address"]


@pytest.mark.parametrize(
    "change",
    [
        {"system": "You answer for the warehouse."},
        {"tools": [{"type": "function", "function": {"name": "orders", "parameters": {}}}]},
        {"response_format": {"type": "json_object"}},
        {"max_tokens": 7},
        {"cache": {"namespace": "elsewhere"}},
        {"temperature": 0.9},
        {"earlier": "hello"},
    ],
)
async def test_whatever_else_of_the_request_differs_nothing_is_found(tmp_path: Path, change: dict[str, Any]) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        messages = [{"role": "user", "content": REWORDED}]
        if "system" in change:
            messages.insert(0, {"role": "system", "content": change.pop("system")})
        if "earlier" in change:
            messages.insert(0, {"role": "assistant", "content": change.pop("earlier")})
        reply = await asked(gateway, key, "", messages=messages, **change)
        assert reply.headers["x-sluice-cache"] in {"miss", "bypass"}


async def test_another_tenant_finds_nothing(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        for other in (await gateway.key("blue"), await gateway.key("red", "other")):
            for text in wordings(REWORDED)[:5]:
                reply = await asked(gateway, other, text)
                assert reply.headers["x-sluice-cache"] == "miss"


async def test_a_feature_that_is_only_observed_is_never_served_and_learns(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path, enabled=[], observe=["bot/faq"]) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        reply = await asked(gateway, key, REWORDED)
        assert reply.headers["x-sluice-cache"] == "miss"
        standing = semantics(gateway).standings()["red/bot/faq"]
        assert standing.hits == 0
        assert standing.audited > 0


async def test_a_feature_without_the_cache_is_not_looked_up(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await asked(gateway, key, ASKED, headers={"x-sluice-feature": "triage"})
        assert semantics(gateway).standings() == {}


async def test_what_was_learned_is_known_after_a_restart(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        before = semantics(gateway).standings()["red/bot/faq"]
    async with semantic_gateway(tmp_path) as gateway:
        after = semantics(gateway).standings()["red/bot/faq"]
        assert after.lookups == before.lookups
        assert after.audited == before.audited
        assert after.open


async def test_a_bad_score_takes_an_answer_out_and_is_learned(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        hit = next(
            reply
            for reply in [await asked(gateway, key, text) for text in wordings(REWORDED)[:12]]
            if reply.headers["x-sluice-cache"].startswith("semantic")
        )
        said = {"request_id": hit.headers["x-request-id"], "score": -1, "comment": "that page is gone"}
        reply = await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
        assert reply.status_code == 200, reply.text
        order, copies = await purges.after(gateway.database, 0)
        assert copies.value.startswith("request:")
        stored = await gateway.services.caches.answers.get(bytes.fromhex(order.value))
        await until(lambda: gateway.services.caches.purger.done >= copies.n)
        assert stored is None or await gateway.services.caches.answers.get(bytes.fromhex(order.value)) is None


async def test_a_bad_score_on_an_exact_hit_takes_out_every_copy(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await asked(gateway, key, OTHER)
        hit = await asked(gateway, key, OTHER)
        assert hit.headers["x-sluice-cache"] == "exact"
        said = {"request_id": hit.headers["x-request-id"], "score": -0.5}
        await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
        await until(lambda: gateway.services.caches.purger.done > 0)
        assert (await gateway.services.caches.answers.size()).entries == 0
        assert (await asked(gateway, key, OTHER)).headers["x-sluice-cache"] == "miss"


async def test_a_score_that_is_given_again_teaches_nothing_more(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        first = (await asked(gateway, key, OTHER)).headers["x-request-id"]
        for score in (-1, -0.5, -1):
            said = {"request_id": first, "score": score}
            reply = await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
            assert reply.status_code == 200
        assert len(await purges.after(gateway.database, 0)) == 1


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"request_id": "req_unknown", "score": 1}, 404),
        ({"request_id": "req_unknown", "score": 2}, 400),
        ({"request_id": "req_unknown"}, 400),
        ({"score": 1}, 400),
        ({"request_id": "req_unknown", "score": 1, "comment": "x" * 1001}, 400),
        ({"request_id": "req_unknown", "score": 1, "more": 1}, 400),
    ],
)
async def test_feedback_that_makes_no_sense_is_refused(tmp_path: Path, said: dict[str, Any], status: int) -> None:
    async with running_gateway(tmp_path, with_semantic()) as gateway:
        key = await gateway.key("red")
        reply = await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})
        assert reply.status_code == status
        assert reply.json()["error"]["code"] in {"not_found", "invalid_request_error"}


async def test_nobody_gives_feedback_on_the_answers_of_another_app(tmp_path: Path) -> None:
    async with running_gateway(tmp_path, with_semantic()) as gateway:
        key, other = await gateway.key("red"), await gateway.key("red", "other")
        asked_for = (await asked(gateway, key, OTHER)).headers["x-request-id"]
        said = {"request_id": asked_for, "score": -1}
        assert (await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": other})).status_code == 404
        assert (await gateway.client.post("/v1/feedback", json=said)).status_code == 401
        assert (await gateway.client.post("/v1/feedback", json=said, headers={"x-api-key": key})).status_code == 200


@pytest.mark.parametrize(
    ("kind", "value"), [("all", ""), ("tag", "feature:bot/faq"), ("tag", "doc-17"), ("like", REWORDED)]
)
async def test_an_order_to_forget_reaches_what_it_names(tmp_path: Path, kind: purges.PurgeKind, value: str) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await asked(gateway, key, ASKED, cache={"tags": ["doc-17"]})
        await asked(gateway, key, OTHER, headers={"x-sluice-feature": "triage"})
        at = gateway.services.now()
        await purges.order(gateway.database, Purge(at=at, kind=kind, value=value, similarity=0.8, by="cli:ann"))
        await until(lambda: gateway.services.caches.purger.done > 0)
        assert (await asked(gateway, key, ASKED, cache={"tags": ["doc-17"]})).headers["x-sluice-cache"] == "miss"
        kept = await asked(gateway, key, OTHER, headers={"x-sluice-feature": "triage"})
        assert kept.headers["x-sluice-cache"] == ("miss" if kind == "all" else "exact")


async def test_the_sums_of_the_ledger_hold_over_misses_explorations_and_hits(tmp_path: Path) -> None:
    async with semantic_gateway(tmp_path) as gateway:
        key = await gateway.key("red")
        await teach(gateway, key)
        rows = await gateway.rows(len(gateway.upstream.bodies))
        assert sum(row.attempts for row in rows) == len(gateway.upstream.bodies)
        assert all((row.cost.nanos == 0) == (row.attempts == 0) for row in rows)
