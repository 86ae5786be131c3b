"""Tokens of a request in disjoint classes, because providers report overlapping ones and bill each at its own rate."""

from collections.abc import Mapping
from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

MOST_TOKENS: Final = 1_000_000_000
MOST_RUNS: Final = 1_000_000
"""More runs of a tool than any one answer has, and few enough for 64 bits at any fee."""

INPUT: Final = (
    "fresh_input",
    "cache_read",
    "cache_write",
    "cache_write_1h",
    "audio_input",
    "audio_read",
    "image_input",
)
"""The classes of tokens that are read."""

OUTPUT: Final = ("output", "reasoning", "audio_output")
"""The classes of tokens that are made."""

TEXT: Final = ("fresh_input", "cache_read", "cache_write", "output", "reasoning")
"""The classes that a request may use which has only text, and asks for nothing to be kept for long."""

_TOTALS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
_DETAILS: Final = ("cache_write_tokens", "cache_write_1h_tokens", "audio_tokens", "image_tokens")
_NOTHING: Final[Mapping[str, object]] = {}
_CACHED: Final = ("prompt_cache_hit_tokens", "cached_tokens", "num_cached_tokens")
"""Where some tell beside the prompt what was cached of it."""


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a request used: counts >= 0 of tokens, each in one class, and of runs of tools.

    `fresh_input`, `cache_read` and the two `cache_write` are text, the latter kept some minutes or an hour;
    `audio_read` is sound that came from a cache. `tool_runs` are calls of tools that the provider runs at a fee of its
    own, such as a web search.
    """

    fresh_input: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    audio_input: int = 0
    audio_read: int = 0
    image_input: int = 0
    output: int = 0
    reasoning: int = 0
    audio_output: int = 0
    tool_runs: int = 0

    @property
    def input_tokens(self) -> int:
        """All tokens read, from a cache or not."""
        return (
            self.fresh_input
            + self.cache_read
            + self.cache_write
            + self.cache_write_1h
            + self.audio_input
            + self.audio_read
            + self.image_input
        )

    @property
    def output_tokens(self) -> int:
        """All tokens that are billed as output, reasoning included."""
        return self.output + self.reasoning + self.audio_output

    @property
    def total(self) -> int:
        """Every token once."""
        return self.input_tokens + self.output_tokens

    @property
    def uncached(self) -> "Usage":
        """The same tokens where no cache has any of them."""
        if not (self.cache_read or self.cache_write or self.cache_write_1h or self.audio_read):
            return self
        fresh = self.fresh_input + self.cache_read + self.cache_write + self.cache_write_1h
        heard = self.audio_input + self.audio_read
        return replace(
            self, fresh_input=fresh, cache_read=0, cache_write=0, cache_write_1h=0, audio_input=heard, audio_read=0
        )

    @property
    def plain(self) -> bool:
        """Whether it is fresh input and output alone."""
        return not (
            self.cache_read
            or self.cache_write
            or self.cache_write_1h
            or self.audio_input
            or self.audio_read
            or self.image_input
            or self.reasoning
            or self.audio_output
            or self.tool_runs
        )

    @classmethod
    def from_openai(cls, usage: object) -> Self | None:
        """Read the `usage` object of an OpenAI answer, with the additions that others make to it.

        `prompt_tokens` includes what was cached, written to a cache, heard and seen; `completion_tokens` includes
        reasoning and speech. What `total_tokens` holds beyond both is output as well: some report their thinking only
        there. Embeddings report no completion. Where cached tokens and sound or pictures together are more than the
        prompt, the cached ones are among them.

        Returns:
            The usage, or None when it is absent or makes no sense; zero tokens are a usage.
        """
        if not isinstance(usage, Mapping):
            return None
        try:
            prompt, completion, total = (_told(usage, name) for name in _TOTALS)
            if prompt is None or (completion is None and total is None):
                return None
            beyond = 0 if total is None else total - prompt
            made = _made(usage, beyond if completion is None else max(completion, beyond))
            return cls(**_read(usage, prompt), **made, tool_runs=_runs(usage))
        except _Nonsense:
            return None


class _Nonsense(Exception):
    """A count is no count, or counts contradict one another."""


def _read(usage: Mapping[str, object], prompt: int) -> dict[str, int]:
    """Divide the prompt into its classes."""
    details = _group(usage, "prompt_tokens_details")
    cached = _told(details, "cached_tokens")
    if cached is None:
        cached = next((count for name in _CACHED if (count := _told(usage, name)) is not None), 0)
    written, kept, heard, seen = (_told(details, name) or 0 for name in _DETAILS)
    heard_again = _told(details, "cached_audio_tokens")
    twice = max(0, cached + written + kept + heard + seen - (heard_again or 0) - prompt)
    seen_again = min(twice, seen, cached)
    if heard_again is None:
        heard_again = min(twice - seen_again, heard, cached - seen_again)
        twice -= heard_again
    if twice > seen_again or heard_again > min(heard, cached):
        raise _Nonsense
    told = {
        "cache_read": cached - heard_again,
        "cache_write": written,
        "cache_write_1h": kept,
        "audio_input": heard - heard_again,
        "audio_read": heard_again,
        "image_input": seen - seen_again,
    }
    return {"fresh_input": prompt - sum(told.values()), **told}


def _made(usage: Mapping[str, object], billed: int) -> dict[str, int]:
    """Divide the answer into its classes."""
    details = _group(usage, "completion_tokens_details")
    reasoning, spoken = _told(details, "reasoning_tokens") or 0, _told(details, "audio_tokens") or 0
    if reasoning + spoken > billed or billed < 0:
        raise _Nonsense
    return {"output": billed - reasoning - spoken, "reasoning": reasoning, "audio_output": spoken}


def _runs(usage: Mapping[str, object]) -> int:
    """Return how often the provider ran a tool, wherever it tells it; a fetch of a page costs only its tokens."""
    places = (
        (usage, "tool_runs"),
        (_group(usage, "server_tool_use"), "web_search_requests"),
        (usage, "num_sources_used"),
    )
    return next((runs for group, name in places if (runs := _told(group, name, MOST_RUNS)) is not None), 0)


def _group(usage: Mapping[str, object], name: str) -> Mapping[str, object]:
    group = usage.get(name)
    if group is None:
        return _NOTHING
    if isinstance(group, Mapping):
        return group
    raise _Nonsense


def _told(counts: Mapping[str, object], name: str, most: int = MOST_TOKENS) -> int | None:
    """Return a count, or None where it is absent or null."""
    value = counts.get(name)
    if value is None or (type(value) is int and 0 <= value <= most):
        return value
    raise _Nonsense
