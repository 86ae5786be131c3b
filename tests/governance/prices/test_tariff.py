"""Which price holds when, for which service, and under which contract."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

from governance.money import Nanodollars
from governance.prices import Price, Service
from governance.prices.tariff import Current, Dated, Overlaid, Span, StandIn, Stated, always

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def price(dollars: int, source: str = "policy") -> Price:
    rate = Nanodollars(dollars * 10**9)
    return Price(input=rate, output=rate, source=source, tool_run=rate)


OLD, NEW = price(4, "policy"), price(8, "policy from 2027-01-01")
BOTH = Stated((Dated(None, OLD), Dated(NEW_YEAR, NEW)))


def test_a_dated_price_holds_from_its_first_instant() -> None:
    assert BOTH.at(NEW_YEAR - SECOND) == OLD
    assert BOTH.at(NEW_YEAR) == NEW
    assert BOTH.span(NEW_YEAR - SECOND) == Span(None, NEW_YEAR)
    assert BOTH.span(NEW_YEAR) == Span(NEW_YEAR, None)


def test_before_its_first_date_there_is_no_price() -> None:
    only = Stated((Dated(NEW_YEAR, NEW),))
    assert only.at(NEW_YEAR - SECOND) is None
    assert only.span(NEW_YEAR - SECOND).until == NEW_YEAR


def test_a_stated_price_is_for_every_service_but_priority() -> None:
    assert BOTH.at(NEW_YEAR, "batch") == BOTH.at(NEW_YEAR, "flex") == NEW
    assert BOTH.at(NEW_YEAR, "priority") is None


def test_a_discount_is_off_every_rate_and_said_in_the_source() -> None:
    agreed = Overlaid(always(OLD), Fraction(85, 100)).at(NEW_YEAR)
    assert agreed is not None
    assert (agreed.input.usd, agreed.tool_run, agreed.source) == ("3.40", agreed.input, "policy x0.85")


def test_a_batch_discount_is_off_the_standard_rates_for_tokens_and_comes_on_top() -> None:
    agreed = Overlaid(Booked(), Fraction(1, 2), Fraction(1, 4))
    batch, flex = agreed.at(NEW_YEAR, "batch"), agreed.at(NEW_YEAR, "flex")
    assert batch is not None
    assert flex is not None
    assert (batch.input.usd, batch.source) == ("1.00", "standard x0.5 batch x0.25")
    assert batch.tool_run is not None
    assert batch.tool_run.usd == "4.00"
    assert (flex.input.usd, flex.source) == ("2.00", "flex x0.5")


def test_without_a_batch_discount_the_book_decides() -> None:
    batch = Overlaid(Booked(), Fraction(1, 2)).at(NEW_YEAR, "batch")
    assert batch is not None
    assert (batch.input.usd, batch.source) == ("2.00", "batch x0.5")


def test_a_stand_in_has_the_rates_of_another_and_says_so() -> None:
    stand_in = StandIn(BOTH, "unknown:flagged (as opus)")
    found = stand_in.at(NEW_YEAR)
    assert found is not None
    assert found.unknown
    assert found.rates == NEW.rates
    assert stand_in.span(NEW_YEAR) == BOTH.span(NEW_YEAR)
    assert not NEW.unknown


def test_a_tariff_in_use_follows_its_dates_and_is_looked_up_once_in_between() -> None:
    looked = Counted()
    current, midnight = Current(looked), NEW_YEAR.timestamp()
    assert [current.at(midnight - seconds) for seconds in (9, 5, 1)] == [OLD] * 3
    assert looked.times == 1
    assert [current.at(midnight + seconds) for seconds in (0, 5, 86_400)] == [NEW] * 3
    assert looked.times == 2
    assert current.at(midnight, "priority") is None
    assert current.at(midnight - 1) == OLD


class Counted:
    """A tariff that counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        self.times += 1
        return BOTH.at(instant, service)

    def span(self, instant: datetime) -> Span:
        return BOTH.span(instant)


class Booked:
    """A tariff whose services cost half and whose sources name them."""

    def at(self, instant: datetime, service: Service = "standard") -> Price | None:
        del instant
        return price(8 if service == "standard" else 4, service)

    def span(self, instant: datetime) -> Span:
        del instant
        return Span()
