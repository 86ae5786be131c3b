import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from governance.database import open_database
from governance.errors import Unauthenticated
from governance.identity import Keyring
from governance.keys import refresh
from tests.support.command_line import CommandLine


@pytest.fixture
def shell(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


async def keyring(shell: CommandLine) -> Keyring:
    database = open_database(f"sqlite:///{shell.home / 'sluice.db'}")
    known = Keyring()
    await refresh(known, database)
    await database.close()
    return known


def test_a_key_is_made_for_a_known_app_and_said_once(shell: CommandLine) -> None:
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo", "--feature", "faq", "--expires", "30d")
    assert made["key"].startswith(f"sk-sluice-{made['id']}-")
    listed = shell.json("keys", "list")
    assert [(key["id"], key["feature"], key["state"]) for key in listed] == [(made["id"], "faq", "good")]
    assert made["key"].rpartition("-")[2] not in shell.run("keys", "list", "--json").output


def test_a_person_gets_the_key_alone_on_standard_output(shell: CommandLine) -> None:
    result = shell.run("keys", "create", "--team", "demo", "--app", "demo")
    assert result.stdout.startswith("sk-sluice-")
    assert result.stdout.count("\n") == 1
    assert "not shown again" in result.stderr


def test_a_key_for_an_app_that_the_policy_lacks_is_refused_with_those_it_has(shell: CommandLine) -> None:
    result = shell.run("keys", "create", "--team", "demo", "--app", "dmeo")
    assert result.exit_code == 2
    assert "the policy has no demo/dmeo; it has: demo/demo" in result.stderr
    assert shell.json("keys", "list") == []


def test_keys_are_not_made_under_an_invalid_policy(shell: CommandLine) -> None:
    (shell.home / "policy.yaml").write_text("version: 1\n")
    result = shell.run("keys", "create", "--team", "demo", "--app", "demo")
    assert result.exit_code == 1
    assert 'policy.yaml:1:1: needs "providers"' in result.stderr


def test_an_unset_policy_variable_does_not_stop_a_key(shell: CommandLine) -> None:
    example = Path(__file__).parents[2] / "support" / "policies" / "example.yaml"
    (shell.home / "policy.yaml").write_text(example.read_text())
    assert shell.json("keys", "create", "--team", "support", "--app", "support-bot")["team"] == "support"


def test_a_rotated_key_opens_with_both_secrets_and_a_revoked_one_with_none(shell: CommandLine) -> None:
    old = shell.json("keys", "create", "--team", "demo", "--app", "demo")
    new = shell.json("keys", "rotate", old["id"], "--overlap", "1h")
    known, now = asyncio.run(keyring(shell)), datetime.now(UTC)
    assert known.authenticate(old["key"], now) == known.authenticate(new["key"], now)
    with pytest.raises(Unauthenticated):
        known.authenticate(old["key"], now + timedelta(hours=2))
    assert shell.json("keys", "revoke", old["id"])["id"] == old["id"]
    with pytest.raises(Unauthenticated):
        asyncio.run(keyring(shell)).authenticate(new["key"], now)
    assert "revoked" in shell.run("keys", "list").output


@pytest.mark.parametrize("verb", ["rotate", "revoke"])
def test_a_key_that_does_not_exist_cannot_be_changed(shell: CommandLine, verb: str) -> None:
    result = shell.run("keys", verb, "nosuchkey")
    assert result.exit_code == 1
    assert result.stderr == "Error: There is no key 'nosuchkey'.\n"


def test_keys_of_one_team_can_be_listed(shell: CommandLine) -> None:
    shell.json("keys", "create", "--team", "demo", "--app", "demo", "--name", "[bold]mine[/bold]")
    assert "[bold]mine[/bold]" in shell.run("keys", "list", "--team", "demo", COLUMNS="200").output
    assert shell.json("keys", "list", "--team", "other") == []
    assert "There are no keys" in shell.run("keys", "list", "--team", "other").output
