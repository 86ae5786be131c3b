"""Where limits stand: counters and their levels, shown as the budgets and rates they are for."""

from governance.counters import CounterKey, Level, Unit
from governance.limits import RateStanding, Standing
from governance.money import Nanodollars


def standing_of(counter: CounterKey, limit: int, level: Level) -> Standing | None:
    """Show a counter as a budget, or None when it counts no money or nobody knows its level."""
    if counter.unit is not Unit.SPEND or counter.window is None or not level.firm:
        return None
    return Standing(
        scope=counter.scope,
        window=counter.window.kind,
        limit=Nanodollars(limit),
        settled=Nanodollars(level.settled),
        held=Nanodollars(level.held),
        remaining=Nanodollars(max(0, limit - level.settled - level.held)),
        resets_at=counter.window.end,
    )


def rate_standing_of(counter: CounterKey, limit: int, level: Level) -> RateStanding | None:
    """Show a counter as a per-minute limit, or None when it is no such thing or nobody knows its level."""
    requests = counter.unit is Unit.REQUESTS
    if counter.window is None or not (requests or counter.unit is Unit.TOKENS) or not level.firm:
        return None
    return RateStanding(
        scope=counter.scope,
        unit="requests" if requests else "tokens",
        limit=limit,
        remaining=max(0, limit - level.settled - level.held),
        resets_at=counter.window.end,
    )
