"""The command line run inside the test, with a home and an environment of its own."""

from __future__ import annotations

import json
from contextlib import chdir
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from gateway.cli import sluice

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@dataclass(frozen=True, slots=True)
class CommandLine:
    """Runs `sluice …` with `home` as its home folder and no policy file unless one is written."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict[str, str])

    def run(self, *arguments: str, **environment: str) -> Result:
        """Return what a shell would see."""
        written = self.home / "policy.yaml"
        settings = {"SLUICE_HOME": str(self.home), "SLUICE_POLICY": str(written) if written.exists() else None}
        runner = CliRunner(env={**settings, **self.environment, **environment})
        with chdir(self.home.parent):  # where no policy lies about
            return runner.invoke(sluice, arguments, prog_name="sluice")

    def json(self, *arguments: str) -> Any:
        """Return what a verb that must succeed says to programs."""
        result = self.run(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)
