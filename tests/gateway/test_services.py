"""What a start finds and leaves behind."""

from pathlib import Path

import pytest

from gateway.errors import HomeInUse
from gateway.services import open_services
from gateway.settings import Settings
from governance.identity import Caller


def settings(home: Path) -> Settings:
    return Settings(home=home, engine_url=f"unix:{home}/none.sock", log_level="error")


@pytest.fixture(autouse=True)
def no_policy_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


async def demo_caller(home: Path) -> Caller:
    async with open_services(settings(home), {}) as services:
        key = (home / "demo.key").read_text().strip()
        return services.keyring.authenticate(key, services.now())


async def test_a_first_start_leaves_keys_that_only_their_owner_may_read(tmp_path: Path) -> None:
    caller = await demo_caller(tmp_path / "home")

    assert (caller.team, caller.app) == ("demo", "demo")
    for name in ("admin.key", "demo.key", "session.secret"):
        assert (tmp_path / "home" / name).stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700


async def test_a_second_start_keeps_the_demo_key(tmp_path: Path) -> None:
    first = await demo_caller(tmp_path)

    assert await demo_caller(tmp_path) == first


async def test_a_demo_key_of_a_lost_database_is_made_anew(tmp_path: Path) -> None:
    first = await demo_caller(tmp_path)
    (tmp_path / "sluice.db").unlink()

    assert (await demo_caller(tmp_path)).key_id != first.key_id


async def test_a_home_serves_one_gateway(tmp_path: Path) -> None:
    async with open_services(settings(tmp_path), {}):
        with pytest.raises(HomeInUse):
            async with open_services(settings(tmp_path), {}):
                pass
