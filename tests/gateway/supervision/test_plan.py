import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.errors import PortTaken
from gateway.policy.source import load_policy
from gateway.settings import Settings
from gateway.supervision.greeting import Greeting
from gateway.supervision.plan import Voice, plan_of, run_up, wants_engine
from gateway.supervision.probe import Place

EXAMPLE = Path(__file__).parents[2] / "support" / "policies" / "example.yaml"
SILENT = Voice(greet=Greeting.text, announce=lambda _: None, say=lambda _: None)
AT = datetime(2026, 11, 29, tzinfo=UTC)


def settings(home: Path, host: str = "127.0.0.1") -> Settings:
    return Settings(home=home, host=host)


@pytest.fixture(autouse=True)
def no_policy_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_engine_listens_where_the_gateway_looks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "engine.sock"
    plan = plan_of(settings(tmp_path), {"A": "b"}, Greeting.text, port=4321, socket=path, model="auto")
    assert plan.engine is not None
    assert plan.engine.line[-2:] == ("--uds", str(path))
    assert plan.gateway.line[-1] == "serve"
    assert plan.gateway.environment == {"A": "b", "PORT": "4321", "SLUICE_ENGINE_URL": f"unix:{path}"}


def test_without_a_socket_no_engine_is_started_and_the_gateway_is_told_of_none(tmp_path: Path) -> None:
    plan = plan_of(settings(tmp_path), {}, Greeting.text, port=4321, socket=None, model="auto")
    assert plan.engine is None
    assert "SLUICE_ENGINE_URL" not in plan.gateway.environment


@pytest.mark.parametrize(("host", "called"), [("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")])  # noqa: S104
def test_a_wildcard_address_is_called_on_this_machine(tmp_path: Path, host: str, called: str) -> None:
    plan = plan_of(settings(tmp_path, host), {}, Greeting.text, port=4321, socket=None, model="auto")
    assert plan.ready_at == Place(host=called, port=4321)


def test_only_a_policy_with_the_bundled_engine_wants_it() -> None:
    document = load_policy(None, {}, AT).document
    assert wants_engine(document)
    cloud = {name: p for name, p in load_policy(EXAMPLE, {}, AT).document.providers.items() if p.kind != "engine"}
    assert not wants_engine(document.model_copy(update={"providers": cloud}))


def test_a_taken_port_stops_it_before_anything_is_made_or_started(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = settings(home).model_copy(update={"port": server.getsockname()[1]})
        with pytest.raises(PortTaken):
            run_up(taken, {}, SILENT, AT)
    assert not home.exists()


def test_the_greeting_names_the_keys_that_are_there_and_a_line_to_try(tmp_path: Path) -> None:
    greeting = Greeting(origin="http://127.0.0.1:4000", home=tmp_path, model="auto")
    assert "the one in SLUICE_ADMIN_KEY" in greeting.text()
    assert "sluice keys create" in greeting.text()
    (tmp_path / "admin.key").touch()
    (tmp_path / "demo.key").touch()
    assert f"Admin key   {tmp_path}/admin.key" in greeting.text()
    assert f'"Authorization: Bearer $(cat {tmp_path}/demo.key)"' in greeting.text()
    assert greeting.facts()["base_url"] == "http://127.0.0.1:4000/v1"
