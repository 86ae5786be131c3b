"""The spool: each process has its own journal, and the dead leave theirs to the next one."""

from pathlib import Path

from governance.ledger.journal.legacies import discard
from governance.ledger.journal.spool import Spool


def records(spool: Spool) -> list[list[bytes]]:
    return [[record for left in legacy.files() for record in left.records] for legacy in spool.legacies]


def end(spool: Spool) -> None:
    """What the death of a process does."""
    spool.journal.close(keep=True)
    for legacy in spool.legacies:
        legacy.close()


def test_the_journal_of_a_dead_process_is_taken_over_in_its_order(tmp_path: Path) -> None:
    dead = Spool.open(tmp_path / "spool", segment_bytes=64)
    written = [b"record %d" % number for number in range(20)]
    for record in written:
        dead.journal.append(record)
    end(dead)
    heir = Spool.open(tmp_path / "spool")
    assert records(heir) == [written]
    end(heir)


def test_the_journal_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    living = Spool.open(tmp_path)
    living.journal.append(b"mine")
    other = Spool.open(tmp_path)
    assert other.legacies == ()
    assert other.journal.folder != living.journal.folder
    end(other)
    end(living)


def test_a_legacy_has_one_heir(tmp_path: Path) -> None:
    dead = Spool.open(tmp_path)
    dead.journal.append(b"record")
    end(dead)
    first, second = Spool.open(tmp_path), Spool.open(tmp_path)
    assert (len(first.legacies), len(second.legacies)) == (1, 0)
    end(first)
    end(second)


def test_a_file_without_damage_goes_and_takes_its_folder_along(tmp_path: Path) -> None:
    dead = Spool.open(tmp_path)
    dead.journal.append(b"record")
    end(dead)
    heir = Spool.open(tmp_path)
    for left in heir.legacies[0].files():
        assert left.damaged == 0
        discard(left.path, keep=False)
    heir.legacies[0].close()
    assert list(tmp_path.iterdir()) == [heir.journal.folder]
    heir.journal.close(keep=False)


def test_a_damaged_file_is_set_aside_and_not_read_again(tmp_path: Path) -> None:
    dead = Spool.open(tmp_path)
    for record in (b"one", b"two", b"three"):
        dead.journal.append(record)
    end(dead)
    (path,) = dead.journal.folder.iterdir()
    path.write_bytes(path.read_bytes().replace(b"two", b"tvo"))
    heir = Spool.open(tmp_path)
    (left,) = heir.legacies[0].files()
    assert (left.records, left.damaged) == ((b"one", b"three"), 1)
    discard(left.path, keep=True)
    assert list(heir.legacies[0].files()) == []
    end(heir)
    assert [path.suffix for path in dead.journal.folder.iterdir()] == [".damaged"]
