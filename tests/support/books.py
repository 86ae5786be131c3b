"""What a ledger comes to, read in plain SQL so that nothing of ours stands between a test and the money."""

from dataclasses import dataclass

from sqlalchemy import text

from governance.database import Database

_ENDS = """
    SELECT count(*), coalesce(sum(cost_nanos), 0),
        count(*) FILTER (WHERE kind = 'settled'), count(*) FILTER (WHERE kind = 'refused'),
        coalesce(sum(saved_prefix_nanos), 0)
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
_ATTEMPTS = "SELECT count(*), coalesce(sum(saved_prefix_nanos), 0) FROM ledger_attempt"
_ROLLED_UP = (
    "SELECT DISTINCT sum(requests), sum(cost_nanos), sum(saved_prefix_nanos) FROM ledger_rollup GROUP BY dimension"
)


@dataclass(frozen=True, slots=True)
class Books:
    """A ledger's sums, in requests and nano-dollars.

    Attributes:
        prefixes: what providers' caches of prompts have saved, less what writing them cost.
        by_attempts: the same, added up over the attempts.
        rolled_up: the requests, the money and the savings of prefixes by each dimension; one when all dimensions agree.
        open: requests that were held for and have no end.
        twice: requests that were held for, or ended, more than once.
    """

    ended: int
    spent: int
    settled: int
    refused: int
    attempts: int
    prefixes: int
    by_attempts: int
    rolled_up: frozenset[tuple[int, int, int]]
    open: int
    twice: int

    @property
    def balanced(self) -> bool:
        """Whether every request has ended once and every dimension comes to the same."""
        agreed = frozenset({(self.ended, self.spent, self.prefixes)})
        saved = self.prefixes == self.by_attempts
        return not self.open and not self.twice and saved and self.rolled_up == agreed


async def books(database: Database) -> Books:
    """Read a ledger's sums, all of one moment on SQLite."""
    async with database.reading() as connection:
        ended, spent, settled, refused, prefixes = (await connection.execute(text(_ENDS))).one()
        attempts, by_attempts = (await connection.execute(text(_ATTEMPTS))).one()
        rolled_up = (await connection.execute(text(_ROLLED_UP))).all()
        return Books(
            ended=int(ended),
            spent=int(spent),
            settled=int(settled),
            refused=int(refused),
            attempts=int(attempts),
            prefixes=int(prefixes),
            by_attempts=int(by_attempts),
            rolled_up=frozenset((int(requests), int(cost), int(saved)) for requests, cost, saved in rolled_up),
            open=int(await connection.scalar(text(_NEVER_ENDED)) or 0),
            twice=int(await connection.scalar(text(_TWICE)) or 0),
        )


async def ended(database: Database, least: int) -> bool:
    """Say whether so many requests have ended and their sums are rolled up."""
    found = await books(database)
    return found.ended >= least and found.balanced
