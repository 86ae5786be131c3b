"""Fields of a Messages request that can change what it costs, which model answers or whose account pays.

A hold covers the tokens of one answer of the model that was priced. What a field here would add to that is not in it,
so the field is refused by name; whatever else a provider of the dialect knows goes to it as it came.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from gateway.errors import BadRequest
from gateway.wire.body import shaped

_PRICED: Mapping[str, frozenset[str]] = {
    "billing_policy": frozenset(),
    "compaction": frozenset(),
    "container": frozenset(),
    "fallback_credit_token": frozenset(),
    "fallbacks": frozenset(),
    "inference_geo": frozenset({"global"}),
    "mcp_servers": frozenset(),
    "speed": frozenset({"standard"}),
    "thread": frozenset(),
    "user_profile_id": frozenset(),
    "workspace_id": frozenset(),
}
"""Field and the values of it that change nothing; null never does."""

CLIENT_TOOLS = ("bash_", "text_editor_", "memory_", "computer_", "browser_toolset_")
"""How the types of tools begin that the client runs itself, though the provider defines them: they cost only tokens."""

_CLEARS = "clear_"
"""How the edits of a context begin that only leave things out; another kind writes a summary, which is more output."""


class _Edit(Struct):
    type: str


class _Edits(Struct):
    edits: list[_Edit] = []


class _Managed(Struct):
    context_management: _Edits | None = None


def refuse_fees(body: Mapping[str, Any]) -> None:
    """Refuse a body that could cost more than it will be held for.

    Raises:
        BadRequest: with the field's name.
    """
    for name, value in body.items():
        lowered = name.casefold()
        harmless = value is None or (isinstance(value, str) and value in _PRICED.get(lowered, ()))
        if lowered in _PRICED and not harmless:
            raise BadRequest(f"{lowered!r} can change the price or the payer of a request and is not allowed.", lowered)
    managed = shaped(body, _Managed).context_management
    for index, edit in enumerate([] if managed is None else managed.edits):
        if not edit.type.startswith(_CLEARS):
            path = f"context_management.edits[{index}].type"
            raise BadRequest(f"The edit {edit.type!r} costs more than the answer and is not allowed.", param=path)


def refuse_server_tool(kind: str, path: str) -> None:
    """Refuse a tool that the provider runs: it bills each use beside the tokens.

    Raises:
        BadRequest: with the tool's path.
    """
    if not kind.startswith(CLIENT_TOOLS):
        text = f"Tools of the type {kind!r} are not allowed: only tools that the client runs cost no more than tokens."
        raise BadRequest(text, param=f"{path}.type")
