"""What `sluice up` prints when everything answers: where things are, and a line to try."""

from dataclasses import dataclass
from pathlib import Path

from gateway.operations.home import Home


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """Facts for a person or a program in front of a gateway that has just come up.

    Attributes:
        origin: scheme, host and port to reach it at, such as `http://127.0.0.1:4000`.
        home: where its keys are.
        model: a model or route to try.
    """

    origin: str
    home: Path
    model: str

    def facts(self) -> dict[str, str | None]:
        """Return the same facts for a program."""
        home = Home(self.home)
        return {
            "base_url": f"{self.origin}/v1",
            "dashboard": f"{self.origin}/admin",
            "admin_key_file": str(home.admin_key) if home.admin_key.exists() else None,
            "demo_key_file": str(home.demo_key) if home.demo_key.exists() else None,
            "model": self.model,
        }

    def text(self) -> str:
        """Return the greeting as a person reads it."""
        home = Home(self.home)
        admin = str(home.admin_key) if home.admin_key.exists() else "the one in SLUICE_ADMIN_KEY"
        if home.demo_key.exists():
            key_line, bearer = f"  Demo key    {home.demo_key}", f"$(cat {home.demo_key})"
        else:
            key_line, bearer = "  Make a key  sluice keys create --team TEAM --app APP", "$SLUICE_KEY"
        return "\n".join(
            (
                "",
                "Sluice is ready.",
                "",
                f"  Base URL    {self.origin}/v1",
                f"  Dashboard   {self.origin}/admin",
                f"  Admin key   {admin}",
                key_line,
                "",
                "Try it:",
                f"  curl {self.origin}/v1/chat/completions \\",
                f'    -H "Authorization: Bearer {bearer}" -H "Content-Type: application/json" \\',
                f"""    -d '{{"model": "{self.model}", "messages": [{{"role": "user", "content": "Hello!"}}]}}'""",
                "",
                "Ctrl-C stops all of it.",
            )
        )
