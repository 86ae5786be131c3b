from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.errors import CannotServe
from gateway.settings import Settings


def test_the_starter_policy_rules_only_where_no_policy_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLUICE_POLICY", raising=False)
    assert Settings().policy_file is None
    (tmp_path / "policy.yaml").touch()
    assert Settings().policy_file == Path("policy.yaml")
    monkeypatch.setenv("SLUICE_POLICY", "missing.yaml")
    assert Settings().policy_file == Path("missing.yaml")


def test_a_variable_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "SLUICE_ADMIN_KEY", "SLUICE_POLICY", "SLUICE_LOG_LEVEL"):
        monkeypatch.setenv(name, "")
    settings = Settings()
    assert (settings.port, settings.admin_key, settings.log_level) == (4000, None, "info")


@pytest.mark.parametrize("level", ["debug", "INFO", "Warning"])
def test_a_log_level_is_one_of_four_words(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_LOG_LEVEL", level)
    assert Settings().log_level == level.lower()
    monkeypatch.setenv("SLUICE_LOG_LEVEL", "loud")
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.parametrize("url", ["unix:/run/e.sock", "http://127.0.0.1:8001", "https://engine.example.com/v1"])
def test_an_engine_is_at_a_socket_or_a_web_address(url: str) -> None:
    assert Settings(engine_url=url).engine == url


@pytest.mark.parametrize("url", ["engine", "ftp://u:hunter2@host", "unix:e.sock", "http://", "http://[::1"])
def test_another_place_of_an_engine_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Settings(engine_url=url)
    assert "hunter2" not in refused.value.errors()[0]["msg"]


def test_more_workers_than_one_are_refused_with_the_reason_unless_they_share_a_store() -> None:
    Settings(workers=1).refuse_lonely_workers()
    Settings(workers=2, redis_url="redis://127.0.0.1").refuse_lonely_workers()
    with pytest.raises(CannotServe, match="WORKERS=2, but budgets"):
        Settings(workers=2).refuse_lonely_workers()


def test_how_long_a_store_may_be_silent_is_the_store_s_own_unless_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().store_silence_s is None
    monkeypatch.setenv("SLUICE_STORE_SILENCE_MS", "400")
    assert Settings().store_silence_s == 0.4
    monkeypatch.setenv("SLUICE_STORE_SILENCE_MS", "0")
    with pytest.raises(ValidationError):
        Settings()
