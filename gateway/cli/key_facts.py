"""How keys are named on the command line, and how they are shown: everything but their secrets."""
# ruff: noqa: PLC0415  imported when a verb runs, so that --help answers at once

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from datetime import datetime

    from governance.identity import KeyRecord

_COLUMNS = {"id": "Id", "team": "Team", "app": "App", "feature": "Feature", "name": "Name", "state": "State"}
_MAY_WRAP = ("team", "app", "feature", "name")


class KeyId(click.ParamType[str]):
    """The public id of a key, also when the whole key is given; anything else may be a secret and is not repeated."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Cut the id out, or fail as wrong usage."""
        from governance.identity import public_id_of

        key_id = public_id_of(str(value).strip())
        if key_id is None:
            self.fail("this is neither a key nor the id of one; `sluice keys list` shows the ids", param, ctx)
        return key_id


def facts_of(record: KeyRecord, at: datetime) -> dict[str, str | None]:
    """Say everything of a key but its secret."""
    caller = record.caller
    expired = record.expires_at is not None and record.expires_at <= at
    return {
        "id": caller.key_id,
        "team": caller.team,
        "app": caller.app,
        "feature": caller.feature,
        "name": caller.name,
        "state": "revoked" if record.revoked_at else "expired" if expired else "good",
        "created_at": written(record.created_at),
        "expires_at": written(record.expires_at),
        "revoked_at": written(record.revoked_at),
    }


def show_keys(found: list[dict[str, str | None]]) -> None:
    """Print keys as a table: names may wrap, what is copied from it (ids, states, dates) never does."""
    from rich.table import Table
    from rich.text import Text

    from gateway.cli.terminal import show_table
    from governance.names import shown

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, title in _COLUMNS.items():
        table.add_column(title, overflow="fold", no_wrap=name not in _MAY_WRAP)
    table.add_column("Expires", no_wrap=True)
    for facts in found:
        table.add_row(*(Text(shown(facts[name] or "")) for name in _COLUMNS), Text(facts["expires_at"] or "never"))
    show_table(table)


def written(at: datetime | None) -> str | None:
    """Write an instant as RFC 3339 does, in whole seconds."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z") if at else None
