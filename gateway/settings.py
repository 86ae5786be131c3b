"""What the environment says about this process. Every field is listed in the README."""

from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

from gateway.errors import CannotServe
from governance.counters.open import NO_SHARED_HOME, has_shared_home


def _engine_place(url: str) -> str:
    """Refuse what names no place (nothing is no name); the address may hold a password, so it is not repeated."""
    if not url or url.startswith("unix:/") or (urlsplit(url).scheme in {"http", "https"} and urlsplit(url).hostname):
        return url
    raise PydanticCustomError("engine_url", "should be unix:/path/of/the/socket or http(s)://host:port/v1")


def _lowered(text: object) -> object:
    return text.lower() if isinstance(text, str) else text


AnswersHome = Literal["memory", "disk", "redis"]
LogLevel = Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(_lowered)]


class Settings(BaseSettings):
    """Settings of one process, read once at its start and passed on; nothing else reads the environment.

    A variable that is set to nothing counts as not set.
    """

    model_config = SettingsConfigDict(
        frozen=True, extra="ignore", env_prefix="SLUICE_", env_ignore_empty=True, populate_by_name=True
    )

    port: int = Field(default=4000, ge=0, le=65535, validation_alias="PORT")
    host: str = Field(default="127.0.0.1", validation_alias="HOST")
    home: Path = Field(default=Path("var"), validation_alias="SLUICE_HOME")
    policy: Path = Field(default=Path("policy.yaml"), validation_alias="SLUICE_POLICY")
    database_url: str = Field(default="", validation_alias="DATABASE_URL")
    redis_url: str = Field(default="", validation_alias="REDIS_URL")
    cache: Annotated[AnswersHome, BeforeValidator(_lowered)] | None = Field(
        default=None, validation_alias="SLUICE_CACHE"
    )
    cache_bytes: int | None = Field(default=None, ge=2**20, validation_alias="SLUICE_CACHE_BYTES")
    workers: int = Field(default=1, ge=1, validation_alias="WORKERS")
    store_silence_ms: int | None = Field(default=None, ge=10, le=10_000, validation_alias="SLUICE_STORE_SILENCE_MS")
    admin_key: SecretStr | None = Field(default=None, validation_alias="SLUICE_ADMIN_KEY")
    engine_url: Annotated[str, AfterValidator(_engine_place)] = Field(default="", validation_alias="SLUICE_ENGINE_URL")
    log_level: LogLevel = Field(default="info", validation_alias="SLUICE_LOG_LEVEL")

    @property
    def database(self) -> str:
        """The ledger's database: `DATABASE_URL`, or SQLite inside the home folder."""
        return self.database_url or f"sqlite:///{self.home.resolve() / 'sluice.db'}"

    @property
    def answers_home(self) -> AnswersHome:
        """Where stored answers live: where `SLUICE_CACHE` says, or in the Redis there is, or in this process."""
        return self.cache or ("redis" if self.redis_url else "memory")

    @property
    def store_silence_s(self) -> float | None:
        """How long the counters' home may answer nobody; None for what suits it."""
        return None if self.store_silence_ms is None else self.store_silence_ms / 1000

    @property
    def engine(self) -> str:
        """Where the bundled engine listens: `unix:<path>` or an http base URL."""
        return self.engine_url or f"unix:{self.home.resolve() / 'engine.sock'}"

    @property
    def policy_file(self) -> Path | None:
        """The policy file, or None when none was named and none is there: the built-in starter policy rules then."""
        named = "policy" in self.model_fields_set
        return self.policy if named or self.policy.exists() else None

    def refuse_lonely_workers(self) -> None:
        """Keep budgets true: several workers must count in one place.

        Raises:
            CannotServe: more workers are asked for, and there is no store that they share.
        """
        if self.workers > 1 and not has_shared_home(self.redis_url, self.database):
            raise CannotServe(f"WORKERS={self.workers}, but {NO_SHARED_HOME}")
