"""What callers thought of the answers that they got."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from governance.database import Database
from governance.ledger.tables import micros
from governance.lookups.tables import FeedbackRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """A score from -1 (wrong) to 1 (right), and why in the caller's own words; see `FeedbackRow`."""

    request_id: str
    at: datetime
    key_id: str
    score: float
    comment: str


async def score_of(database: Database, request_id: str) -> float:
    """Return what was last said of an answer, 0 where nobody has said anything.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    async with database.reading() as connection:
        query = select(FeedbackRow.score).where(FeedbackRow.request_id == request_id)
        return (await connection.execute(query)).scalar() or 0.0


async def keep(database: Database, feedback: Feedback) -> None:
    """Keep what a caller says; whoever changes its mind is believed the last time.

    Raises:
        StoreUnavailable: The database does not answer.
    """
    said = {
        "at": micros(feedback.at),
        "key_id": feedback.key_id,
        "score": feedback.score,
        "comment": feedback.comment,
    }
    keeping = database.insert(FeedbackRow).values(request_id=feedback.request_id, **said)
    async with database.transaction() as connection:
        await connection.execute(keeping.on_conflict_do_update(index_elements=["request_id"], set_=said))
