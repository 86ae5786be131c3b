from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from gateway.errors import CannotServe
from gateway.operations.secrets import make_home
from tests.support.ordinary_user import as_ordinary_user


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


def test_a_read_only_home_is_named() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        with pytest.raises(CannotServe, match="cannot be written by this user"):
            as_ordinary_user(make_home, Path(folder))
