"""Policy documents for tests: the complete example, a small one, and an instant and a price book to read them with."""

from datetime import UTC, datetime
from pathlib import Path

from gateway.policy.source import LoadedPolicy, parse_policy
from governance.money import Nanodollars
from governance.prices import Price, Tariff
from governance.prices.tariff import always

EXAMPLE = Path(__file__).parent / "policies" / "example.yaml"
AT = datetime(2026, 11, 29, 12, tzinfo=UTC)
KEYS = {"OPENAI_API_KEY": "sk-openai-0123", "ANTHROPIC_API_KEY": "sk-ant-0123"}

SMALL = """\
version: 1
providers:
  engine: {kind: engine, machine_usd_per_hour: 0.20}
tiers: [local, cloud]
models:
  - {name: small, provider: engine, model: smollm2, tier: local, price: measured}
  - {name: large, provider: engine, model: big, tier: cloud, price: {input: 1, output: 2.50}}
routes:
  - {name: auto, weak: small, strong: large}
teams:
  - name: demo
    tiers: [local]
    budgets:
      - {limit: 5, window: day}
    apps:
      - name: bot
        features:
          - {name: faq, route: auto}
"""


def price_book(seller: str, model: str) -> Tariff | None:
    """A price book that knows the OpenAI models of the example, at one dollar in and two out."""
    price = Price(input=Nanodollars(10**9), output=Nanodollars(2 * 10**9), source="list:test")
    return always(price) if seller == "openai" and model.startswith("gpt-4.1") else None


def read(text: str, env: dict[str, str] | None = None) -> LoadedPolicy:
    """Read a policy with that price book."""
    return parse_policy(text, "policy.yaml", {} if env is None else env, AT, price_book)
