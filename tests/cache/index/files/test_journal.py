from pathlib import Path

import pytest

from cache.index.files import journal
from cache.index.files.journal import Journal
from cache.index.files.records import Change, Kind, Origin, read

ORIGIN = Origin("minilm", 8)
GONE = Change(Kind.REMOVE, b"p" * 32, b"k" * 32)


def test_what_is_noted_is_in_the_file_once_it_is_flushed(tmp_path: Path) -> None:
    log = Journal(tmp_path / "log", ORIGIN)
    log.note(GONE)
    assert not list(read(tmp_path / "log", ORIGIN))
    log.flush()
    log.note(GONE)
    log.flush()
    (block,) = read(tmp_path / "log", ORIGIN)
    assert len(block.records) == log.records == 2
    log.close()


def test_a_log_never_goes_on_in_a_file_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    with pytest.raises(FileExistsError):
        Journal(tmp_path / "log", ORIGIN)


def test_a_disk_that_does_not_keep_up_is_given_up_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_MOST_WAITING", 3)
    log = Journal(tmp_path / "log", ORIGIN)
    for _ in range(10):
        log.note(GONE)
    with pytest.raises(OSError, match="keep up"):
        log.flush()
    log.close()
