import json
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import CommandLine


def examined(folder: Path, status: int, **environment: str) -> dict[str, dict[str, Any]]:
    result = CommandLine(folder).run("doctor", "--json", **({"PORT": "0"} | environment))
    assert result.exit_code == status, result.output
    told = json.loads(result.stdout)
    assert told["ok"] is (status == 0)
    return {finding["name"]: finding for finding in told["findings"]}


@contextmanager
def somebody_listens() -> Generator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path


def test_a_fresh_home_is_well_and_the_engine_is_merely_not_there_yet(home: Path) -> None:
    found = examined(home, 0)
    assert {found[name]["state"] for name in ("python", "policy", "home", "database", "port 0")} == {"ok"}
    assert (found["engine"]["state"], found["engine"]["cure"]) == ("warn", "Start it: sluice up")


def test_secrets_that_others_may_read_must_be_mended(home: Path) -> None:
    key = home / "admin.key"
    key.write_text("sk-admin")
    key.chmod(0o644)
    assert examined(home, 1)["admin.key"]["cure"] == f"chmod 600 {key}"
    key.chmod(0o600)
    assert examined(home, 0)["admin.key"]["state"] == "ok"


def test_a_home_open_to_others_is_a_warning_with_its_cure(home: Path) -> None:
    home.chmod(0o755)
    assert examined(home, 0)["home"]["cure"] == f"chmod 700 {home}"


def test_a_port_that_is_taken_by_something_else_must_be_mended(home: Path) -> None:
    with somebody_listens() as port:
        assert examined(home, 1, PORT=port)[f"port {port}"]["detail"] == "the port is taken"


def test_an_invalid_policy_must_be_mended(home: Path) -> None:
    (home / "policy.yaml").write_text("version: 1\n")
    assert examined(home, 1)["policy"]["cure"] == "sluice policy check"


def test_a_database_that_cannot_be_opened_must_be_mended_and_its_password_is_not_shown(home: Path) -> None:
    result = CommandLine(home).run("doctor", PORT="0", DATABASE_URL="mysql://user:hunter2@nowhere/db")
    assert result.exit_code == 1
    assert "fail  database" in result.stdout
    assert "hunter2" not in result.output


def test_damaged_journals_are_a_warning_until_somebody_has_looked(home: Path) -> None:
    assert "spool" not in examined(home, 0)
    (home / "spool" / "1-x").mkdir(parents=True)
    (home / "spool" / "1-x" / "0000000001.damaged").touch()
    assert examined(home, 0)["spool"]["state"] == "warn"
