import asyncio
import getpass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.policy.source import starter_text
from governance.audit import log
from governance.audit.chain import Entry
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
    assert shell.run("keys", "list", "--team", "other").output == "Team 'other' has no keys.\n"


def test_a_home_without_keys_tells_how_to_make_one(shell: CommandLine) -> None:
    assert "There are no keys. Make one: sluice keys create" in shell.run("keys", "list").output


def test_ids_states_and_dates_are_never_cut_or_wrapped_in_a_pipe(shell: CommandLine) -> None:
    name = "a name that is much longer than any terminal is wide " * 3
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo", "--name", name, "--expires", "30d")
    header, row = shell.run("keys", "list", COLUMNS="40").output.splitlines()
    assert header.split() == ["Id", "Team", "App", "Feature", "Name", "State", "Only", "Expires"]
    assert row.startswith(made["id"])
    assert row.split()[-2:] == ["good", made["expires_at"]]


def test_what_a_terminal_would_obey_in_a_name_is_not_printed(shell: CommandLine) -> None:
    shell.json("keys", "create", "--team", "demo", "--app", "demo", "--name", "\x1b[31mred", "--feature", "\x9bf")
    listed = shell.run("keys", "list").output
    assert "�[31mred" in listed
    assert listed.replace("\n", "").isprintable()


@pytest.mark.parametrize("verb", ["rotate", "revoke"])
def test_a_whole_key_stands_for_its_id_and_its_secret_is_not_repeated(shell: CommandLine, verb: str) -> None:
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo")
    result = shell.run("keys", verb, made["key"])
    assert result.exit_code == 0
    assert made["id"] in result.output
    assert made["key"].rpartition("-")[2] not in result.output


@pytest.mark.parametrize("cut", [slice(0, -1), slice(11, None), slice(28, None)])
def test_a_part_of_a_key_is_refused_and_not_repeated(shell: CommandLine, cut: slice) -> None:
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo")
    result = shell.run("keys", "revoke", made["key"][cut])
    assert result.exit_code == 2
    assert "neither a key nor the id of one; `sluice keys list` shows the ids" in result.stderr
    assert made["key"][30:-1] not in result.output


@pytest.mark.parametrize("verb", ["rotate", "revoke"])
def test_a_key_that_is_closed_already_is_told_since_when(shell: CommandLine, verb: str) -> None:
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo")
    at = datetime.fromisoformat(shell.json("keys", "revoke", made["id"])["revoked_at"])
    result = shell.run("keys", verb, made["id"])
    assert result.exit_code == 1
    assert result.stderr == f"Error: The key '{made['id']}' was revoked at {at:%Y-%m-%d %H:%M:%S} UTC.\n"


def test_a_feature_without_rules_of_its_own_is_noted(shell: CommandLine) -> None:
    example = Path(__file__).parents[2] / "support" / "policies" / "example.yaml"
    (shell.home / "policy.yaml").write_text(example.read_text())
    bound = ("keys", "create", "--team", "support", "--app", "support-bot", "--feature")
    known, unknown = shell.run(*bound, "faq"), shell.run(*bound, "fqa")
    assert "of support/support-bot/faq. It is not shown again." in known.stderr
    assert "Note:" not in known.stderr
    assert "Note: the policy does not name the feature 'fqa'" in unknown.stderr
    assert unknown.exit_code == 0


def test_a_policy_file_that_is_not_in_force_is_noted(shell: CommandLine) -> None:
    policy = shell.home / "policy.yaml"
    policy.write_text(starter_text())
    create = ("keys", "create", "--team", "demo", "--app", "demo")
    assert shell.run("policy", "apply").exit_code == 0
    assert "Note:" not in shell.run(*create).stderr
    policy.write_text(starter_text().replace("name: demo", "name: show"))
    noted = shell.run(*create)
    assert noted.exit_code == 0, noted.output
    assert "policy.yaml is not in force" in noted.stderr
    refused = shell.run("keys", "create", "--team", "show", "--app", "show")
    assert refused.exit_code == 2
    assert "Put it in force with `sluice policy apply`" in refused.stderr


def test_a_key_is_narrowed_by_tiers_models_and_budgets_and_the_list_shows_it(shell: CommandLine) -> None:
    narrowed = ("--tier", "local", "--model", "smollm2", "--budget", "5/day", "--budget", "20.50/36h")
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo", *narrowed)
    assert (made["tiers"], made["models"], made["budgets"]) == (["local"], ["smollm2"], ["5/day", "20.50/36h"])
    (listed,) = shell.json("keys", "list")
    assert (listed["tiers"], listed["budgets"]) == (["local"], ["5.00/day", "20.50/36h"])
    assert "local, smollm2, 5.00/day" in shell.run("keys", "list", COLUMNS="300").output


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--tier", "lokal", "the policy has no tier 'lokal'; it has: local"),
        ("--model", "gpt", "the policy has no model 'gpt'; it has: smollm2"),
        ("--budget", "5", "'5' is no budget; write an amount and a window, such as 5/day"),
    ],
)
def test_a_key_cannot_be_narrowed_to_what_does_not_exist(
    shell: CommandLine, option: str, value: str, told: str
) -> None:
    result = shell.run("keys", "create", "--team", "demo", "--app", "demo", option, value)
    assert result.exit_code == 2
    assert told in result.stderr
    assert f"'{option}'" in result.stderr


def test_what_is_done_to_keys_is_in_the_audit_log_under_the_name_of_who_typed_it(shell: CommandLine) -> None:
    made = shell.json("keys", "create", "--team", "demo", "--app", "demo")
    shell.json("keys", "rotate", made["id"])
    shell.json("keys", "revoke", made["id"])
    entries = asyncio.run(audited(shell))
    assert [entry.act for entry in entries] == ["key.revoked", "key.rotated", "key.created"]
    assert {(entry.actor.name, entry.subject, entry.team) for entry in entries} == {
        (f"cli:{getpass.getuser()}", made["id"], "demo")
    }
    assert made["key"].rpartition("-")[2] not in str(entries)


async def audited(shell: CommandLine) -> tuple[Entry, ...]:
    database = open_database(f"sqlite:///{shell.home / 'sluice.db'}")
    try:
        return await log.entries(database, 10)
    finally:
        await database.close()
