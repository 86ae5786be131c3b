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
from gateway.alerting.watching import Receivers, Watching
from gateway.operations.home import Home
from gateway.operations.rounds import Round
from gateway.operations.secrets import webhook_secret
from gateway.policy.document import Policy
from gateway.policy.source import LoadedPolicy
from gateway.providers.webhooks import open_webhook_client
from governance.alerts.steps import Watch, watch_key, watches_of
from governance.database import Database
from governance.identity import Keyring
from governance.policy.sections import Alerts
from governance.purse import Purse

LOOK_S: Final = 1.0
LOOK_BACK_S: Final = 30.0
SEND_S: Final = 1.0


async def open_alerts(
    home: Home,
    policy: LoadedPolicy,
    keyring: Keyring,
    purse: Purse,
    database: Database,
    log: FilteringBoundLogger,
    stack: AsyncExitStack,
) -> tuple[Round, ...]:
    """Return the rounds that watch budgets and deliver alerts; what they hold open is closed with `stack`."""
    of_policy = watches_of(policy.document.budgets, policy.document.teams)
    receivers = receivers_of(policy.document)
    client = await stack.enter_async_context(open_webhook_client())
    watching = Watching(
        purse=purse,
        database=database,
        watches=lambda: (*of_policy, *_of_keys(keyring)),
        receivers=receivers,
        timezone=policy.rules.timezone,
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


def receivers_of(document: Policy) -> Receivers:
    """Return where a team's alerts go: to its own webhook, or else to the one at the top of the policy."""
    top = _receiver(document.alerts)
    own = {team.name: _receiver(team.alerts) for team in document.teams}
    return lambda team: own.get(team) or top


def _receiver(alerts: Alerts | None) -> Receiver | None:
    return None if alerts is None or alerts.webhook is None else Receiver(str(alerts.webhook))


def _of_keys(keyring: Keyring) -> Iterator[Watch]:
    for caller in keyring.callers():
        for budget in caller.terms.budgets:
            yield watch_key(budget, caller.team)


def _now() -> datetime:
    return datetime.now(UTC)
