"""The `providers` and `models` sections: who runs models, where, and at what price."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AnyHttpUrl, Discriminator, Field, SecretStr, Tag, model_validator
from pydantic_core import PydanticCustomError

from governance.policy.fields import PositiveDollars, TokenRate
from governance.policy.sections import Flag, Name, Section
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


class _Provider(Section):
    """What every provider has.

    Attributes:
        zone: Where its machines are; a request confined to a zone is answered only there.
        machine_usd_per_hour: What the machine costs, for providers whose price is measured.
    """

    zone: Name
    machine_usd_per_hour: PositiveDollars | None = None

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


class _Seller(_Provider):
    """A provider that sells tokens.

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


class BedrockProvider(_Provider):
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


class PriceSection(Section):
    """Prices in USD per million tokens; a cache rate that is absent is billed as input."""

    input: TokenRate
    cached_input: TokenRate | None = None
    cache_write: TokenRate | None = None
    output: TokenRate | None = None


def _price_form(value: object) -> str:
    return "rates" if isinstance(value, Mapping | PriceSection) else "source"


PriceRule = Annotated[
    Annotated[Literal["measured", "list"], Tag("source")] | Annotated[PriceSection, Tag("rates")],
    Discriminator(_price_form),
]
"""Where a price comes from: the machine's cost and its measured speed, the price book, or the policy itself."""


class ModelSection(Section):
    """One model that the gateway offers.

    Attributes:
        name: What applications and routes call it.
        provider: Who runs it.
        model: What the provider calls it.
        tier: Who may use it.
        price: Where its price comes from.
        kind: What it makes.
    """

    name: Label
    provider: Name
    model: Annotated[str, Field(min_length=1, max_length=300)]
    tier: Name
    price: PriceRule
    kind: Literal["chat", "embedding"] = "chat"

    @model_validator(mode="after")
    def _output_has_a_price(self) -> Self:
        if self.kind == "chat" and isinstance(self.price, PriceSection) and self.price.output is None:
            raise PydanticCustomError("price", 'the price of a chat model needs "output"')
        return self


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
