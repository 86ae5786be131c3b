"""What the environment says about this process. Every field is listed in the README."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings of one process, read once at its start and passed on; nothing else reads the environment."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_prefix="SLUICE_", populate_by_name=True)

    port: int = Field(default=4000, ge=0, le=65535, validation_alias="PORT")
    host: str = Field(default="127.0.0.1", validation_alias="HOST")
    home: Path = Field(default=Path("var"), validation_alias="SLUICE_HOME")
    policy: Path = Field(default=Path("policy.yaml"), validation_alias="SLUICE_POLICY")
    database_url: str = Field(default="", validation_alias="DATABASE_URL")
    redis_url: str = Field(default="", validation_alias="REDIS_URL")
    workers: int = Field(default=1, ge=1, validation_alias="WORKERS")
    admin_key: SecretStr | None = Field(default=None, validation_alias="SLUICE_ADMIN_KEY")
    engine_url: str = Field(default="", validation_alias="SLUICE_ENGINE_URL")
    log_level: str = Field(default="info", validation_alias="SLUICE_LOG_LEVEL")

    @property
    def database(self) -> str:
        """The ledger's database: `DATABASE_URL`, or SQLite inside the home folder."""
        return self.database_url or f"sqlite:///{self.home.resolve() / 'sluice.db'}"

    @property
    def engine(self) -> str:
        """Where the bundled engine listens: `unix:<path>` or an http base URL."""
        return self.engine_url or f"unix:{self.home.resolve() / 'engine.sock'}"

    @property
    def policy_file(self) -> Path | None:
        """The policy file, or None when there is none and the starter policy rules."""
        return self.policy if self.policy.exists() else None
