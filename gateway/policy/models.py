"""The `providers` and `models` sections: who runs models, where, and at what price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AnyHttpUrl, Discriminator, Field, SecretStr, Tag, model_validator
from pydantic_core import PydanticCustomError

from gateway.policy.pricing.sections import PriceRule, PriceSection, Terms
from gateway.policy.reliability import TimeoutsSection
from governance.policy.fields import PositiveDollars
from governance.policy.sections import Count, Flag, Name, Section
from router_models.config import Label

PRICE_BOOKS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "api.cerebras.ai": "cerebras",
    "api.deepseek.com": "deepseek",
    "api.fireworks.ai": "fireworks",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral",
    "api.together.xyz": "together",
    "api.x.ai": "x-ai",
    "aiplatform.googleapis.com": "google",
    "generativelanguage.googleapis.com": "google",
    "openrouter.ai": "openrouter",
}
"""Whose prices hold at which host. Elsewhere the same model may cost anything, so its price is not looked up."""

_AWS = "amazonaws.com"
_KEYED = frozenset({"api_key"})
_SIGNED = frozenset({"access_key_id", "secret_access_key"})


class LeaveBounds(Section):
    """How much of an answer is still read when its client has left; the first bound that is reached ends it.

    Attributes:
        tokens: So many tokens of output.
        seconds: So many seconds.
        usd: What costs so much.
    """

    tokens: Count | None = None
    seconds: Count | None = None
    usd: PositiveDollars | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Self:
        if self.tokens is None and self.seconds is None and self.usd is None:
            raise PydanticCustomError("bounds", 'should have "tokens", "seconds" or "usd"')
        return self


class DrainUntil(Section):
    """Read an answer on up to a bound, then stop."""

    drain_until: LeaveBounds


def _leave_form(value: object) -> str:
    return "bounds" if isinstance(value, Mapping | DrainUntil) else "word"


OnLeave = Annotated[
    Annotated[Literal["cancel", "drain", "estimate"], Tag("word")] | Annotated[DrainUntil, Tag("bounds")],
    Discriminator(_leave_form),
]
"""What to do when a client leaves: stop and pay for what was made, read on, or stop and pay by an estimate."""


class _Provider(Section):
    """What every provider has.

    Attributes:
        zone: Where its machines are; a request confined to a zone is answered only there.
        machine_usd_per_hour: What the machine costs, for providers whose price is measured.
        timeouts: How long it is waited for, where that differs from the others.
        on_leave: What happens to an answer whose client has left; by default machines of our own cancel it, and others
            are read to its end, because they may bill all of it.
    """

    zone: Name
    machine_usd_per_hour: PositiveDollars | None = None
    timeouts: TimeoutsSection | None = None
    on_leave: OnLeave | None = None

    @property
    def price_book(self) -> str | None:
        """The seller in the price book; None for machines of our own."""
        return None


class EngineProvider(_Provider):
    """The bundled engine; `sluice up` starts it and says where it listens."""

    kind: Literal["engine"]
    zone: Name = "onprem"


class VllmProvider(_Provider):
    """A vLLM server, spoken to over its OpenAI API."""

    kind: Literal["vllm"]
    base_url: AnyHttpUrl
    api_key: SecretStr | None = None


class _Seller(_Provider, Terms):
    """A provider that sells tokens; its terms hold for all its models that have none of their own.

    Attributes:
        base_url: The address of its API.
        api_key: The provider's key.
    """

    base_url: AnyHttpUrl
    api_key: SecretStr | None = None

    @property
    def price_book(self) -> str | None:
        """The seller in the price book, or None when the book does not know this host."""
        return PRICE_BOOKS.get(self.base_url.host or "")


class _Batching(_Seller):
    """A seller that takes work in batches as well.

    Attributes:
        batch: Deferred work may use its batch API.
    """

    batch: Flag = False


class OpenAIProvider(_Batching):
    """OpenAI, or anything that speaks its API; the address includes the version.

    Attributes:
        api: How its chat models are called: by Chat Completions, or by Responses where it has them.
    """

    kind: Literal["openai"]
    base_url: AnyHttpUrl = AnyHttpUrl("https://api.openai.com/v1")
    api: Literal["chat", "responses"] = "chat"


class AnthropicProvider(_Batching):
    """Anthropic, or anything that speaks its API; the address is without the version."""

    kind: Literal["anthropic"]
    base_url: AnyHttpUrl = AnyHttpUrl("https://api.anthropic.com")


class GeminiProvider(_Seller):
    """Google Gemini, or Vertex AI with a key, which has the same API; the address includes the version."""

    kind: Literal["gemini"]
    base_url: AnyHttpUrl = AnyHttpUrl("https://generativelanguage.googleapis.com/v1beta")


class BedrockProvider(_Provider, Terms):
    """Amazon Bedrock in one region.

    Attributes:
        region: Whose models are called, such as eu-central-1.
        base_url: Where they are, when not at the region's public address.
        api_key: A key of Bedrock's own.
        access_key_id: Who signs the requests, where there is no such key.
        secret_access_key: What they are signed with.
        session_token: Goes with an access key that is lent for a time.
    """

    kind: Literal["bedrock"]
    region: Annotated[str, Field(pattern=r"^[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}$")]
    base_url: AnyHttpUrl | None = None
    api_key: SecretStr | None = None
    access_key_id: SecretStr | None = None
    secret_access_key: SecretStr | None = None
    session_token: SecretStr | None = None

    @model_validator(mode="after")
    def _has_credentials(self) -> Self:
        # A name that is not set in the environment is written all the same: its provider is unavailable, not wrong.
        if (_KEYED | _SIGNED) & self.model_fields_set not in (_KEYED, _SIGNED):
            text = 'needs either an "api_key", or an "access_key_id" with its "secret_access_key"'
            raise PydanticCustomError("credentials", text)
        return self

    @property
    def address(self) -> str:
        """Where requests go."""
        return str(self.base_url or f"https://bedrock-runtime.{self.region}.{_AWS}")

    @property
    def price_book(self) -> str | None:
        """The seller in the price book, or None for a host that is not Amazon's."""
        host = None if self.base_url is None else self.base_url.host or ""
        return "aws" if host is None or host.endswith(f".{_AWS}") else None


