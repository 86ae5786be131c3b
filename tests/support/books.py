"""What a ledger comes to, read in plain SQL so that nothing of ours stands between a test and the money."""

from dataclasses import dataclass

from sqlalchemy import text

from governance.database import Database

_ENDS = """
    SELECT count(*), coalesce(sum(cost_nanos), 0),
        count(*) FILTER (WHERE kind = 'settled'), count(*) FILTER (WHERE kind = 'refused')
    FROM ledger_event WHERE kind <> 'held'
"""
_NEVER_ENDED = """
    SELECT count(*) FROM ledger_event AS held WHERE kind = 'held' AND NOT EXISTS
        (SELECT 1 FROM ledger_event AS ended WHERE ended.request_id = held.request_id AND ended.kind <> 'held')
"""
_TWICE = """
    SELECT count(*) FROM
        (SELECT request_id FROM ledger_event GROUP BY request_id, kind = 'held' HAVING count(*) > 1) AS again
"""
_ROLLED_UP = "SELECT DISTINCT sum(requests), sum(cost_nanos) FROM ledger_rollup GROUP BY dimension"


@dataclass(frozen=True, slots=True)
class Books:
    """A ledger's sums, in requests and nano-dollars.

    Attributes:
        rolled_up: the requests and the money of each dimension; one pair when all dimensions agree.
        open: requests that were held for and have no end.
        twice: requests that were held for, or ended, more than once.
    """

    ended: int
    spent: int
    settled: int
    refused: int
    attempts: int
    rolled_up: frozenset[tuple[int, int]]
    open: int
    twice: int

    @property
    def balanced(self) -> bool:
        """Whether every request has ended once and every dimension comes to the same."""
        agreed = frozenset({(self.ended, self.spent)})
        return not self.open and not self.twice and self.rolled_up == agreed


async def books(database: Database) -> Books:
    """Read a ledger's sums, all of one moment on SQLite."""
    async with database.reading() as connection:
        ended, spent, settled, refused = (await connection.execute(text(_ENDS))).one()
        rolled_up = (await connection.execute(text(_ROLLED_UP))).all()
        return Books(
            ended=int(ended),
            spent=int(spent),
            settled=int(settled),
            refused=int(refused),
            attempts=int(await connection.scalar(text("SELECT count(*) FROM ledger_attempt")) or 0),
            rolled_up=frozenset((int(requests), int(cost)) for requests, cost in rolled_up),
            open=int(await connection.scalar(text(_NEVER_ENDED)) or 0),
            twice=int(await connection.scalar(text(_TWICE)) or 0),
        )


async def ended(database: Database, least: int) -> bool:
    """Say whether so many requests have ended and their sums are rolled up."""
    found = await books(database)
    return found.ended >= least and found.balanced
