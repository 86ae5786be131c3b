"""Deliver alerts: what is due in the outbox, at least once, later again when a receiver does not accept it."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import httpx
from structlog.typing import FilteringBoundLogger

from gateway.alerting.messages import Receiver, body, headers
from gateway.alerting.watching import Receivers
from governance.alerts.outbox import Delivery, accept, claim, close, postpone
from governance.alerts.steps import Alert
from governance.database import Database

AT_ONCE: Final = 10
"""How many deliveries are under way at most; all others wait in the database, so memory is bounded."""

ATTEMPTS: Final = 16
_LONGEST_WAIT_S: Final = 3600.0
_TIMEOUT_S: Final = 10.0


class Sender:
    """Delivers alerts.

    Args:
        database: where the outbox is.
        client: how receivers are reached; follows no redirects.
        receivers: where a team's alerts go.
        secret: signs every delivery.
        now: an aware clock.
        chance: a number from 0 to 1, anew at each call, so that receivers are not met by all senders at one moment.
        log: told of what is not accepted.
    """

    def __init__(
        self,
        *,
        database: Database,
        client: httpx.AsyncClient,
        receivers: Receivers,
        secret: bytes,
        now: Callable[[], datetime],
        chance: Callable[[], float],
        log: FilteringBoundLogger,
    ) -> None:
        self._database = database
        self._client = client
        self._receivers = receivers
        self._secret = secret
        self._now = now
        self._chance = chance
        self._log = log

    async def deliver(self) -> None:
        """Deliver what is due now.

        Raises:
            StoreUnavailable: The database does not answer; what was delivered meanwhile may be delivered again.
        """
        claimed = await claim(self._database, self._now(), AT_ONCE)
        await asyncio.gather(*(self._deliver(alert, attempt) for alert, attempt in claimed))

    async def _deliver(self, alert: Alert, attempt: int) -> None:
        receiver = self._receivers(alert.team)
        if receiver is None:
            await close(self._database, alert, Delivery.LOGGED)
            return
        reason = await self._post(alert, receiver)
        if reason is None:
            await accept(self._database, alert, self._now(), receiver.host)
        elif attempt >= ATTEMPTS:
            self._log.error("alert given up", alert=alert.id, to=receiver.host, attempts=attempt, reason=reason)
            await close(self._database, alert, Delivery.GIVEN_UP)
        else:
            wait = timedelta(seconds=min(2.0**attempt, _LONGEST_WAIT_S) * (0.5 + self._chance()))
            self._log.warning("alert not accepted", alert=alert.id, to=receiver.host, attempt=attempt, reason=reason)
            await postpone(self._database, alert, self._now() + wait)

    async def _post(self, alert: Alert, receiver: Receiver) -> str | None:
        """Post an alert; None when it was accepted, otherwise why not, in words that hold no address."""
        content = body(alert, receiver)
        signed = headers(alert, content, self._secret, self._now())
        try:
            async with (
                asyncio.timeout(_TIMEOUT_S),
                self._client.stream("POST", receiver.url, content=content, headers=signed) as reply,
            ):
                return None if reply.is_success else f"it answered {reply.status_code}"
        except TimeoutError:
            return "it did not answer in time"
        except (httpx.HTTPError, OSError) as error:
            return type(error).__name__