Provider = Annotated[
    EngineProvider | VllmProvider | OpenAIProvider | AnthropicProvider | GeminiProvider | BedrockProvider,
    Field(discriminator="kind"),
]


class ModelSection(Terms):
    """One model that the gateway offers, perhaps at terms of its own.

    Attributes:
        name: What applications and routes call it.
        provider: Who runs it.
        model: What the provider calls it.
        tier: Who may use it.
        price: Where its price comes from.
        kind: What it makes.
        same_as: The model that this is another deployment of: whoever asks for that may be answered by this.
    """

    name: Label
    provider: Name
    model: Annotated[str, Field(min_length=1, max_length=300)]
    tier: Name
    price: PriceRule
    kind: Literal["chat", "embedding"] = "chat"
    same_as: Label | None = None

    @model_validator(mode="after")
    def _output_has_a_price(self) -> Self:
        if self.kind == "chat" and any(price.output is None for price in self.stated_prices):
            raise PydanticCustomError("price", 'the price of a chat model needs "output"')
        return self

    @model_validator(mode="after")
    def _terms_are_over_something(self) -> Self:
        if self.factor is not None and self.price != "list":
            raise PydanticCustomError(
                "terms", "has a discount or a multiplier, which are over list prices: price: list"
            )
        if self.batch_factor is not None and self.price == "measured":
            raise PydanticCustomError("terms", "has a batch_discount, but a machine of your own gives none")
        return self

    @property
    def stated_prices(self) -> tuple[PriceSection, ...]:
        """The prices that are written here, in the order of their dates."""
        if isinstance(self.price, str):
            return ()
        return self.price if isinstance(self.price, tuple) else (self.price,)


class PriceAs(Section):
    """Count a model without a price as if it were another one."""

    price_as: Label


def _unknown_form(value: object) -> str:
    return "price_as" if isinstance(value, Mapping | PriceAs) else "word"


UnknownModel = Annotated[
    Annotated[Literal["deny", "flag"], Tag("word")] | Annotated[PriceAs, Tag("price_as")],
    Discriminator(_unknown_form),
]
"""What to do with a model that has no price: refuse it, serve it marked as unpriced, or price it as another."""
