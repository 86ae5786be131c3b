"""The home folder: what one installation keeps on disk, and where."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Home:
    """The files of one installation, under `SLUICE_HOME`; the folder need not exist yet."""

    path: Path

    @property
    def admin_key(self) -> Path:
        """The key of the dashboard and the admin API, when it was made here."""
        return self.path / "admin.key"

    @property
    def demo_key(self) -> Path:
        """The application key of the starter policy's demo team."""
        return self.path / "demo.key"

    @property
    def session_secret(self) -> Path:
        """What signs the dashboard's session cookies."""
        return self.path / "session.secret"

    @property
    def webhook_secret(self) -> Path:
        """What signs alerts; receivers have a copy."""
        return self.path / "webhook.secret"

    @property
    def answers(self) -> Path:
        """Stored answers, where they live on disk."""
        return self.path / "answers.db"

    @property
    def vectors(self) -> Path:
        """Where the questions of stored answers are, where those live on disk."""
        return self.path / "vectors"

    @property
    def router(self) -> Path:
        """The router that was trained here; the one that comes with us is used where there is none."""
        return self.path / "router.safetensors"

    @property
    def counting(self) -> Path:
        """What has been learnt of how the models count tokens."""
        return self.path / "counting.json"

    @property
    def gateway_lock(self) -> Path:
        """Held by the gateway process that serves from this folder."""
        return self.path / "gateway.lock"

    @property
    def spool(self) -> Path:
        """Where the ledger's journals are."""
        return self.path / "spool"
