"""Lanes follow the windows, and are forgotten when they are over."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

from gateway.policy.replay.lanes import SWEPT_AT_LEAST, Board, TrackName, track_of
from governance.counters import CounterKey, Unit
from governance.ledger.tables import micros
from governance.windows import Calendar, Rolling, Span, WindowKind
from tests.support.requests import NOON

TZ = ZoneInfo("Europe/London")
HOUR = 3_600_000_000
AT = micros(NOON)


def name(span: Span | None, scope: str = "org?session=") -> TrackName:
    return TrackName(scope, Unit.SPEND if span else Unit.CONCURRENT, span)


def test_a_window_of_the_calendar_has_one_cell_and_the_next_one_another() -> None:
    lanes = Board(TZ).track(name(WindowKind.DAY, "org"))
    lane = lanes.lane("", AT)
    (today,) = lane.cells
    today.used, today.diverged = 7, True
    assert lanes.lane("", AT + 11 * HOUR).cells == (today,)
    (tomorrow,) = lanes.lane("", AT + 12 * HOUR).cells
    assert (tomorrow.used, tomorrow.diverged) == (0, False)


def test_a_rolling_window_keeps_the_covers_that_still_run() -> None:
    lanes = Board(TZ).track(name(Rolling(6 * 3600), "org"))
    before = lanes.lane("", AT).cells
    assert len(before) == 7
    after = lanes.lane("", AT + HOUR).cells
    assert after[:-1] == before[1:]
    assert after[-1] not in before
    assert not set(lanes.lane("", AT + 9 * HOUR).cells) & set(before)


def test_what_is_in_flight_has_no_window() -> None:
    lanes = Board(TZ).track(name(None, "org"))
    assert lanes.lane("", AT).cells == lanes.lane("", AT + 10**6 * HOUR).cells


def test_a_counter_is_seeded_in_the_cover_that_it_names() -> None:
    board, calendar = Board(TZ), Calendar()
    for used, window in enumerate(calendar.covers(Rolling(6 * 3600), NOON, TZ)):
        board.seed(CounterKey("org?user=a%2Fb", Unit.SPEND, window), used, AT)
    cells = board.track(name(Rolling(6 * 3600), "org?user=")).lane("a/b", AT).cells
    assert [cell.used for cell in cells] == list(range(7))


def test_a_counter_says_whose_lane_it_is() -> None:
    window = Calendar().window(WindowKind.DAY, NOON, TZ)
    assert track_of(CounterKey("org", Unit.SPEND, window)) == (name(WindowKind.DAY, "org"), "")
    assert track_of(CounterKey("org?session=a%3Db", Unit.SPEND, window)) == (name(WindowKind.DAY), "a=b")
    assert track_of(CounterKey("app:a/b", Unit.CONCURRENT, None)) == (name(None, "app:a/b"), "")


def test_memory_is_bounded_by_the_windows_that_run() -> None:
    """A month of sessions, ten in each hour and each with a lane of its own, beside one for all."""
    board = Board(TZ)
    sessions, everyone = board.track(name(WindowKind.HOUR)), board.track(name(WindowKind.QUARTER, "org"))
    spent = everyone.lane("", AT).cells[0]
    most = 0
    for number in range(30 * 24 * 100):
        sessions.lane(f"s{number}", AT + number * HOUR // 100)
        most = max(most, board.lanes)
    assert most <= SWEPT_AT_LEAST
    assert len(sessions.lanes) < board.lanes <= most
    assert everyone.lane("", AT).cells == (spent,)


def test_a_sweep_lets_those_go_on_whose_windows_run() -> None:
    board = Board(TZ)
    days = board.track(name(WindowKind.DAY))
    kept = [days.lane(f"s{number}", AT) for number in range(2 * SWEPT_AT_LEAST)]
    assert board.lanes == 2 * SWEPT_AT_LEAST
    assert days.lane("s0", AT + HOUR) is kept[0]
    at = micros(NOON + timedelta(days=1))
    for number in range(2 * SWEPT_AT_LEAST + 1):
        days.lane(f"t{number}", at)
    assert "s0" not in days.lanes
