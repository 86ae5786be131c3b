"""Notice that answers changed: an e-detector (Shin, Ramdas & Rinaldo 2023) on the outcomes of all judged lookups.

Each outcome is a bet, at the model's own odds, that answers are wrong more often than it says. While the model is right
the bets lose as much as they win, and from wherever one starts the stake reaches `ALARM` at most once in as many
lookups on average; once answers change, a handful of lookups is enough.
"""

from __future__ import annotations

import msgspec

ALARM = 100_000.0
_ODDS = 20.0


class Drift(msgspec.Struct):
    """The running bet.

    Attributes:
        stake: Its worth; never below 1, which is where it starts anew.
        since_hits: Answers served since it last stood at 1.
        since_judged: Lookups judged since then.
        since_wrong: Those of them that differed.
    """

    stake: float = 1.0
    since_hits: int = 0
    since_judged: float = 0.0
    since_wrong: float = 0.0

    def serve(self) -> None:
        """Note an answer served, which would be wrong too if answers have changed."""
        self.since_hits += 1

    def see(self, risk: float, wrong: float) -> bool:
        """Bet on one outcome; tell whether the alarm is reached.

        Args:
            risk: The model's probability that the candidate was wrong.
            wrong: The probability that it was.
        """
        against = _ODDS * risk / (1.0 - risk + _ODDS * risk)
        self.stake *= wrong * (against / max(risk, 1e-6)) + (1.0 - wrong) * ((1.0 - against) / max(1.0 - risk, 1e-6))
        self.since_judged += 1.0
        self.since_wrong += wrong
        if self.stake <= 1.0:
            self.restart()
        return self.stake >= ALARM

    def restart(self) -> None:
        """Start betting anew."""
        self.stake, self.since_hits, self.since_judged, self.since_wrong = 1.0, 0, 0.0, 0.0
