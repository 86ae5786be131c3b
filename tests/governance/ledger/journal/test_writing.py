"""A journal: space set aside first, records kept in order, files gone when nobody needs them."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from errno import EFBIG, ENOSPC
from pathlib import Path

import pytest

from governance.ledger.journal.spool import Spool
from governance.ledger.journal.writing import Journal, Place, sync
from tests.support.disks import full_disk

SEGMENT = 4096
RECORD = b"r" * 490


@contextmanager
def journal(folder: Path, limit: int = 1 << 20) -> Generator[Journal]:
    opened = Spool.open(folder, limit_bytes=limit, segment_bytes=SEGMENT).journal
    try:
        yield opened
    finally:
        opened.close(keep=True)


def test_records_are_read_back_from_any_place(tmp_path: Path) -> None:
    with journal(tmp_path) as written:
        places = [written.append(bytes([number]) * 500) for number in range(30)]
        read = written.read(places[9], 5)
        rest = written.read(places[14], 100)
    assert [place for place, _ in read + rest] == places[10:]
    assert [record[0] for _, record in read + rest] == list(range(10, 30))
    assert len({place.segment for place in places}) > 3


def test_a_file_goes_when_every_record_in_it_lies_before_the_place(tmp_path: Path) -> None:
    with journal(tmp_path) as written:
        places = [written.append(RECORD) for _ in range(30)]
        first_of_third = next(place for place in places if place.segment == 3)
        assert written.has_before(first_of_third)
        written.release(first_of_third)
        assert not written.has_before(first_of_third)
        assert [place for place, _ in written.read(Place(0, 0), 100)] == [p for p in places if p.segment >= 3]
        assert len(list(written.folder.iterdir())) == places[-1].segment - 2


def test_a_full_disk_lets_nothing_new_in_while_what_was_let_in_is_still_written(tmp_path: Path) -> None:
    with journal(tmp_path) as written:
        written.reserve()
        with full_disk(SEGMENT - 1):
            admitted = 0
            with pytest.raises(OSError, match="File too large") as refused:  # noqa: PT012
                while True:
                    written.reserve()
                    written.append(RECORD)
                    admitted += 1
            assert refused.value.errno == EFBIG
            for _ in range(3):
                written.append(RECORD)
        written.reserve()
        assert len(written.read(Place(0, 0), 100)) == admitted + 3 >= 7


def test_a_journal_keeps_to_its_limit(tmp_path: Path) -> None:
    with journal(tmp_path, limit=3 * SEGMENT) as written:
        with pytest.raises(OSError, match="reached its limit") as full:  # noqa: PT012
            while True:
                written.reserve()
                written.append(RECORD)
        assert full.value.errno == ENOSPC
        assert written.size == 3 * SEGMENT == sum(path.stat().st_size for path in written.folder.iterdir())
        written.release(written.end)
        written.reserve()


def test_a_record_larger_than_a_file_gets_one_of_its_own(tmp_path: Path) -> None:
    with journal(tmp_path) as written:
        written.append(b"x" * 3 * SEGMENT)
        written.append(RECORD)
        assert [len(record) for _, record in written.read(Place(0, 0), 9)] == [3 * SEGMENT, 490]


def test_a_failing_device_is_found_out_before_the_next_request(tmp_path: Path) -> None:
    with journal(tmp_path) as written:
        written.append(RECORD)
        written._segments[-1]._descriptor, good = os.open("/dev/full", os.O_WRONLY), written._segments[-1]._descriptor
        with pytest.raises(OSError, match="No space left"):
            written.append(RECORD)
        with pytest.raises(OSError, match="No space left"):
            written.reserve()
        os.close(written._segments[-1]._descriptor)
        written._segments[-1]._descriptor = good
        written.reserve()
        written.append(b"after")
        assert [record for _, record in written.read(Place(0, 0), 9)] == [RECORD, b"", b"after"]


def test_what_is_synced_is_not_synced_again(tmp_path: Path) -> None:
    with journal(tmp_path) as written:
        assert written.borrow_unsynced() == []
        written.append(RECORD)
        sync(written.borrow_unsynced())
        assert written.borrow_unsynced() == []
        written.append(RECORD)
        descriptors = written.borrow_unsynced()
        assert descriptors
        sync(descriptors)


def test_closing_removes_the_folder_unless_it_is_still_needed(tmp_path: Path) -> None:
    kept, gone = Spool.open(tmp_path).journal, Spool.open(tmp_path).journal
    for one in (kept, gone):
        one.append(RECORD)
    kept.close(keep=True)
    gone.close(keep=False)
    assert list(tmp_path.iterdir()) == [kept.folder]
