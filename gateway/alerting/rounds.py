"""The rounds of alerting, built over the services they look at."""

import secrets
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from random import SystemRandom
from typing import Final

from structlog.typing import FilteringBoundLogger

from gateway.alerting.messages import Receiver
from gateway.alerting.sending import Sender
from gateway.alerting.watching import Watching
from gateway.governing.in_force import InForce
from gateway.operations.home import Home
from gateway.operations.rounds import Round
from gateway.operations.secrets import webhook_secret
from gateway.providers.webhooks import open_webhook_client
from governance.alerts.steps import Watch, watch_key
from governance.database import Database
from governance.identity import Keyring
from governance.purse import Purse

LOOK_S: Final = 1.0
LOOK_BACK_S: Final = 30.0
SEND_S: Final = 1.0


async def open_alerts(
    home: Home,
    in_force: InForce,
    keyring: Keyring,
    purse: Purse,
    database: Database,
    log: FilteringBoundLogger,
    stack: AsyncExitStack,
) -> tuple[Round, ...]:
    """Return the rounds that watch budgets and deliver alerts; what they hold open is closed with `stack`."""

    def receivers(team: str) -> Receiver | None:
        return in_force.governed.receivers(team)

    client = await stack.enter_async_context(open_webhook_client())
    watching = Watching(
        purse=purse,
        database=database,
        watches=lambda: (*in_force.governed.watches, *_of_keys(keyring)),
        receivers=receivers,
        timezone=lambda: in_force.governed.timezone,
        now=_now,
        log=log,
    )
    sender = Sender(
        database=database,
        client=client,
        receivers=receivers,
        secret=webhook_secret(home, secrets.token_bytes),
        now=_now,
        chance=SystemRandom().random,
        log=log,
    )
    return (
        (LOOK_S, "alerts", watching.look),
        (LOOK_BACK_S, "late alerts", watching.look_back),
        (SEND_S, "webhooks", sender.deliver),
    )


def _of_keys(keyring: Keyring) -> Iterator[Watch]:
    for caller in keyring.callers():
        for budget in caller.terms.budgets:
            yield watch_key(budget, caller.team)


def _now() -> datetime:
    return datetime.now(UTC)
