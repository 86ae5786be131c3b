"""Which prefixes were met, whose they are, when they last came, and which deployment still keeps them.

Bounded: what was met longest ago is forgotten first. An entry takes about 620 bytes, all of them 20 MiB at most; a
provider forgets what it keeps long before it falls out of here.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from cache.prefix.reuse import Reuse, Stream

MOST: Final = 32_768


class Met(NamedTuple):
    """One prefix of a request, and what others like it are learnt as."""

    digest: bytes
    stream: Stream


@dataclass(frozen=True, slots=True)
class Kept:
    """What a deployment keeps: until when by the caller's clock, for how many seconds each time, how many tokens."""

    until: float
    seconds: int
    tokens: int


class _Entry:
    __slots__ = ("answered", "at", "continued", "places", "request", "stream")

    def __init__(self, stream: Stream | None, request: str, at: float) -> None:
        self.stream = stream
        self.request = request
        self.at = at
        self.answered = False
        self.continued = False
        self.places: dict[str, Kept] | None = None


class PrefixMemory:
    """The prefixes of every tenant: their digests are salted, so that none is met as another's."""

    def __init__(self, most: int = MOST) -> None:
        self.reuse = Reuse()
        self._most = most
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def meet(self, request: str, lasting: Iterable[Met], turns: Sequence[bytes], latest: Met, now: float) -> None:
        """Take note of the prefixes of a request, and learn from those that were met before.

        A request that is met again, such as one that is tried again, teaches nothing.

        Args:
            request: Its name.
            lasting: Prefixes that do not grow: tools and system prompt.
            turns: Prefixes of the same conversation that ended with a turn before, from the start on.
            latest: The one that ends with the turn to be answered.
            now: Seconds.
        """
        for met in lasting:
            self._meet(request, met, now)
        if latest.digest not in self._entries:
            before = next((entry for turn in reversed(turns) if (entry := self._entries.get(turn)) is not None), None)
            if before is not None and not before.continued and before.request != request:
                before.continued = True
                self._again(before, now)
        self._meet(request, latest, now)

    def kept(self, place: str, digest: bytes, now: float) -> Kept | None:
        """Return what a deployment keeps of a prefix, if it still does."""
        entry = self._entries.get(digest)
        kept = None if entry is None or entry.places is None else entry.places.get(place)
        return kept if kept is not None and now < kept.until else None

    def homes(self, digests: Iterable[bytes], now: float) -> dict[str, int]:
        """Return the deployments that keep any of some prefixes, each with the most tokens of one that it keeps."""
        found: dict[str, int] = {}
        for digest in digests:
            entry = self._entries.get(digest)
            for place, kept in (entry.places or {}).items() if entry is not None else ():
                if now < kept.until:
                    found[place] = max(found.get(place, 0), kept.tokens)
        return found

    def answered(self, place: str, digests: Mapping[bytes, tuple[int, int]], met: Iterable[bytes], now: float) -> None:
        """Take note of an answer.

        Args:
            place: The deployment that gave it.
            digests: The prefixes that it keeps now: for how many seconds, and how many tokens.
            met: Prefixes that were answered, kept or not: only those can come again.
            now: Seconds.
        """
        for digest in met:
            entry = self._entries.get(digest)
            if entry is not None:
                entry.answered = True
        for digest, (seconds, tokens) in digests.items():
            entry = self._entries.get(digest) or self._add(digest, _Entry(None, "", now))
            if entry.places is None:
                entry.places = {}
            entry.places[place] = Kept(now + seconds, seconds, tokens)

    def left(self, place: str, digests: Iterable[bytes]) -> None:
        """Forget that a deployment keeps prefixes: it fails, and they should go elsewhere."""
        for digest in digests:
            entry = self._entries.get(digest)
            if entry is not None and entry.places is not None:
                entry.places.pop(place, None)

    def _meet(self, request: str, met: Met, now: float) -> None:
        entry = self._entries.get(met.digest)
        if entry is None:
            self._add(met.digest, _Entry(met.stream, request, now))
            self.reuse.begun(met.stream)
            return
        self._entries.move_to_end(met.digest)
        if entry.request != request and entry.answered:  # before the first answer nobody can keep it
            self._again(entry, now)
            entry.stream, entry.request, entry.at = met.stream, request, now
            self.reuse.begun(met.stream)

    def _again(self, entry: _Entry, now: float) -> None:
        if entry.answered and entry.stream is not None:
            self.reuse.came_again(entry.stream, now - entry.at)

    def _add(self, digest: bytes, entry: _Entry) -> _Entry:
        self._entries[digest] = entry
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return entry
