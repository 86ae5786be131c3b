from pathlib import Path

import pytest

from gateway.errors import HomeInUse
from gateway.operations.home import Home
from gateway.operations.lock import holder, lock, refuse_if_held


def test_a_home_is_held_until_the_lock_is_closed_and_tells_the_port(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with lock(home, 4321):
        held = holder(home)
        assert held is not None
        assert held.port == 4321
        with pytest.raises(HomeInUse, match=r"on port 4321 with SLUICE_HOME="):
            refuse_if_held(home)
    assert holder(home) is None
    refuse_if_held(home)


def test_a_refused_lock_leaves_what_the_first_one_wrote(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with lock(home, 4321):
        for _ in range(2):
            with pytest.raises(HomeInUse, match="4321"):
                lock(home, 5)
    with lock(home):
        held = holder(home)
        assert held is not None
        assert held.port is None


def test_asking_makes_nothing(tmp_path: Path) -> None:
    assert holder(Home(tmp_path / "none")) is None
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_may_read_the_lock(tmp_path: Path) -> None:
    with lock(Home(tmp_path)):
        assert (tmp_path / "gateway.lock").stat().st_mode & 0o777 == 0o600
