"""The tokens of a request: what to hold for its prompt, what it probably is, and what its count teaches.

A provider that lends its tokenizer is asked only by callers who want the count. For a hold it is not: over loopback the
bundled engine takes 1 ms for a short prompt and 20 ms for 40 kB, in which it answers nobody, and the estimate's last
tenth of a hold on a machine of our own is not worth that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any, Final

import msgspec

from gateway.catalogue import Catalogue, Model
from gateway.context.spared import NOTHING_SPARED, Spared
from gateway.counting.bound import most_attached_tokens, most_prompt_tokens
from gateway.counting.calibration import Calibration
from gateway.counting.calibrations import Calibrations
from gateway.counting.makeup import Makeup, makeup, of_text
from gateway.counting.pictures import likely_picture_tokens
from gateway.providers.upstream import Call, Dialect
from governance.confinement.confined import Confined
from governance.policy.sections import Holds
from governance.prices import Usage

_BYTES_PER_TOKEN: Final = 4
"""Of attachments that are no pictures, of which nothing better is known."""

ALMOST_ALL: Final = 0.95


class Prompt:
    """The prompt of one request. It is measured when first asked about, which most requests do but once.

    Args:
        body: the request, decoded.
        size: its bytes on the wire.
        spared: what was cut of it before.
    """

    def __init__(self, body: dict[str, Any], size: int, spared: Spared = NOTHING_SPARED) -> None:
        self.body = body
        self.spared = spared
        self._size = size

    @cached_property
    def bound(self) -> int:
        """What its tokens are never above."""
        return most_prompt_tokens(self.body, self._size)

    @cached_property
    def makeup(self) -> Makeup:
        """What it is made of."""
        return makeup(self.body)


@dataclass(frozen=True, slots=True)
class Tally:
    """The tokens of one call, as far as they can be known without its provider.

    Attributes:
        model: what the provider calls the model.
        calibration: what is known of its tokenizer.
        prompt: what it is to read.
        calibrated: prompts are held for at what was learnt, where the policy allows it.
    """

    model: str
    calibration: Calibration
    prompt: Prompt
    calibrated: bool = False

    @property
    def held(self) -> int:
        """Tokens to hold for the prompt; never more than its bound."""
        bound = self.prompt.bound
        most = self.calibration.most(self.prompt.makeup.measures) if self.calibrated else None
        if most is None:
            return bound
        return min(bound, most + self.prompt.makeup.counted + most_attached_tokens(self.prompt.body))

    @property
    def likely(self) -> int:
        """Tokens that the prompt probably has; at least 1, and never more than its bound."""
        made = self.prompt.makeup
        pictures = sum(likely_picture_tokens(self.model, picture) for picture in made.pictures)
        others = -(-made.others // _BYTES_PER_TOKEN)
        text = ceil(self.calibration.estimate(made.measures))
        return min(self.prompt.bound, text + pictures + others + made.counted)

    def said(self, texts: Sequence[str]) -> int:
        """Return how many tokens the texts of an answer probably are; never more than their bytes."""
        size = sum(len(text.encode(errors="replace")) for text in texts)
        return min(size, ceil(self.calibration.estimate(of_text(texts)))) if size else 0

    def learn(self, reported: Usage | None) -> None:
        """Learn from what the provider says of the call, if anything; a prompt with attachments teaches nothing."""
        tokens = 0 if reported is None else reported.input_tokens
        if tokens > 0 and self.calibration.wants_more() and self.prompt.makeup.is_text:
            self.calibration.learn(self.prompt.makeup.measures, tokens)


@dataclass(frozen=True, slots=True)
class Count:
    """How many tokens a prompt has.

    Attributes:
        tokens: the count.
        exact: the model's own tokenizer made it.
        error: the relative error that an estimate keeps to 19 times of 20, as far as is known; 0 when exact.
        asked: the provider was asked, whether or not it answered.
    """

    tokens: int
    exact: bool
    error: float
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """Counts as the policy says, with what has been learnt."""

    catalogue: Catalogue
    calibrations: Calibrations
    holds: Holds

    def tally(self, model: Model, prompt: Prompt) -> Tally:
        """Return the tokens of a call to a model."""
        calibration = self.calibrations.of(model.provider, model.upstream_model)
        return Tally(model.upstream_model, calibration, prompt, self.holds.prompt == "calibrated")

    async def count_prompt(
        self, model: Model, body: dict[str, Any], confined: Confined, request_id: str, *, spoken: Dialect = "chat"
    ) -> Count:
        """Count the prompt in the body of a chat: by the model's own tokenizer where its provider lends it.

        The prompt may go to that provider, so it must be one to which the request may go. Nothing is spent.

        Args:
            model: which model is to read it.
            body: the body of a chat.
            confined: where it may go.
            request_id: whose it is.
            spoken: the dialect of the client; see `Call`.
        """
        named = body | {"model": model.upstream_model}
        call = Call(body=named, confined=confined, max_tokens=1, tenant="", spoken=spoken)
        upstream = self.catalogue.upstream(model)
        tokens = await upstream.count(call, request_id)
        if tokens is not None:
            return Count(tokens, exact=True, error=0.0, asked=True)
        tally = self.tally(model, Prompt(body, len(msgspec.json.encode(body))))
        return Count(tally.likely, exact=False, error=tally.calibration.error(ALMOST_ALL), asked=upstream.counts)

    def errors(self) -> Iterator[tuple[str, float, float]]:
        """Return each model of the policy that has been learnt of, and half and almost all of its errors."""
        for model in self.catalogue.models.values():
            calibration = self.calibrations.of(model.provider, model.upstream_model)
            if calibration.prompts:
                yield model.name, calibration.error(0.5), calibration.error(ALMOST_ALL)
