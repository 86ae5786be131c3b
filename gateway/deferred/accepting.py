"""Accept a single request as deferred work: the client asked for it, or its budget wants it to wait.

The reply is 202 with a batch of one line. What would be refused in any case is refused at once.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from gateway.deferred.lines import ENDPOINTS, RunLine
from gateway.deferred.objects import batch_object
from gateway.deferred.timetable import Timetable
from gateway.deferred.wishes import parse_wishes, read_wishes
from gateway.endpoints.edge import Visit
from gateway.errors import BadRequest
from gateway.governing.governed import Governed
from gateway.wire.reply import send_json
from gateway.wire.request.controls import read_controls
from governance.database import Database
from governance.deferred import batches
from governance.deferred.records import NewLine, Owner, Submission
from governance.errors import BudgetExhausted, IdempotencyKeyReused
from governance.identity import Caller

WINDOW: Final = timedelta(hours=24)
"""How long a deferred request may take, from when it can begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Puts single requests into the queue. `new_id` makes the ids of batches."""

    database: Database
    new_id: Callable[[], str]

    async def defer(self, path: str, visit: Visit, governed: Governed, caller: Caller, raw: bytes) -> None:
        """Accept a request whose client asked that it be deferred.

        Raises:
            BadRequest: it is malformed, or cannot be deferred.
            StoreUnavailable: the queue does not answer.
        """
        run = ENDPOINTS.get(path)
        if run is None:
            raise BadRequest("Requests of this kind cannot be deferred.", "x-sluice-priority")
        await self._accept(path, run, visit, governed, caller, raw, visit.at)

    async def queue(
        self, path: str, visit: Visit, governed: Governed, caller: Caller, raw: bytes, refusal: BudgetExhausted
    ) -> None:
        """Accept a request whose budget is used up and wants it to wait.

        Raises:
            BudgetExhausted: it cannot wait, or will never fit.
            StoreUnavailable: the queue does not answer.
        """
        run = ENDPOINTS.get(path)
        if run is None or refusal.resets_at is None or refusal.asked > refusal.limit:
            raise refusal
        try:
            run.model(raw)
        except BadRequest:  # it was understood before, so it is a stream, whose client would not know what to do
            raise refusal from None
        await self._accept(path, run, visit, governed, caller, raw, refusal.resets_at)

    async def _accept(
        self,
        path: str,
        run: RunLine,
        visit: Visit,
        governed: Governed,
        caller: Caller,
        raw: bytes,
        earliest: datetime,
    ) -> None:
        model, wishes, owner = run.model(raw), read_wishes(visit.headers), Owner(caller.team, caller.app)
        entitled = governed.admission.admit(caller, wishes.offered(None, None))
        governed.catalogue.wish(model, run.kind, entitled.grant)
        begins = Timetable.of(governed.policy.document).opens(owner, earliest)
        key = read_controls(visit.headers).idempotency_key
        if key is not None:
            wishes = replace(wishes, body=sha256(raw).hexdigest())
        handed_in = Submission(
            id=self.new_id() if key is None else _named(caller, key),
            owner=owner,
            key_id=caller.key_id,
            endpoint=path,
            completion_window="24h",
            expires_at=begins + WINDOW,
            asked=wishes.written(),
        )
        batch = await batches.enqueue(
            self.database, handed_in, NewLine(1, visit.request_id, raw), visit.at, not_before=begins
        )
        if key is not None and parse_wishes(batch.asked).body != wishes.body:
            raise IdempotencyKeyReused
        wait_s = max(1, math.ceil((begins - visit.at).total_seconds()))
        headers = {"x-request-id": visit.request_id, "location": f"/v1/batches/{batch.id}", "retry-after": str(wait_s)}
        await send_json(
            visit.send, 202, batch_object(batch), [(name.encode(), value.encode()) for name, value in headers.items()]
        )


def _named(caller: Caller, key: str) -> str:
    """Return the id of the batch that a request under an idempotency key is, whenever it comes."""
    return f"batch_{sha256(f'{caller.key_id} {key}'.encode()).hexdigest()[:24]}"
