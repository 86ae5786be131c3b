"""The table of alerts."""

from sqlalchemy import Index, Integer
from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class AlertRow(Base):
    """A step that has fired (see `governance.alerts.steps.Alert`), and how far its delivery has come.

    `state` is one of `governance.alerts.outbox.Delivery`. A message that waits may be tried from `due_at` on; whoever
    tries it first moves `due_at` ahead, so that nobody else does at the same time. `window_end` of a rolling window
    moves on while its step stays reached.
    """

    __tablename__ = "alert"
    __table_args__ = (
        Index("ix_alert_state_due_at", "state", "due_at"),
        Index("ix_alert_scope_window_end", "scope", "window_end"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    scope: Mapped[str]
    team: Mapped[str]
    window: Mapped[str]
    window_start: Mapped[int]
    window_end: Mapped[int]
    percent: Mapped[int] = mapped_column(Integer)
    limit_nanos: Mapped[int]
    settled_nanos: Mapped[int]
    fired_at: Mapped[int]
    state: Mapped[str]
    attempts: Mapped[int] = mapped_column(Integer)
    due_at: Mapped[int]
    sent_at: Mapped[int | None]
