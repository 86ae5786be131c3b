"""Since when a step of a rolling window has been reached: the ledger tells, where nobody looked meanwhile.

Nobody looks while no gateway runs, nor at the budget of a value that does not spend. Then a cover may have shown the
window in which nothing was noted, though what had been spent before still reached the step.
"""

from dataclasses import replace

from governance.alerts.steps import Alert
from governance.database import Database
from governance.ledger.reading.spending import spent_over


async def traced(database: Database, alert: Alert) -> Alert:
    """Move `unbroken_since` back over the covers before that reached the step.

    It ends where one did not, and at the latest where what was spent then is no longer in the window.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    since = alert.unbroken_since
    if since is None:
        return alert
    part = alert.window_end - since
    start, end = alert.window_start - part, since
    while end > alert.window_start:
        (settled,) = await spent_over(database, alert.scope, (start, end))
        if not alert.is_reached(settled):
            break
        start, end = start - part, end - part
    return replace(alert, unbroken_since=end)
