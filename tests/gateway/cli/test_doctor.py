import json
import socket
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.counting.calibrations import Calibrations
from gateway.counting.makeup import makeup
from gateway.operations.doctor import home as look_at_home
from gateway.operations.home import Home
from gateway.operations.lock import lock
from tests.support.command_line import CommandLine
from tests.support.policy_texts import SMALL
from tests.support.servers import PostgresServer, RedisServer
from tests.support.servers import redis_server as own_redis


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


def test_holds_below_the_bound_are_told_with_what_they_rest_on(home: Path) -> None:
    (home / "policy.yaml").write_text(SMALL + "holds: {prompt: calibrated}\n")
    calibrations = Calibrations(Home(home).counting)
    calibrations.of("engine", "smollm2").learn(makeup({}).measures, 3)
    anyio.run(calibrations.save)
    detail = examined(home, 0)["holds"]["detail"]
    assert detail.startswith("calibrated, so a prompt in 100 may cost more than was held for it")
    assert "engine/smollm2 (of 1)" in detail


SEMANTIC = SMALL + "cache: {semantic: {enabled: [bot/faq], max_error: 0.01, ttl: 7d, embedding: %s}}\n"


def test_a_semantic_cache_is_told_with_what_it_lacks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy = home / "policy.yaml"
    policy.write_text(SEMANTIC % "all-minilm-l6-v2")
    monkeypatch.setattr("gateway.operations.doctor.installed", lambda _: True)
    assert examined(home, 0)["semantic cache"]["detail"] == "1 feature enabled, 0 observed"
    alone = examined(home, 0, WORKERS="2", SLUICE_CACHE="disk")["semantic cache"]
    assert (alone["state"], alone["detail"]) == (
        "warn",
        "each of 2 workers finds only the questions that it was asked itself",
    )
    monkeypatch.setattr("gateway.operations.doctor.installed", lambda _: False)
    missing = examined(home, 0)["semantic cache"]
    assert (missing["state"], missing["cure"]) == ("warn", "pip install 'sluicegate[semantic]'")


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


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://user:hunter2@nowhere/db", "mysql is neither sqlite nor postgresql"),
        ("host=db password=hunter2", "DATABASE_URL is not a URL: write postgresql://… or sqlite:///…"),
        ("postgres://user:hunter2@127.0.0.1:1/db", "postgres: cannot connect: nobody listens there"),
        ("sqlite:////no/such/folder/hunter2/x.db", "sqlite: unable to open database file"),
        ("sqlite:///:memory:", "sqlite: SQLite in memory is a new, empty database for every connection: name a file"),
    ],
)
def test_a_database_that_cannot_be_opened_must_be_mended_and_its_password_is_not_shown(
    home: Path, url: str, told: str
) -> None:
    result = CommandLine(home).run("doctor", PORT="0", DATABASE_URL=url)
    assert result.exit_code == 1
    assert f"fail  database        {told}\n" in result.stdout
    assert "hunter2" not in result.output


def test_a_redis_that_does_the_work_is_well(home: Path, redis_server: RedisServer) -> None:
    found = examined(home, 0, REDIS_URL=redis_server.url)["redis"]
    assert found["state"] == "ok"
    assert found["detail"].startswith("version ")


def test_a_redis_that_is_not_there_or_bans_scripts_must_be_mended_and_its_password_is_not_shown(
    home: Path, redis_server: RedisServer
) -> None:
    redis_server.call("ACL", "SETUSER", "scriptless", "on", ">hunter2", "~*", "+@all", "-@scripting")
    for url, cure in (
        (f"unix://scriptless:hunter2@{redis_server.socket}", "run scripts (EVAL, EVALSHA, INFO) on the keys sluice:*."),
        (f"unix://scriptless:hunter3@{redis_server.socket}", "Let the user of REDIS_URL in"),
        ("redis://:hunter2@127.0.0.1:1", "Check REDIS_URL and its server."),
        ("http://hunter2", "Check REDIS_URL and its server."),
    ):
        found = examined(home, 1, REDIS_URL=url)["redis"]
        assert found["state"] == "fail"
        assert cure in found["cure"]
        assert "hunter" not in str(found)


def test_a_redis_that_forgets_when_it_is_full_is_told(home: Path) -> None:
    with own_redis("--maxmemory", "64mb", "--maxmemory-policy", "allkeys-lru") as server:
        found = examined(home, 0, REDIS_URL=server.url)["redis"]
    assert (found["state"], found["cure"]) == ("warn", "Set its maxmemory-policy to noeviction.")
    assert "allkeys-lru" in found["detail"]


def test_a_postgres_is_brought_up_to_date_and_its_audit_log_is_read(
    home: Path, postgres_server: PostgresServer
) -> None:
    found = examined(home, 0, DATABASE_URL=postgres_server.database())
    assert found["database"]["detail"] == "postgresql, schema up to date"
    assert found["audit log"]["state"] == "ok"


@pytest.mark.parametrize("url", ["", "sqlite:///{}/elsewhere.db"])
def test_it_makes_no_home(tmp_path: Path, url: str) -> None:
    found = examined(tmp_path / "var", 0, DATABASE_URL=url.format(tmp_path))
    assert found["home"]["detail"].endswith("will be made at the first start")
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize(("path", "told"), [("file", "is a file"), ("file/home", "cannot be made")])
def test_a_home_that_cannot_be_is_told_with_its_cure(tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "file").touch()
    found = look_at_home(tmp_path / path)
    assert (found.state, found.cure) == ("fail", "choose a folder that may be written: SLUICE_HOME=…")
    assert told in found.detail


def test_a_gateway_of_this_home_at_another_port_is_told(home: Path) -> None:
    with lock(Home(home), 4321):
        found = examined(home, 0)["port 0"]
    assert (found["state"], found["detail"]) == ("warn", "this home's gateway runs on port 4321")


def test_a_gateway_of_this_home_at_its_port_is_well(home: Path) -> None:
    with somebody_listens() as port, lock(Home(home), int(port)):
        assert examined(home, 0, PORT=port)[f"port {port}"]["detail"] == "this home's gateway runs here"


def test_one_problem_is_one(home: Path) -> None:
    (home / "policy.yaml").write_text("a: [\n")
    assert examined(home, 1)["policy"]["detail"].endswith("policy.yaml: 1 problem")


def test_an_engine_behind_tls_is_not_asked(home: Path) -> None:
    assert "was not asked" in examined(home, 0, SLUICE_ENGINE_URL="https://engine.example.com/v1")["engine"]["detail"]


def test_damaged_journals_are_a_warning_until_somebody_has_looked(home: Path) -> None:
    assert "spool" not in examined(home, 0)
    (home / "spool" / "1-x").mkdir(parents=True)
    (home / "spool" / "1-x" / "0000000001.damaged").touch()
    assert examined(home, 0)["spool"]["state"] == "warn"


def test_an_audit_log_that_was_changed_is_found(home: Path) -> None:
    shell = CommandLine(home)
    for _ in range(2):
        shell.json("keys", "create", "--team", "demo", "--app", "demo")
    assert examined(home, 0)["audit log"]["detail"] == "2 entries, unbroken"
    connection = sqlite3.connect(home / "sluice.db")
    connection.execute("UPDATE audit_entry SET actor = 'nobody' WHERE n = 1")
    connection.commit()
    connection.close()
    assert examined(home, 1)["audit log"]["detail"] == "broken at entry 1: the entry was changed"
