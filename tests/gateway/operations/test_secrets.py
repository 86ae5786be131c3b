import os
from pathlib import Path

import pytest

from gateway.errors import CannotServe
from gateway.operations.secrets import make_home


def test_a_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    assert make_home(tmp_path / "a" / "b").path == tmp_path / "a" / "b"
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_a_file_in_the_homes_place_is_named_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe, match=r"SLUICE_HOME=.*file is a file; give it a folder"):
        make_home(tmp_path / "file")


def test_a_home_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe, match=r"cannot be made \(not a directory\)"):
        make_home(tmp_path / "file" / "home")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_home_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(CannotServe, match="cannot be written by this user"):
        make_home(tmp_path)
