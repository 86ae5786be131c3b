import re
from pathlib import Path

import pytest

from gateway.policy.document import Policy
from gateway.policy.models import EngineProvider, OpenAIProvider, VllmProvider
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import STARTER, load_policy, parse_policy, starter_text
from governance.attribution import Attribution
from governance.money import Nanodollars
from governance.policy.rules import OutputRule
from tests.support.policy_texts import AT, EXAMPLE, KEYS, SMALL, price_book, read


def test_the_example_is_accepted_as_it_stands() -> None:
    loaded = load_policy(EXAMPLE, KEYS, AT, price_book)
    document = loaded.document
    assert loaded.warnings == ()
    assert loaded.source == str(EXAMPLE)
    assert document.timezone.key == "Europe/London"
    assert document.context is not None
    assert document.context.trim.mode == "off"
    assert document.cache.exact is not None
    assert document.cache.exact.ttl == 86_400
    assert isinstance(document.providers["openai"], OpenAIProvider)
    assert str(document.providers["openai"].base_url) == "https://api.openai.com/v1"
    assert isinstance(document.providers["cluster"], VllmProvider)
    assert document.providers["cluster"].machine_usd_per_hour == Nanodollars(9_800_000_000)


def test_the_installed_price_book_knows_the_models_of_the_example() -> None:
    loaded = load_policy(EXAMPLE, KEYS, AT)
    assert set(loaded.prices) == {"gpt-mini", "gpt", "opus"}
    assert loaded.prices["gpt-mini"].source.startswith("list:")
    assert loaded.unpriced == {}


def test_the_rules_of_the_example_hold_in_every_scope() -> None:
    rules = load_policy(EXAMPLE, KEYS, AT, price_book).rules
    faq = rules.grant(Attribution("support", "support-bot", feature="faq"), "k")
    report = rules.grant(Attribution("research", "nightly-report"), "k")
    assert (faq.tiers, faq.route, faq.output) == (("local", "economy"), "cheap", OutputRule(256, 256, ()))
    assert [budget.scope for budget in faq.budgets] == [
        "org",
        "team:support",
        "team:support",
        "app:support/support-bot",
    ]
    assert [(rate.scope, rate.concurrent) for rate in faq.rates] == [("org", 512), ("team:support", 40)]
    assert (len(report.tiers), report.route, report.output) == (4, None, OutputRule(1024, 4096, ()))
    assert report.budgets[1].per_request == Nanodollars(2_500_000_000)
    assert len(rules.budgets()) == 7


def test_prices_come_from_the_document_or_the_book_and_measured_ones_from_neither() -> None:
    loaded = load_policy(EXAMPLE, KEYS, AT, price_book)
    assert {name: price.source for name, price in loaded.prices.items()} == {
        "gpt-mini": "list:test",
        "gpt": "list:test",
        "opus": "policy",
    }
    assert loaded.prices["opus"].cache_write == Nanodollars(18_750_000_000)


def test_a_model_that_the_book_does_not_know_is_unavailable_and_never_free() -> None:
    text = EXAMPLE.read_text("utf-8").replace("gpt-4.1-mini", "gpt-9")
    loaded = read(text, KEYS)
    assert loaded.unpriced == {"gpt-mini": 'the price book has no price for "gpt-9" of "openai"'}
    assert "gpt-mini" not in loaded.prices
    at_the_model, *at_routes = map(str, loaded.warnings)
    assert at_the_model.startswith("policy.yaml:33:76: models.gpt-mini.price: the price book has no price")
    assert [place.split(": ")[1] for place in at_routes] == ["routes.auto.fallbacks", "routes.cheap.strong"]


def test_the_price_of_a_model_is_not_looked_up_at_a_host_that_may_charge_anything() -> None:
    text = EXAMPLE.read_text("utf-8").replace("https://api.openai.com/v1", "https://resold.example.com/v1")
    assert set(read(text, KEYS).unpriced) == {"gpt-mini", "gpt"}


def test_the_models_of_gemini_are_priced_by_the_book_of_google_at_its_own_addresses() -> None:
    engine = "engine: {kind: engine, machine_usd_per_hour: 0.20}"
    text = SMALL.replace(
        "model: smollm2, tier: local, price: measured", "model: gemini-2.5-flash, tier: local, price: list"
    )
    priced = parse_policy(text.replace(engine, "engine: {kind: gemini, zone: cloud}"), "policy.yaml", {}, AT)
    resold = text.replace(engine, "engine: {kind: gemini, zone: cloud, base_url: 'https://resold.example.com/v1beta'}")

    assert priced.prices["small"].input == Nanodollars(300_000_000)
    assert set(parse_policy(resold, "policy.yaml", {}, AT).unpriced) == {"small"}


