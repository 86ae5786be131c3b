import socket
from pathlib import Path

import pytest

from local_engine.config import EngineConfig
from local_engine.errors import CannotListen
from local_engine.launch.listener import listening


@pytest.fixture
def config(tmp_path: Path) -> EngineConfig:
    return EngineConfig(uds=tmp_path / "engine.sock")


def path_of(config: EngineConfig) -> Path:
    assert config.uds is not None
    return config.uds


def bound(path: Path) -> socket.socket:
    other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    other.bind(str(path))
    return other


def test_a_socket_is_for_this_user_and_is_removed_in_the_end(config: EngineConfig) -> None:
    path = path_of(config)
    with listening(config), bound(path.with_name("client")) as client:
        assert path.stat().st_mode & 0o777 == 0o600
        client.connect(str(path))
    assert not path.exists()


def test_a_socket_on_which_somebody_listens_is_refused_and_stays(config: EngineConfig) -> None:
    with listening(config):
        with pytest.raises(CannotListen, match="another process listens there already"), listening(config):
            pass
        assert path_of(config).is_socket()


def test_a_socket_that_a_dead_process_left_is_replaced(config: EngineConfig) -> None:
    bound(path_of(config)).close()
    with listening(config):
        pass
    assert not path_of(config).exists()


def test_a_file_that_is_no_socket_is_left_alone(config: EngineConfig) -> None:
    path_of(config).write_text("precious")
    with pytest.raises(CannotListen, match="no socket"), listening(config):
        pass
    assert path_of(config).read_text() == "precious"


def test_a_socket_that_took_its_place_is_left_alone(config: EngineConfig) -> None:
    path = path_of(config)
    with listening(config):
        path.unlink()
        # Not bound at the path itself: the file system may give the inode that was just freed to it.
        other = path.with_name("other")
        successor = bound(other)
        other.rename(path)
    assert path.is_socket()
    successor.close()


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotListen, match="no such file or directory"), listening(EngineConfig(uds=tmp_path / "a/b")):
        pass


def test_a_port_that_is_taken_is_named() -> None:
    with listening(EngineConfig(port=0)) as first:
        port = first.getsockname()[1]
        with (
            pytest.raises(CannotListen, match=rf"127\.0\.0\.1:{port}: address already in use"),
            listening(EngineConfig(port=port)),
        ):
            pass
