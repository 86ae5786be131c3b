"""What has been learnt of the models outlives the process."""

from pathlib import Path

import pytest

from gateway.counting.calibrations import Calibrations


def learn(calibrations: Calibrations, model: str, times: int = 60) -> None:
    for _ in range(times):
        calibrations.of("cloud", model).learn((1,) * 21, 30)


async def test_what_was_learnt_is_there_after_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "counting.json"
    before = Calibrations(file)
    learn(before, "m")
    before.of("cloud", "never-asked")
    await before.save()

    assert [(name, found.prompts) for name, found in Calibrations(file)] == [("cloud/m", 60)]


async def test_nothing_is_written_where_nothing_was_learnt(tmp_path: Path) -> None:
    file = tmp_path / "counting.json"
    calibrations = Calibrations(file)
    await calibrations.save()
    assert not file.exists()
    learn(calibrations, "m")
    await calibrations.save()
    file.unlink()
    await calibrations.save()
    assert not file.exists()


@pytest.mark.parametrize("content", [b"", b"{", b'{"cloud/m": 5}', b'{"cloud/m": {}}', b"\xff\x00"])
def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "counting.json"
    file.write_bytes(content)

    assert list(Calibrations(file)) == []


async def test_of_several_workers_the_last_one_to_write_wins(tmp_path: Path) -> None:
    file = tmp_path / "counting.json"
    one, other = Calibrations(file), Calibrations(file)
    learn(one, "a")
    learn(other, "b")
    await one.save()
    await other.save()

    assert [name for name, _ in Calibrations(file)] == ["cloud/b"]
