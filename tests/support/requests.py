"""Requests as governance sees them, with everything filled in that a test does not care about."""

from datetime import UTC, datetime, timedelta

from governance.attribution import Attribution
from governance.ledger.events import Attempt, Opening, Outcome, Settlement
from governance.money import Nanodollars
from governance.prices import Price, Usage

NOON = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY_BEFORE, DAY_AFTER = NOON - timedelta(days=1), NOON + timedelta(days=1)
PRICE = Price(input=Nanodollars.parse("1"), output=Nanodollars.parse("2"), source="policy")


def usd(text: str) -> Nanodollars:
    """Money from text."""
    return Nanodollars.parse(text)


def opening(request_id: str = "r1", at: datetime = NOON, **dimensions: str) -> Opening:
    """A request of the team `support`, unless told otherwise."""
    names = {"team": "support", "app": "support-bot"} | dimensions
    model = names.pop("model", "gpt")
    return Opening(
        request_id=request_id,
        at=at,
        endpoint="chat",
        attribution=Attribution(**names),
        key_id="k1",
        model=model,
        policy_version="v1",
        provider="openai",
        route="pinned",
    )


def attempt(cost: Nanodollars, usage: Usage | None = None, outcome: Outcome = "ok") -> Attempt:
    """One upstream call at a cost."""
    return Attempt(
        at=NOON,
        purpose="answer",
        provider="openai",
        model="gpt",
        upstream_model="gpt-4.1",
        outcome=outcome,
        price=PRICE,
        cost=cost,
        duration_ms=5.0,
        status=200,
        usage=usage,
    )


def settlement(cost: str, usage: Usage | None = None) -> Settlement:
    """An answer that took one upstream call at a cost in dollars."""
    return Settlement(outcome="ok", status=200, attempts=(attempt(usd(cost), usage),), usage=usage)
