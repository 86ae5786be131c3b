from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pytest

from cache.errors import BadLine
from cache.evaluating.lines import Line, read_lines
from cache.evaluating.streams import replay
from tests.support.question_streams import made_up

if TYPE_CHECKING:
    from pathlib import Path


def _lines(answers: list[str], tenant: str = "") -> list[Line]:
    return [Line(str(place), f"question {place}", answer, tenant) for place, answer in enumerate(answers)]


def test_the_same_seed_gives_the_same_report() -> None:
    stream = made_up(1, 250)
    lines = _lines([str(answer) for answer in stream.answers])
    reports = [replay(lines, stream.vectors, max_error=0.01, judge_error=0.05, seed=3, curve=False) for _ in range(2)]
    assert reports[0] == reports[1]


def test_every_share_lies_within_its_interval_and_the_windows_add_up() -> None:
    stream = made_up(2, 400)
    report = replay(_lines([str(answer) for answer in stream.answers]), stream.vectors, max_error=0.02)
    for share in (report.hit_rate, report.error_rate, report.precision):
        assert share.low <= share.value <= share.high
    assert sum(window.lookups for window in report.windows) == report.lookups == 400
    assert [point.setting for point in report.curve] == [0.005, 0.01, 0.02, 0.05]
    assert [point.setting for point in report.static] == [0.8, 0.85, 0.9, 0.95]
    assert report.standing[""].lookups == 400


def test_nothing_is_served_across_tenants() -> None:
    vector = np.ones((1, 8), np.float32) / np.sqrt(8, dtype=np.float32)
    lines = [Line(str(place), "same question", "a", f"tenant {place}") for place in range(50)]
    report = replay(lines, np.repeat(vector, 50, axis=0), max_error=0.05)
    assert report.hit_rate.value == 0.0
    assert all(point.rates.hit_rate.value == 0.0 for point in report.static)


def test_what_the_guards_forbid_is_not_served() -> None:
    stream = made_up(4, 300, novel=0.0)
    lines = _lines([str(answer) for answer in stream.answers])
    report = replay(lines, stream.vectors, max_error=0.05, forbidden=lambda _stored, _asked: True, curve=False)
    assert report.hit_rate.value == 0.0


def test_a_stream_is_read_plain_or_gzipped(tmp_path: Path) -> None:
    line = Line("1", "How?", "a", "t", "f")
    (tmp_path / "a.jsonl").write_bytes(msgspec.json.encode(line) + b"\n\n")
    with gzip.open(tmp_path / "a.jsonl.gz", "wb") as file:
        file.write(msgspec.json.encode(line))
    assert read_lines(tmp_path / "a.jsonl") == read_lines(tmp_path / "a.jsonl.gz") == [line]


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "prompt": "How?", "answer_class": "a"}\n{"id": 2}\n')
    with pytest.raises(BadLine, match="line 2"):
        read_lines(tmp_path / "a.jsonl")
