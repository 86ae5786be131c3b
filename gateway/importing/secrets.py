"""Keys and addresses as names of variables. No secret is copied: not into the policy, nor into what is said of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import AnyHttpUrl, TypeAdapter, ValidationError

if TYPE_CHECKING:
    from gateway.importing.source import Source
    from gateway.policy.positions import Path

_REFERENCE = re.compile(r"os\.environ/([A-Za-z_][A-Za-z0-9_]*)")
_ADDRESS = TypeAdapter(AnyHttpUrl)
_NO_KEY = frozenset({"none", "null", "empty", "na", "n/a", "not-needed", "dummy"})
"""What people write for the key of a server that wants none."""


@dataclass(frozen=True, slots=True)
class Secrets:
    """Names the variables that secrets of one config come from; the same secret gets the same name."""

    source: Source
    _names: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    def key(self, path: Path, owner: str) -> str | None:
        """Return `${NAME}` for the key at a path, or None where there is none."""
        value = self.source.text(*path)
        if value is None or value.lower() in _NO_KEY:
            return None
        return variable(value) or self._named(path, value, f"{owner}_KEY")

    def address(self, path: Path, owner: str) -> str | None:
        """Return the address at a path: as it is, unless it comes from the environment or holds a secret."""
        value = self.source.text(*path)
        reference = None if value is None else variable(value)
        if value is None or reference:
            return reference
        try:
            parts = _ADDRESS.validate_python(value)
        except ValidationError:
            return self.source.leave_out(path, "Should be an address that begins with http:// or https://.")
        if parts.username or parts.password or parts.query or parts.fragment or "$" in value:
            return self._named(path, value, f"{owner}_URL")
        return value.rstrip("/")

    def _named(self, path: Path, secret: str, stem: str) -> str:
        name = self._names.get(secret)
        if name is None:
            stem = re.sub(r"[^A-Z0-9]+", "_", stem.upper())
            used = {*self._names.values()}
            numbered = (f"{stem}_{number}" for number in range(1, len(used) + self.source.text_as_read.count(stem) + 2))
            name = next(new for new in numbered if new not in used and new not in self.source.text_as_read)
            self._names[secret] = name
        self.source.change(path, f"A secret is written here: set it as {name} in the environment of the gateway.")
        return f"${{{name}}}"


def variable(value: str) -> str | None:
    """Return `${NAME}` for LiteLLM's `os.environ/NAME`, or None for any other text."""
    match = _REFERENCE.fullmatch(value)
    return f"${{{match[1]}}}" if match else None
