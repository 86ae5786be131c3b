from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import msgspec

from gateway.alerting.messages import Receiver, body
from governance.alerts.steps import Alert, Watch, due
from governance.limits import Budget
from governance.money import Nanodollars
from governance.windows import SESSION, Rolling, Span, WindowKind, covers, window

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


def of_value(value: str, span: Span) -> Alert:
    watch = Watch(Budget("team:red", Nanodollars(10**9), span, each="session"), (100,), "red").of(value)
    return due(watch, covers(span, NOW, ZoneInfo("UTC"))[0], Nanodollars(10**9), NOW)[0]


def test_a_budget_for_each_value_names_its_dimension_and_the_value() -> None:
    facts = msgspec.json.decode(body(of_value("a/b", WindowKind.DAY), Receiver("https://example.org/x")))
    assert (facts["scope"], facts["dimension"], facts["value"]) == ("team:red?session=a%2Fb", "session", "a/b")
    assert facts["text"].startswith("session a/b of team:red has used 100 % of its day budget: ")
    whole = msgspec.json.decode(body(ALERT, Receiver("https://example.org/x")))
    assert (whole["dimension"], whole["value"]) == (None, None)


def test_what_is_said_of_the_end_is_true_of_the_window() -> None:
    rolling, session = (
        msgspec.json.decode(body(of_value("a", span), Receiver("https://example.org/x")))["text"]
        for span in (Rolling(6 * 3600), SESSION)
    )
    assert rolling.endswith("6h budget: 1.00 of 1.00 USD are spent; it begins to free up at 2026-11-29 13:00 UTC.")
    assert session == "session a of team:red has used 100 % of its session budget: 1.00 of 1.00 USD are spent."


def test_a_name_that_a_caller_chose_calls_nobody_in_slack() -> None:
    slack = Receiver("https://hooks.slack.com/services/T0/B0/secret")
    text = msgspec.json.decode(body(of_value("<!channel>\x1b", SESSION), slack))["text"]
    assert text.startswith("session &lt;!channel&gt;\N{REPLACEMENT CHARACTER} of team:red")


def test_an_address_that_is_a_secret_is_not_shown() -> None:
    receiver = Receiver("https://hooks.slack.com/services/T0/B0/secret")
    assert "secret" not in repr(receiver)
    assert receiver.host == "hooks.slack.com"