def test_a_model_without_a_price_may_be_priced_as_another() -> None:
    text = EXAMPLE.read_text("utf-8").replace("gpt-4.1-mini", "gpt-9")
    loaded = read(text.replace("unknown_model: deny", "unknown_model: {price_as: opus}"), KEYS)
    assert loaded.prices["gpt-mini"] == loaded.prices["opus"]
    assert (loaded.unpriced, loaded.warnings) == ({}, ())


def test_a_secret_that_is_not_set_costs_its_provider_and_nothing_else() -> None:
    loaded = load_policy(EXAMPLE, {"ANTHROPIC_API_KEY": ""}, AT, price_book)
    assert loaded.unavailable["openai"] == "OPENAI_API_KEY is not set"
    assert set(loaded.unavailable) == {"openai", "anthropic"}
    assert [(warning.line, warning.column, warning.path) for warning in loaded.warnings] == [
        (20, 14, "providers.openai.api_key"),
        (25, 14, "providers.anthropic.api_key"),
    ]


def test_a_version_follows_the_content_and_not_how_it_is_written() -> None:
    version = read(SMALL).version
    rewritten = SMALL.replace("2.50", "2.5").replace("[local, cloud]", "['local',  cloud]")
    assert re.fullmatch(r"[0-9a-f]{12}", version)
    assert read("# a comment\n" + rewritten).version == version
    assert read(SMALL.replace("2.50", "2.51")).version != version


def test_a_version_does_not_depend_on_secrets() -> None:
    other = dict.fromkeys(KEYS, "another")
    assert load_policy(EXAMPLE, KEYS, AT, price_book).version == load_policy(EXAMPLE, other, AT, price_book).version


def test_a_secret_shows_in_no_text_of_the_document() -> None:
    loaded = load_policy(EXAMPLE, KEYS, AT, price_book)
    openai = loaded.document.providers["openai"]
    assert isinstance(openai, OpenAIProvider)
    assert openai.api_key is not None
    assert openai.api_key.get_secret_value() == KEYS["OPENAI_API_KEY"]
    assert KEYS["OPENAI_API_KEY"] not in repr(loaded)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "1:1: cannot be read: No such file"),
        (b"version: 1\na: \xff", "2:1: is not UTF-8"),
        (b"", '1:1: needs "version"'),
    ],
    ids=["absent", "binary", "empty"],
)
def test_a_file_that_is_no_policy_is_told_by_its_name(tmp_path: Path, content: bytes | None, told: str) -> None:
    path = tmp_path / "policy.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(PolicyInvalid) as invalid:
        load_policy(path, {}, AT)
    assert str(invalid.value).startswith(f"{path}:{told}")


def test_a_document_that_is_no_mapping_is_refused() -> None:
    with pytest.raises(PolicyInvalid, match=r"policy\.yaml:1:1: should be a mapping"):
        read("- version: 1")


def test_without_a_file_the_starter_policy_rules() -> None:
    loaded = load_policy(None, {}, AT)
    document = loaded.document
    assert (loaded.source, loaded.warnings, loaded.unavailable) == (STARTER, (), {})
    assert [(model.name, model.kind, model.price) for model in document.models] == [
        ("smollm2", "chat", "measured"),
        ("all-minilm-l6-v2", "embedding", "measured"),
    ]
    engine = document.providers["engine"]
    assert isinstance(engine, EngineProvider)
    assert engine.machine_usd_per_hour == Nanodollars(200_000_000)
    assert [(route.name, route.weak, route.strong) for route in document.routes] == [("auto", "smollm2", "smollm2")]
    grant = loaded.rules.grant(Attribution("demo", "demo"), "k")
    assert [(budget.scope, budget.limit.usd, budget.window) for budget in grant.budgets] == [
        ("app:demo/demo", "1.00", "day")
    ]
    app = loaded.rules.app("demo", "demo")
    assert app is not None
    assert app.settable == {"feature", "workflow", "segment", "environment", "session"}


def test_the_starter_policy_is_valid_with_its_comments_switched_on() -> None:
    text = re.sub(r"^( +)# ", r"\1", starter_text(), flags=re.MULTILINE)
    loaded = read(text, KEYS)
    assert set(loaded.document.providers) == {"engine", "openai"}
    assert loaded.prices["gpt-mini"].source == "list:test"
    assert [route.name for route in loaded.document.routes] == ["auto", "auto-cloud"]


def test_a_document_is_fixed_once_read() -> None:
    document: Policy = read(SMALL).document
    with pytest.raises(ValueError, match="frozen"):
        document.currency = "USD"  # pyright: ignore[reportAttributeAccessIssue]  # the point of the test
