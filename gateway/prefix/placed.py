"""What became of the prefixes of a call: what its provider keeps of them now, and what the ledger should know."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cache.prefix.memory import PrefixMemory
from cache.prefix.reuse import MINUTES_S
from cache.prefix.traces import NO_TRACE, Trace, named, written
from gateway.errors import UpstreamError, UpstreamRefused
from gateway.prefix.families import Family
from gateway.prefix.outlines import End, Outline
from governance.prices import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The prefixes of one call. `clock` gives seconds.

    Attributes:
        memory: what learns of them.
        place: the deployment that is called.
        family: what that keeps.
        outline: the prefixes.
        known: those that it kept when it was called.
        spots: those that it keeps once it answers, each for so many seconds.
        ours: those of them that we have marked.
        session: names the session that the call belongs to, if any.
    """

    memory: PrefixMemory
    clock: Callable[[], float]
    place: str
    family: Family
    outline: Outline
    known: Sequence[End]
    spots: Mapping[End, int]
    ours: Sequence[End]
    session: bytes | None

    def ended(self, usage: Usage | None, error: BaseException | None) -> Trace:
        """Take note of how the call ended, and return what the ledger should know of it.

        A deployment that failed is left at once: whatever it keeps, what comes next goes elsewhere.
        """
        outline, known = self.outline, self.known
        digests = [end.digest for end in outline.ends]
        if isinstance(error, UpstreamError) and not isinstance(error, UpstreamRefused):
            self.memory.left(self.place, [*digests, *([] if self.session is None else [self.session])])
            return NO_TRACE
        if usage is None or not usage.input_tokens:
            return NO_TRACE
        tokens = {end: end.size * usage.input_tokens // outline.size for end in outline.ends}
        wrote = usage.cache_write + usage.cache_write_1h
        keeps = wrote or usage.cache_read or not self.family.marked
        long = {end: seconds for end, seconds in self.spots.items() if tokens[end] >= self.family.least_tokens}
        kept = {end.digest: (seconds, tokens[end]) for end, seconds in long.items()} if keeps else {}
        if self.session is not None:
            spared = kept.get(outline.latest.digest, (MINUTES_S, 0))
            kept[self.session] = spared
        self.memory.answered(self.place, kept, digests, self.clock())
        fresh = [end for end in self.ours if end not in known] if wrote and not outline.marks else []
        return Trace(written((end.digest, tokens[end]) for end in fresh), self._read(usage, tokens))

    def _read(self, usage: Usage, tokens: Mapping[End, int]) -> str:
        """Name the prefix that was read: the longest that is known to be kept, or that so many tokens may be."""
        before = [end for end in self.outline.ends if end != self.outline.latest or end in self.known]
        if not usage.cache_read or not before:
            return ""
        likely = [end for end in before if tokens[end] <= usage.cache_read + usage.cache_read // 8]
        return named((self.known or likely or before[:1])[-1].digest)
