"""The table of what prompts were made of."""

from sqlalchemy.orm import Mapped, mapped_column

from governance.ledger.tables import Base


class ContextHourRow(Base):
    """What the prompts of one feature were made of in one hour (UTC); see `governance.context.hours`.

    Attributes:
        hour: Its beginning, in microseconds since the epoch.
        requests: Those that were audited and bought.
        turns: How many turns they had.
        idle: Tokens of tools that none of the feature's latest conversations has called.
        cut: Tokens that were cut.
        input_nanos: What their prompts have cost, in nano-dollars.
        repeated_nanos: What of it was for what is said twice, and `unused_nanos` for tools that were not called.
        saved_nanos: What the tokens that were cut would have cost.

    The other figures are the sums of the tokens of `governance.context.auditing.Audit`.
    """

    __tablename__ = "context_hour"

    hour: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    team: Mapped[str] = mapped_column(primary_key=True)
    app: Mapped[str] = mapped_column(primary_key=True)
    feature: Mapped[str] = mapped_column(primary_key=True)
    requests: Mapped[int]
    turns: Mapped[int]
    tokens: Mapped[int]
    system: Mapped[int]
    tools: Mapped[int]
    history: Mapped[int]
    retrieved: Mapped[int]
    asked: Mapped[int]
    same: Mapped[int]
    near: Mapped[int]
    unused: Mapped[int]
    idle: Mapped[int]
    lead: Mapped[int]
    stable: Mapped[int]
    grown: Mapped[int]
    edge: Mapped[int]
    middle: Mapped[int]
    cut: Mapped[int]
    input_nanos: Mapped[int]
    repeated_nanos: Mapped[int]
    unused_nanos: Mapped[int]
    saved_nanos: Mapped[int]
