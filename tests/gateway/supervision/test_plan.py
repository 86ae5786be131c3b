import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.errors import CannotServe, HomeInUse, PortTaken
from gateway.operations.home import Home
from gateway.operations.lock import lock
from gateway.policy.problems import PolicyInvalid
from gateway.policy.source import load_policy
from gateway.settings import Settings
from gateway.supervision.greeting import Greeting
from gateway.supervision.plan import Voice, plan_of, run_up, wants_engine
from gateway.supervision.probe import Place

EXAMPLE = Path(__file__).parents[2] / "support" / "policies" / "example.yaml"
SILENT = Voice(greet=Greeting.text, announce=lambda _: None, say=lambda _: None)
AT = datetime(2026, 11, 29, tzinfo=UTC)
STARTER = load_policy(None, {}, AT)


def settings(home: Path, host: str = "127.0.0.1") -> Settings:
    return Settings(home=home, host=host)


@pytest.fixture(autouse=True)
def no_policy_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_engine_listens_where_the_gateway_looks_for_it(tmp_path: Path) -> None:
    path = tmp_path / "engine.sock"
    plan = plan_of(settings(tmp_path), {"A": "b"}, Greeting.text, STARTER, port=4321, socket=path)
    assert plan.engine is not None
    assert plan.engine.line[-2:] == ("--uds", str(path))
    assert plan.gateway.line[-1] == "serve"
    assert plan.engines == {"engine"}
    assert plan.gateway.environment == {"A": "b", "PORT": "4321", "SLUICE_ENGINE_URL": f"unix:{path}"}


def test_without_a_socket_no_engine_is_started_and_the_gateway_is_told_of_none(tmp_path: Path) -> None:
    plan = plan_of(settings(tmp_path), {}, Greeting.text, STARTER, port=4321, socket=None)
    assert plan.engine is None
    assert "SLUICE_ENGINE_URL" not in plan.gateway.environment


@pytest.mark.parametrize(("host", "called"), [("0.0.0.0", "127.0.0.1"), ("127.0.0.1", "127.0.0.1")])  # noqa: S104
def test_a_wildcard_address_is_called_on_this_machine(tmp_path: Path, host: str, called: str) -> None:
    plan = plan_of(settings(tmp_path, host), {}, Greeting.text, STARTER, port=4321, socket=None)
    assert plan.ready_at == Place(host=called, port=4321)


def test_only_a_policy_with_the_bundled_engine_wants_it() -> None:
    document = STARTER.document
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


def test_a_second_start_in_a_home_touches_nothing_of_the_first(tmp_path: Path) -> None:
    said: list[str] = []
    voice = Voice(greet=Greeting.text, announce=said.append, say=said.append)
    with lock(Home(tmp_path), 4321), pytest.raises(HomeInUse, match="on port 4321"):
        run_up(settings(tmp_path).model_copy(update={"port": 0}), {}, voice, AT)
    assert [path.name for path in tmp_path.iterdir()] == ["gateway.lock"]
    assert said == []


def test_more_workers_than_one_are_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(CannotServe, match="WORKERS=2"):
        run_up(settings(tmp_path).model_copy(update={"workers": 2}), {}, SILENT, AT)
    assert list(tmp_path.iterdir()) == []


def test_a_named_policy_that_is_missing_stops_it(tmp_path: Path) -> None:
    with pytest.raises(PolicyInvalid, match="cannot be read: No such file"):
        run_up(Settings(home=tmp_path, policy=tmp_path / "absent.yaml"), {}, SILENT, AT)


def test_a_home_that_is_a_file_stops_it_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotServe, match="is a file; give it a folder"):
        run_up(settings(tmp_path / "file").model_copy(update={"port": 0}), {}, SILENT, AT)
