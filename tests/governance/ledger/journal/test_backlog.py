"""The backlog: first in, first out, whole on the disk, flat in memory."""

import tempfile
from collections import deque
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.journal.backlog import Backlog, entries_of, record_of
from governance.ledger.journal.spool import Spool
from governance.ledger.journal.writing import Place
from governance.money import Nanodollars
from governance.prices import Usage
from tests.support.clocks import HandClock
from tests.support.requests import attempt, opening, settlement, usd

NEAR = 3


def held(number: int) -> LedgerEvent:
    return LedgerEvent(kind=EventKind.HELD, opening=opening(f"r{number}"), held=Nanodollars(number))


def test_entries_are_read_back_as_they_were() -> None:
    usage = Usage(fresh_input=7, cache_read=2, output=3)
    ended = settlement("0.10", usage)
    event = LedgerEvent(
        kind=EventKind.SETTLED, opening=opening("r", user="ann", session="é\n"), cost=usd("0.10"), settlement=ended
    )
    made = LedgerAttempt("r", 1, attempt(usd("0.10"), usage, "failed"))
    assert entries_of(record_of((event, made, held(1)))) == (event, held(1), made)
    assert entries_of(b"") == ()


@pytest.mark.parametrize("record", [b"x", b"\x92\x91\x00\x90", msgspec.msgpack.encode(([{"kind": "held"}], []))])
def test_a_record_of_another_program_is_told_apart(record: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        entries_of(record)


@pytest.mark.parametrize("event", [held(2**64), LedgerEvent(kind=EventKind.HELD, opening=opening("\ud800"))])
def test_what_cannot_be_written_is_not_queued(tmp_path: Path, event: LedgerEvent) -> None:
    backlog = Backlog(Spool.open(tmp_path).journal, memory=NEAR, clock=HandClock())
    with pytest.raises((OverflowError, UnicodeError)):
        backlog.add((event,))
    assert (len(backlog), backlog.first(9), backlog.journal.end) == (0, [], Place(0, 0))
    backlog.journal.close(keep=False)


def test_the_age_is_that_of_the_oldest_entry(tmp_path: Path) -> None:
    clock = HandClock()
    backlog = Backlog(Spool.open(tmp_path).journal, memory=NEAR, clock=clock)
    assert backlog.oldest_s == 0
    for number in range(5):
        backlog.add((held(number),))
        clock.now += 1
    ages = []
    while backlog:
        ages.append(backlog.oldest_s)
        backlog.drop(len(backlog.first(1)))
    assert ages == [5, 4, 3, 2, 2]
    backlog.journal.close(keep=False)


steps = st.lists(
    st.one_of(st.integers(1, 4).map(lambda size: ("add", size)), st.integers(1, 9).map(lambda n: ("store", n)))
)


@settings(max_examples=60)
@given(steps)
def test_what_comes_out_is_what_went_in_and_the_journal_has_all_that_is_not_stored(
    steps: list[tuple[str, int]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal = Spool.open(Path(folder), segment_bytes=2048).journal
        backlog, model, made = Backlog(journal, memory=NEAR, clock=HandClock()), deque[LedgerEvent](), 0
        for act, size in steps:
            if act == "add":
                entries = tuple(held(made + n) for n in range(size))
                made += size
                backlog.add(entries)
                model.extend(entries)
            else:
                found = backlog.first(size)
                assert found == [model.popleft() for _ in found]
                backlog.drop(len(found))
                journal.release(backlog.needed_from)
            assert len(backlog) == len(model)
            assert len(backlog._near) <= 500
            on_disk = [entry for _, record in journal.read(Place(0, 0), 10**6) for entry in entries_of(record)]
            assert on_disk[len(on_disk) - len(model) :] == list(model)
        assert backlog.lost == 0
        journal.close(keep=False)
