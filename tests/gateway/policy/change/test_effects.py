"""What a plan says of those whose keys are narrowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway.policy.change.effects import plan
from governance.audit.chain import Actor
from governance.identity import KeyTerms
from governance.keys import create_key
from tests.support.databases import fresh_database, write
from tests.support.past_traffic import Past, Recorder
from tests.support.policy_texts import read
from tests.support.requests import DAY_AFTER, NOON

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
tiers: [local, cloud]
models:
  - {name: small, provider: engine, model: s, tier: local, price: {input: 100, output: 200}}
  - {name: large, provider: engine, model: l, tier: cloud, price: {input: 100, output: 200}}
routes: [{name: auto, weak: small, strong: large}]
teams: [{name: blue, apps: [{name: web}]}]
"""
OLD = read(TEXT)


@pytest.mark.parametrize(("models", "refused"), [(("large",), True), (("large", "small"), False)])
async def test_a_key_that_may_use_only_what_is_taken_away_is_shut_out(
    tmp_path: Path, models: tuple[str, ...], refused: bool
) -> None:
    terms = KeyTerms(models=models)
    async with fresh_database(tmp_path) as database:
        made = await create_key(
            database,
            team="blue",
            app="web",
            by=Actor("ann", "owner"),
            now=NOON,
            random_bytes=lambda count: b"k" * count,
            terms=terms,
        )
        recorder = Recorder(OLD, dict(OLD.prices), keys={made.public_id: terms})
        call = Past(60, "blue", "web", "auto", 1000, 500, 0, 1, key_id=made.public_id, route="tier:small")
        await recorder.record([call])
        await write(database, *recorder.ledger.entries)
        new = read(TEXT.replace("name: blue,", "name: blue, tiers: [local],"))
        report = await plan(OLD, new, database, DAY_AFTER)
    assert [str(one) for one in report.refused] == (
        ["app:blue/web would be refused: no route has a model that it may use (spent 0.20 in the last 7 days)"]
        if refused
        else []
    )
