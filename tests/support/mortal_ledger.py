"""A process that writes a ledger and is killed, again and again: `python mortal_ledger.py FOLDER ROUNDS SEED`.

Each round forks a child that opens the ledger in the folder, takes over what the one before it left, and records
requests as a purse would. It tells a pipe of each record once `append` has returned. At a random moment it is killed
with SIGKILL. What the pipe was told goes to the file `acknowledged`, a line for each record: its kind and its request.
"""

import asyncio
import os
import random
import select
import signal
import sys
import time
from itertools import count
from pathlib import Path

from governance.database import open_database
from governance.ledger.events import EventKind, LedgerAttempt, LedgerEvent
from governance.ledger.writer import LedgerWriter
from governance.money import Nanodollars
from governance.prices import Usage
from tests.support.requests import NOON, attempt, opening, settlement

_MOST_S = 0.25


async def _live(folder: Path, life: int, told: int, chance: random.Random) -> None:
    """Record requests without end; every third is left open, some are refused."""
    database = open_database(f"sqlite:///{folder / 'sluice.db'}")
    async with LedgerWriter(database, folder / "spool", segment_bytes=256 * 1024) as writer:
        for number in count():
            asked = opening(
                f"{life}-{number}",
                NOON,
                feature=chance.choice("abc"),
                model=chance.choice("xy"),
                app=chance.choice("pq"),
            )
            held = LedgerEvent(kind=EventKind.HELD, opening=asked, held=Nanodollars(10**9))
            writer.append(held)
            os.write(told, f"held {asked.request_id}\n".encode())
            if number % 3:
                cost = Nanodollars(chance.randrange(10**9))
                ended = settlement(cost.usd, Usage(7, 2, output=3))
                writer.append(LedgerAttempt(asked.request_id, 1, attempt(cost)))
                os.write(told, f"attempt {asked.request_id}\n".encode())
                writer.append(LedgerEvent(kind=EventKind.SETTLED, opening=asked, cost=cost, settlement=ended))
                os.write(told, f"settled {asked.request_id}\n".encode())
            await asyncio.sleep(0 if number % 20 else 0.001)


def _round(folder: Path, life: int, chance: random.Random) -> bytes:
    """Fork, listen for a while, kill, and return what was heard."""
    hear, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(hear)
        asyncio.run(_live(folder, life, tell, chance))
        os._exit(0)
    os.close(tell)
    heard = os.read(hear, 1 << 16)
    ends_at = time.monotonic() + chance.uniform(0, _MOST_S)
    while (left := ends_at - time.monotonic()) > 0:
        if select.select([hear], [], [], left)[0]:
            heard += os.read(hear, 1 << 16)
    os.kill(child, signal.SIGKILL)
    while more := os.read(hear, 1 << 16):
        heard += more
    os.waitpid(child, 0)
    os.close(hear)
    return heard


def main(folder: Path, rounds: int, seed: int) -> None:
    """Let so many children live and die, and write down what they acknowledged."""
    chance = random.Random(seed)
    heard = b"".join(_round(folder, life, chance) for life in range(rounds))
    (folder / "acknowledged").write_bytes(heard)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
