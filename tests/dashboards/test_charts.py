from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from dashboards.charts import NARROW, WIDE, Column, Series, Size, nice_ceiling, share_bar, sparkline, stacked_bars
from governance.money import Nanodollars

ATTACK = '"><script>alert(1)</script>'


def drawn(amounts: dict[str, list[int]], size: Size = WIDE) -> ET.Element:
    length = len(next(iter(amounts.values()), []))
    columns = [Column(label=f"d{i}", title=f"Day {i}", current=i == length - 1) for i in range(length)]
    series = [
        Series(name=name, colour=f"s{n}", amounts=tuple(map(Nanodollars, values)))
        for n, (name, values) in enumerate(amounts.items())
    ]
    return ET.fromstring(stacked_bars(columns, series, size=size, label="Spend"))  # noqa: S314  (our own drawing)


def with_class(drawing: ET.Element, name: str) -> list[ET.Element]:
    return [e for e in drawing.iter() if name in (e.get("class") or "").split()]


@given(st.integers(min_value=0, max_value=10**18))
def test_the_top_of_the_axis_holds_the_peak_closely_and_splits_into_whole_ticks(nanos: int) -> None:
    top = nice_ceiling(nanos).nanos
    assert top >= nanos
    assert top % 4 == 0
    assert top <= max(2 * nanos, 10**9 if not nanos else 100)


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(str.isalnum),
        st.lists(st.integers(min_value=0, max_value=10**15), min_size=7, max_size=7),
        min_size=1,
        max_size=7,
    ),
    st.sampled_from([WIDE, NARROW]),
)
def test_any_figures_give_a_drawing_inside_its_frame(amounts: dict[str, list[int]], size: Size) -> None:
    drawing = drawn(amounts, size)
    assert len(with_class(drawing, "hit")) == 7
    for rect in drawing.iter("rect"):
        assert float(rect.get("width", 0)) >= 0
        assert float(rect.get("height", 0)) >= 0
    for tip in with_class(drawing, "tip"):
        left = float(tip.get("transform", "").removeprefix("translate(").split(",")[0])
        assert 0 <= left <= size.width - 196


def test_segments_stand_on_each_other_in_order_and_nothing_is_drawn_for_nothing() -> None:
    drawing = drawn({"a": [10**9, 0], "b": [3 * 10**9, 0]})
    first, second = with_class(drawing, "bars")[0]
    assert [path.get("class") for path in first] == ["s0", "s1"]
    assert len(second) == 0


def test_the_last_column_always_has_its_label() -> None:
    labels = [e.text for e in with_class(drawn({"a": [1] * 30}), "tick") if (e.text or "").startswith("d")]
    assert labels[-1] == "d29"
    assert len(labels) <= WIDE.labels


def test_the_column_that_goes_on_is_marked() -> None:
    assert len(with_class(drawn({"a": [1, 2, 3]}), "now")) == 1


def test_a_column_tells_its_figures_to_a_screen_reader() -> None:
    hit = with_class(drawn({"support": [2 * 10**9], "research": [10**9]}), "hit")[0]
    assert hit.get("aria-label") == "Day 0: $3.00 (research $1.00, support $2.00)"


def test_a_hostile_name_stays_text() -> None:
    columns = [Column(label=ATTACK, title=ATTACK)]
    series = [Series(name=ATTACK, colour="s0", amounts=(Nanodollars(1),))]
    markup = stacked_bars(columns, series, size=WIDE, label=ATTACK)
    assert "<script" not in markup
    assert list(ET.fromstring(markup).iter("{*}script")) == []  # noqa: S314  (our own drawing)


def test_a_run_of_fewer_than_two_figures_has_no_line() -> None:
    assert sparkline([]) == Markup()
    assert sparkline([5]) == Markup()


@given(st.lists(st.integers(min_value=0, max_value=10**15), min_size=2, max_size=40))
def test_a_sparkline_stays_inside_its_frame(values: list[int]) -> None:
    line = ET.fromstring(sparkline(values)).find("polyline")  # noqa: S314  (our own drawing)
    assert line is not None
    points = [tuple(map(float, p.split(","))) for p in line.get("points", "").split()]
    assert len(points) == len(values)
    assert all(0 <= x <= 116 and 0 <= y <= 36 for x, y in points)


@pytest.mark.parametrize(("part", "whole", "width"), [(0, 0, "0.00"), (1, 4, "25.00"), (4, 4, "100.00")])
def test_a_share_bar_is_as_long_as_the_share(part: int, whole: int, width: str) -> None:
    assert f'<rect class="s1" width="{width}"' in share_bar(part, whole, "s1")
