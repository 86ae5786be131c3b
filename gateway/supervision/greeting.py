"""What `sluice up` prints when everything answers: where things are, and a line to try."""

import json
from dataclasses import dataclass
from pathlib import Path

from gateway.operations.home import Home
from gateway.supervision.suggestion import Suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """Facts for a person or a program in front of a gateway that has just come up.

    Attributes:
        origin: scheme, host and port to reach it at, such as `http://127.0.0.1:4000`.
        home: where its keys are.
        suggestion: what to try; None when the policy lets nobody ask.
        command: how this person calls `sluice`.
    """

    origin: str
    home: Path
    suggestion: Suggestion | None
    command: str = "sluice"

    def facts(self) -> dict[str, str | None]:
        """Return the same facts for a program."""
        admin, to_try = Home(self.home).admin_key, self.suggestion
        return {
            "base_url": f"{self.origin}/v1",
            "dashboard": f"{self.origin}/admin",
            "admin_key_file": str(admin) if admin.exists() else None,
            "demo_key_file": self._demo_key(),
            "team": to_try and to_try.team,
            "app": to_try and to_try.app,
            "model": to_try and to_try.model,
        }

    def text(self) -> str:
        """Return the greeting as a person reads it."""
        facts = self.facts()
        lines = [
            "",
            "Sluice is ready.",
            "",
            f"  Base URL    {facts['base_url']}",
            f"  Dashboard   {facts['dashboard']}",
            f"  Admin key   {facts['admin_key_file'] or 'the one in SLUICE_ADMIN_KEY'}",
        ]
        if demo_key := facts["demo_key_file"]:
            lines.append(f"  Demo key    {demo_key}")
        return "\n".join((*lines, "", *self._to_try(demo_key), "", "Ctrl-C stops all of it."))

    def _demo_key(self) -> str | None:
        """Return the file of the demo app's key, which may lie there from an earlier policy that had the app."""
        path = Home(self.home).demo_key
        return str(path) if self.suggestion and self.suggestion.is_demo and path.exists() else None

    def _to_try(self, demo_key: str | None) -> list[str]:
        if self.suggestion is None:
            return ["The policy has no app yet, so nobody can ask: give a team one."]
        team, app, model = self.suggestion.team, self.suggestion.app, self.suggestion.model
        make_key = f"  SLUICE_KEY=$({self.command} keys create --team {team} --app {app})"
        body = json.dumps({"model": model or "MODEL", "messages": [{"role": "user", "content": "Hello!"}]})
        bearer = f"$(cat {demo_key})" if demo_key else "$SLUICE_KEY"
        return [
            "Try it:",
            *([] if demo_key else [make_key]),
            f"  curl {self.origin}/v1/chat/completions \\",
            f'    -H "Authorization: Bearer {bearer}" -H "Content-Type: application/json" \\',
            f"    -d '{body}'",
        ]
