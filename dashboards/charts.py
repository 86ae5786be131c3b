"""Charts as SVG, drawn on the server by pure functions from figures to markup.

Colours are CSS classes, so that one drawing serves both themes. A drawing works without a script: what a column
holds is shown beside it while the pointer is over it or the keyboard is on it. All text is escaped here.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from dashboards.figures import axis_usd, usd
from governance.money import Nanodollars

_GRID_STEPS = 4
_TOP, _BOTTOM = 10, 26
_BAR_SHARE = 0.7
_WIDEST_BAR = 64.0
_TIP_WIDTH, _TIP_LINE, _TIP_PAD = 196, 19, 12
_TICK_CHARACTER, _TICK_GAP = 6.7, 9
_TIP_NAME = 17  # characters of a name that fit beside its amount


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One colour of a chart: a name, the CSS class that colours it, and an amount for each column."""

    name: str
    colour: str
    amounts: tuple[Nanodollars, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One place on the time axis: its short label, its full name, and whether it is still going on."""

    label: str
    title: str
    current: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A drawing's size in its own pixels; `labels` is how many fit on the time axis."""

    name: str
    width: int
    height: int
    left: int
    labels: int

    @property
    def plot_width(self) -> int:
        """Pixels from the money axis to the right edge."""
        return self.width - self.left

    @property
    def plot_height(self) -> int:
        """Pixels from the highest tick to the base line."""
        return self.height - _TOP - _BOTTOM


WIDE = Size(name="wide", width=1120, height=290, left=62, labels=12)
NARROW = Size(name="narrow", width=350, height=230, left=52, labels=5)


def stacked_bars(columns: Sequence[Column], series: Sequence[Series], *, size: Size, label: str) -> Markup:
    """Draw one bar a column, the series stacked in their order from the base line up."""
    totals = [sum(s.amounts[i].nanos for s in series) for i in range(len(columns))]
    peak = nice_ceiling(max(totals, default=0))
    size = _with_room_for_ticks(size, peak)
    slot = size.plot_width / max(1, len(columns))
    bars, hits = Markup(), Markup()
    for i, column in enumerate(columns):
        x = size.left + slot * i
        bars += _bar(x + slot / 2, min(slot * _BAR_SHARE, _WIDEST_BAR), i, series, peak, size, column)
        hits += _hit(x, slot, i, column, series, totals[i], size)
    return Markup(
        '<svg class="chart {}" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}<g class="bars">{}</g>{}</svg>'
    ).format(size.name, size.width, size.height, label, _grid(peak, size), _time_axis(columns, slot, size), bars, hits)


def sparkline(values: Sequence[int], *, width: int = 116, height: int = 36) -> Markup:
    """Draw the run of a figure in a few pixels, without axes; decoration beside the figure itself."""
    if len(values) < 2:  # noqa: PLR2004  (a line has two ends)
        return Markup()
    top = max(*values, 1)
    step = (width - 6) / (len(values) - 1)
    points = [(3 + i * step, height - 4 - (height - 8) * max(0, v) / top) for i, v in enumerate(values)]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup(
        '<svg class="spark" viewBox="0 0 {} {}" aria-hidden="true">'
        '<polygon points="{:.1f},{} {} {:.1f},{}"/><polyline points="{}"/>'
        '<circle cx="{:.1f}" cy="{:.1f}" r="2.6"/></svg>'
    ).format(width, height, points[0][0], height, line, points[-1][0], height, line, *points[-1])


def share_bar(part: int, whole: int, colour: str) -> Markup:
    """Draw a part of a whole as a thin bar; the figure stands beside it in text."""
    filled = 100 * part / whole if whole > 0 else 0
    return Markup(
        '<svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="100" height="6"/><rect class="{}" width="{:.2f}" height="6"/></svg>'
    ).format(colour, filled)


def nice_ceiling(nanos: int) -> Nanodollars:
    """Return the least round amount that is not below `nanos` and splits into whole ticks; a dollar for nothing."""
    if nanos <= 0:
        return Nanodollars(10**9)
    step = 10 ** max(2, len(str(nanos)) - 1)
    while True:
        for tenths in (10, 12, 16, 20, 24, 32, 40, 60, 80):
            if tenths * step >= 10 * nanos:
                return Nanodollars(tenths * step // 10)
        step *= 10


def _with_room_for_ticks(size: Size, peak: Nanodollars) -> Size:
    """Move the money axis to the right when millionths of a dollar make its labels long."""
    longest = max(len(axis_usd(tick)) for tick in _ticks(peak))
    return replace(size, left=max(size.left, math.ceil(longest * _TICK_CHARACTER) + _TICK_GAP))


def _ticks(peak: Nanodollars) -> list[Nanodollars]:
    return [Nanodollars(peak.nanos * k // _GRID_STEPS) for k in range(_GRID_STEPS + 1)]


def _grid(peak: Nanodollars, size: Size) -> Markup:
    lines = Markup()
    for tick in _ticks(peak):
        y = _height_of(tick.nanos, peak, size)
        lines += Markup(
            '<line class="{}" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>'
            '<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>'
        ).format(
            "grid" if tick.nanos else "base", size.left, size.width, y, y, size.left - _TICK_GAP, y + 4, axis_usd(tick)
        )
    return lines


def _time_axis(columns: Sequence[Column], slot: float, size: Size) -> Markup:
    """Label every k-th column so that the last one always has its label."""
    every = math.ceil(len(columns) / size.labels) or 1
    texts = Markup()
    for i in range((len(columns) - 1) % every, len(columns), every):
        x = min(size.left + slot * (i + 0.5), size.width - 3.2 * len(columns[i].label))
        texts += Markup('<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            x, size.height - 6, columns[i].label
        )
    return texts


def _bar(
    middle: float, width: float, i: int, series: Sequence[Series], peak: Nanodollars, size: Size, column: Column
) -> Markup:
    parts, below = Markup(), 0
    filled = [(s.colour, s.amounts[i].nanos) for s in series if s.amounts[i].nanos > 0]
    for n, (colour, nanos) in enumerate(filled):
        bottom, top = _height_of(below, peak, size), _height_of(below + nanos, peak, size)
        below += nanos
        gap = 1 if n else 0
        height = max(bottom - top - gap, 1.5 if len(filled) == 1 else 0.4)
        round_off = min(4.0, width / 2, height) if n == len(filled) - 1 else 0.0
        parts += _segment(colour, middle - width / 2, bottom - gap - height, width, height, round_off)
    return Markup('<g class="{}">{}</g>').format("now" if column.current else "past", parts)


def _segment(colour: str, x: float, y: float, width: float, height: float, r: float) -> Markup:
    path = (
        f"M{x:.1f},{y + height:.1f}V{y + r:.1f}q0,{-r:.1f} {r:.1f},{-r:.1f}"
        f"H{x + width - r:.1f}q{r:.1f},0 {r:.1f},{r:.1f}V{y + height:.1f}Z"
    )
    return Markup('<path class="{}" d="{}"/>').format(colour, path)


def _hit(x: float, slot: float, i: int, column: Column, series: Sequence[Series], total: int, size: Size) -> Markup:
    """The whole height of a column answers the pointer; bars alone would be too small to meet."""
    rows = [(s.colour, s.name, s.amounts[i]) for s in reversed(series) if s.amounts[i].nanos > 0]
    spoken = ", ".join(f"{name} {usd(amount)}" for _, name, amount in rows)
    return Markup(
        '<g class="hit" tabindex="0" role="img" aria-label="{}: {}{}">'
        '<rect class="band" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>{}</g>'
    ).format(
        column.title, usd(Nanodollars(total)), f" ({spoken})" if spoken else "",
        x, _TOP, slot, size.plot_height, _tip(x, slot, column, rows, Nanodollars(total), size),
    )  # fmt: skip


def _tip(
    x: float, slot: float, column: Column, rows: Sequence[tuple[str, str, Nanodollars]], total: Nanodollars, size: Size
) -> Markup:
    """Draw the card beside a column, on the side where there is room."""
    height = _TIP_LINE * (len(rows) + 1) + 2 * _TIP_PAD - 4
    right = x + slot + 8
    left = right if right + _TIP_WIDTH <= size.width else max(0.0, x - 8 - _TIP_WIDTH)
    card = Markup('<rect class="card" width="{}" height="{}" rx="9"/>').format(_TIP_WIDTH, height)
    card += _tip_line(0, None, column.title, usd(total))
    for n, (colour, name, amount) in enumerate(rows, start=1):
        card += _tip_line(n, colour, name, usd(amount))
    return Markup('<g class="tip" transform="translate({:.1f},{})" aria-hidden="true">{}</g>').format(left, _TOP, card)


def _tip_line(n: int, colour: str | None, name: str, amount: str) -> Markup:
    y = _TIP_PAD + 11 + _TIP_LINE * n
    short = name if len(name) <= _TIP_NAME else f"{name[: _TIP_NAME - 1]}…"
    swatch, x = Markup(), _TIP_PAD
    if colour is not None:
        swatch = Markup('<rect class="{}" x="{}" y="{}" width="9" height="9" rx="2.5"/>').format(colour, x, y - 9)
        x += 17
    return Markup(
        '{}<text class="{}" x="{}" y="{}">{}</text><text class="{}" x="{}" y="{}" text-anchor="end">{}</text>'
    ).format(
        swatch, "tip-name" if colour else "tip-head", x, y, short,
        "tip-amount" if colour else "tip-head", _TIP_WIDTH - _TIP_PAD, y, amount,
    )  # fmt: skip


def _height_of(nanos: int, peak: Nanodollars, size: Size) -> float:
    """Return where an amount lies, in pixels from the drawing's top."""
    return _TOP + size.plot_height * (1 - nanos / peak.nanos)
