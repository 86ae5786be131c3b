import socket
from pathlib import Path

import pytest

from gateway.errors import PortTaken
from gateway.supervision.sockets import claim_port, engine_socket


def test_a_free_port_is_found_for_zero() -> None:
    assert claim_port("127.0.0.1", 0) > 0


def test_a_taken_port_is_named_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"127\.0\.0\.1:{port}: the port is taken; .* PORT="):
            claim_port("127.0.0.1", port)


def test_an_address_of_another_machine_cannot_be_claimed() -> None:
    with pytest.raises(PortTaken, match="this machine has no such address; choose one that it has: HOST="):
        claim_port("192.0.2.1", 4000)


@pytest.mark.parametrize("host", ["no such host", "no..such.host"])
def test_a_host_without_an_address_is_named_with_what_to_do(host: str) -> None:
    with pytest.raises(PortTaken, match=f"there is no host '{host}'; choose an address .* HOST="):
        claim_port(host, 4000)


def test_the_engines_socket_is_in_the_home(tmp_path: Path) -> None:
    home = Path("/tmp/sluice-home")  # noqa: S108  (only a name)
    with engine_socket(home) as path:
        assert path == home / "engine.sock"


def test_a_path_too_long_for_a_socket_is_replaced_by_a_private_folder_that_goes_away(tmp_path: Path) -> None:
    with engine_socket(tmp_path / ("deep" * 30)) as path:
        assert len(bytes(path)) < 100
        assert path.parent.stat().st_mode & 0o777 == 0o700
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(str(path))
    assert not path.parent.exists()
