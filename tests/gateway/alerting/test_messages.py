from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec

from gateway.alerting.messages import Receiver, body
from governance.alerts.steps import Watch, due
from governance.limits import Budget
from governance.money import Nanodollars
from governance.windows import WindowKind, window

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
WATCH = Watch(Budget("team:red", Nanodollars(10**9), WindowKind.DAY), (70, 100), "red")
(ALERT,) = due(WATCH, window(WindowKind.DAY, NOW, ZoneInfo("UTC")), Nanodollars(700_000_000), NOW)
SENTENCE = "team:red has used 70 % of its day budget: 0.70 of 1.00 USD are spent; it resets at 2026-11-30 00:00 UTC."


def test_slack_gets_a_text_and_nothing_it_would_refuse() -> None:
    receiver = Receiver("https://hooks.slack.com/services/T0/B0/secret")
    assert msgspec.json.decode(body(ALERT, receiver)) == {"text": SENTENCE}


def test_others_get_the_figures() -> None:
    facts = msgspec.json.decode(body(ALERT, Receiver("https://hooks.slack.com.example.org/x")))
    assert facts["text"] == SENTENCE
    assert (facts["id"], facts["type"], facts["resets_at"]) == (ALERT.id, "budget.step", "2026-11-30T00:00:00Z")


def test_an_address_that_is_a_secret_is_not_shown() -> None:
    receiver = Receiver("https://hooks.slack.com/services/T0/B0/secret")
    assert "secret" not in repr(receiver)
    assert receiver.host == "hooks.slack.com"
