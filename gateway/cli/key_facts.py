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


Facts = dict[str, "str | list[str] | None"]


def facts_of(record: KeyRecord, at: datetime) -> Facts:
    """Say everything of a key but its secret."""
    caller, terms = record.caller, record.caller.terms
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
        "tiers": None if terms.tiers is None else list(terms.tiers),
        "models": None if terms.models is None else list(terms.models),
        "budgets": [f"{budget.limit.usd}/{budget.window.value}" for budget in terms.budgets],
    }


def show_keys(found: list[Facts]) -> None:
    """Print keys as a table: names may wrap, what is copied from it (ids, states, dates) never does."""
    from rich.table import Table
    from rich.text import Text

    from gateway.cli.terminal import show_table
    from governance.names import shown

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name, title in _COLUMNS.items():
        table.add_column(title, overflow="fold", no_wrap=name not in _MAY_WRAP)
    table.add_column("Only", overflow="fold")
    table.add_column("Expires", no_wrap=True)
    for facts in found:
        only = ", ".join(word for part in ("tiers", "models", "budgets") for word in facts[part] or ())
        cells = (*(str(facts[name] or "") for name in _COLUMNS), only, str(facts["expires_at"] or "never"))
        table.add_row(*(Text(shown(cell)) for cell in cells))
    show_table(table)


def written(at: datetime | None) -> str | None:
    """Write an instant as RFC 3339 does, in whole seconds."""
    return at.isoformat(timespec="seconds").replace("+00:00", "Z") if at else None
