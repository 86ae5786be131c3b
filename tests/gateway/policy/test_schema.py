from typing import Any

import jsonschema
import pytest

from gateway.policy.positions import parse
from gateway.policy.schema import fields_at, policy_schema
from gateway.policy.source import starter_text
from tests.support.policy_texts import EXAMPLE, SMALL

SCHEMA = policy_schema()
CHECKER = jsonschema.Draft202012Validator(SCHEMA)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def fits(text: str) -> bool:
    data: Any = parse(text).data
    return CHECKER.is_valid(data)


@pytest.mark.parametrize(
    "text", [EXAMPLE.read_text("utf-8"), starter_text(), SMALL], ids=["example", "starter", "small"]
)
def test_valid_policies_fit_the_schema(text: str) -> None:
    assert fits(text)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("version: 1", "version: 2"),
        ("kind: engine", "kind: engin"),
        ("tier: local, ", ""),
        ("price: measured", "price: guessed"),
        ("output: 2.50", "output: cheap"),
        ("output: 2.50", "output: -1"),
        ("output: 2.50", "ouptut: 2.50"),
        ("output: 2.50", "output: 2.50, from: tomorrow"),
        ("output: 2.50", "output: 2.50, tiers: [{input: 1}]"),
        ("price: measured", "price: list, discount: 15"),
        ("price: measured", "price: list, multiplier: 0"),
        ("limit: 5", "limit: 0"),
        ("limit: 5, ", ""),
        ("window: day", "window: year"),
        ("window: day", "window: day, steps: {70: alert}"),
        ("window: day", "window: day, steps: {70%: shout}"),
        ("name: demo", "name: a/b"),
        ("teams:", "team:"),
        ("teams:", "cache: {exact: {ttl: 24}}\nteams:"),
        ("teams:", "context: {trim: {mode: of}}\nteams:"),
        ("teams:", "holds: {prompt: guessed}\nteams:"),
        ("      - name: bot\n", "      - name: bot\n        headers: [team]\n"),
    ],
)
def test_typical_mistakes_do_not(right: str, wrong: str) -> None:
    assert not fits(SMALL.replace(right, wrong, 1))


@pytest.mark.parametrize(
    ("path", "some"),
    [
        ((), {"version", "teams", "routes"}),
        (("teams", 0), {"segments", "budgets", "apps"}),
        (("teams", 0, "apps", 0, "features", 1), {"route", "output"}),
        (("providers", "x"), {"kind", "base_url", "machine_usd_per_hour"}),
        (("models", 0, "price"), {"input", "cache_write", "from", "tiers"}),
        (("models", 0, "price", 1), {"input", "from"}),
        (("models", 0, "price", "tiers", 0), {"above", "audio_input"}),
        (("models", 0), {"discount", "batch_discount"}),
        (("limits",), {"loop", "concurrent"}),
        (("teams", 0, "segments"), set[str]()),
        (("nowhere",), set[str]()),
    ],
)
def test_the_schema_tells_what_a_part_may_have(path: tuple[str | int, ...], some: set[str]) -> None:
    found = fields_at(SCHEMA, path)
    assert some <= found
    assert bool(some) == bool(found)
