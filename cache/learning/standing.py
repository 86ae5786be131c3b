"""How a feature's semantic cache stands: whether it may serve, why not, and what is proven of its errors."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Reason(StrEnum):
    """Why a feature serves, or does not."""

    OPEN = "open"
    LEARNING = "too little is known yet"
    NOVEL = "too much of what is asked was never asked before"
    BLIND_JUDGE = "the judge does not tell unrelated answers apart"
    DRIFT = "answers turned out wrong more often than learned"
    SPENT = "the error bound leaves no room"


class Standing(msgspec.Struct, frozen=True):
    """How a feature stands, over its whole life.

    Attributes:
        open: Whether hits are served.
        reason: Why it is open or closed, in words.
        lookups: Lookups so far.
        hits: Answers served.
        audited: Would-be hits for which the model was asked and the answers compared.
        wrong: Of the audited, how many differed.
        error: Estimated share of lookups served a wrong answer.
        upper: Upper 95 % confidence bound of that share, valid at all times at once.
        proven: The same bound with no use of the model at all: from exploration alone, so it comes down slowly.
        threshold: The highest acceptable risk of one hit.
        exploration: The share of would-be hits that is explored at present.
        judge_misses: Estimated probability that the judge calls different answers the same.
        judge_alarms: Estimated probability that the judge calls same answers different.
    """

    open: bool
    reason: Reason
    lookups: int
    hits: int
    audited: int
    wrong: float
    error: float
    upper: float
    proven: float
    threshold: float
    exploration: float
    judge_misses: float
    judge_alarms: float
