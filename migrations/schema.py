"""Every table of this program: a table is part of the schema once its module is named here."""

from typing import Final

from sqlalchemy import MetaData

from governance.alerts import tables as alerts
from governance.audit import tables as audit
from governance.confinement import tables as confinement
from governance.context import tables as context
from governance.counters import tables as counters
from governance.deferred import tables as deferred
from governance.idempotency import tables as idempotency
from governance.ledger import tables as ledger
from governance.lookups import tables as lookups
from governance.people import tables as people
from governance.policy import tables as policy

MODULES: Final = (ledger, audit, people, alerts, counters, policy, deferred, idempotency, lookups, confinement, context)
METADATA: Final[MetaData] = ledger.Base.metadata
