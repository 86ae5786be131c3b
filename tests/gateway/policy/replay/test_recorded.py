"""A replay begins where budgets and sessions stood, and knows what keys are narrowed to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gateway.policy.replay.recorded import replay
from gateway.policy.replay.unknowns import SAME_REQUEST
from governance.audit.chain import Actor
from governance.identity import KeyTerms
from governance.keys import create_key
from governance.limits import Budget
from governance.windows import WindowKind
from tests.support.databases import fresh_database, write
from tests.support.past_traffic import Past, Recorder
from tests.support.policy_texts import read
from tests.support.requests import NOON, usd

if TYPE_CHECKING:
    from pathlib import Path

    from gateway.policy.replay.outcomes import ReplayReport
    from gateway.policy.source import LoadedPolicy
    from governance.database import Database

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
tiers: [local, cloud]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
  - {name: large, provider: engine, model: l, tier: cloud, price: {input: 1000, output: 2000}}
routes: [{name: auto, weak: large, strong: small}]
teams: [{name: blue, apps: [{name: web}]}]
"""
OLD = read(TEXT)
HOUR = timedelta(hours=1)


def asks(**more: Any) -> Past:
    """A call of 0.20 USD, a quarter of an hour after the one before."""
    return Past(900, "blue", "web", more.pop("model", "small"), 1000, 500, 0, 1, **more)


async def replayed(database: Database, new: LoadedPolicy, since_hours: float) -> ReplayReport:
    known = {OLD.version: OLD}
    return await replay(database, new, known, NOON + since_hours * HOUR, NOON + 24 * HOUR, lambda _: None)


async def fill(database: Database, *past: Past, keys: dict[str, KeyTerms] | None = None) -> None:
    recorder = Recorder(OLD, dict(OLD.prices), keys=keys or {})
    await recorder.record(past)
    await write(database, *recorder.ledger.entries)


async def test_every_kind_of_window_begins_with_what_was_spent_in_it_before(tmp_path: Path) -> None:
    """Eight calls from 12:15 to 14:00; the replay begins at 13:00 and sees the last five."""
    budgets = {
        "{scope: org, limit: 1, window: day}": ("org per day", 3),
        "{scope: org, limit: 1, window: 24h}": ("org per 1d", 3),
        "{scope: org, limit: 0.80, window: day, each: user}": ("org per day for each user", 1),
        "{scope: org, limit: 0.60, window: session}": ("org per session", 2),
    }
    async with fresh_database(tmp_path) as database:
        await fill(
            database, *[asks(user="a", session="s")] * 2, *[asks(user="b")] * 3, *[asks(user="a", session="s")] * 3
        )
        for budget, (why, refused) in budgets.items():
            report = await replayed(database, read(f"{TEXT}budgets: [{budget}]\n"), 1)
            assert report.total.requests == 5
            assert report.total.reasons == {why: refused}


async def test_a_session_begins_with_the_requests_that_it_has_made_before(tmp_path: Path) -> None:
    async with fresh_database(tmp_path) as database:
        await fill(database, *[asks(session="s/1")] * 6, asks(session="s2"))
        report = await replayed(
            database, read(f"{TEXT}limits: {{loop: {{session_requests: 4, same_request: 9}}}}\n"), 1
        )
    assert report.total.requests == 4
    assert report.total.reasons == {"requests of one session": 2}
    assert report.left_out == (SAME_REQUEST,)
    assert report.facts()["left_out"] == [SAME_REQUEST]


async def test_a_key_brings_its_terms_and_where_its_own_budget_stood(tmp_path: Path) -> None:
    terms = KeyTerms(tiers=("local",), budgets=(Budget("key", usd("2"), WindowKind.DAY),))
    async with fresh_database(tmp_path) as database:
        by = Actor("test", "owner")
        made = await create_key(
            database, team="blue", app="web", by=by, now=NOON, random_bytes=lambda n: b"k" * n, terms=terms
        )
        own = replace(terms, budgets=tuple(replace(one, scope=f"key:{made.public_id}") for one in terms.budgets))
        await fill(
            database, *[asks(model="auto", key_id=made.public_id)] * 8, asks(model="auto"), keys={made.public_id: own}
        )
        assert not (await replayed(database, OLD, 0)).total.changed
        doubled = read(TEXT.replace("input: 100, output: 200", "input: 200, output: 400"))
        whole, later = await replayed(database, doubled, 0), await replayed(database, doubled, 1)
    # Each call costs 0.40: five of the eight fit into 2.00, or three after 0.60 that were spent at the old price.
    assert whole.total.reasons == {f"key:{made.public_id} per day": 3}
    assert later.total.reasons == {f"key:{made.public_id} per day": 2}
    assert whole.total.moved == 0
