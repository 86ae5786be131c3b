"""The `model_list`: each entry is a deployment, a model at a provider, under the name that applications ask for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from gateway.importing.draft import Kind, ProviderDraft
from gateway.importing.hosts import ABSENT, HOSTS, Host, parted, zone_of
from governance.money import NANOS_PER_DOLLAR
from governance.prices import DEAREST
from governance.prices.price import TOKENS_PER_PRICE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from gateway.importing.secrets import Secrets
    from gateway.importing.source import Source
    from gateway.policy.positions import Path

_RATES: Final = {
    "input_cost_per_token": "input",
    "cache_read_input_token_cost": "cached_input",
    "cache_creation_input_token_cost": "cache_write",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h",
    "input_cost_per_audio_token": "audio_input",
    "input_cost_per_image_token": "image_input",
    "output_cost_per_token": "output",
    "output_cost_per_reasoning_token": "reasoning",
    "output_cost_per_audio_token": "audio_output",
}
_PLACES: Final = ("litellm_params", "model_info")
_MODES: Final[Mapping[str, Kind]] = {
    "chat": "chat",
    "completion": "chat",
    "responses": "chat",
    "embedding": "embedding",
}
_EMBEDS: Final = re.compile(r"embed|(^|[/_-])(bge|e5|gte|minilm)[-_]", re.IGNORECASE)
_OTHER: Final = re.compile(
    r"dall-e|gpt-image|whisper|transcribe|(^|[/-])tts(-|$)|rerank|moderation|sora|stable-diffusion|realtime",
    re.IGNORECASE,
)
_ADDRESS: Final = "address of its server as api_base"
_NEEDED: Final = {"bedrock": "region as aws_region_name, written out"}
_REGION: Final = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}")
_NANO: Final = Decimal(1) / NANOS_PER_DOLLAR
_LAST: Final = Decimal("Infinity")
_LONGEST_NAME: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """One entry of the list that carries over.

    Attributes:
        path: Where it stands.
        group: What applications ask for.
        prefix: LiteLLM's name of the provider.
        provider: The provider as the policy has it.
        model: What the provider calls the model.
        rates: USD per million tokens by their names in a policy; None where the config states none.
        order: LiteLLM tries lower numbers first, and those without one last.
    """

    path: Path
    group: str
    prefix: str
    provider: ProviderDraft
    model: str
    kind: Kind
    rates: Mapping[str, Decimal] | None
    order: Decimal


def deployments(source: Source, secrets: Secrets) -> Iterator[Deployment]:
    """Read every entry; those that cannot carry over are told to the source."""
    credentials = _credentials(source)
    for index in source.items("model_list"):
        deployment = _read(source, secrets, ("model_list", index), credentials)
        if deployment is not None:
            yield deployment


def _read(source: Source, secrets: Secrets, path: Path, credentials: Mapping[str, Path]) -> Deployment | None:
    params = (*path, "litellm_params")
    group, named = source.text(*path, "model_name"), source.text(*params, "model")
    if group is None or named is None:
        return source.leave_out(path, "Needs a model_name and, under litellm_params, a model.")
    prefix, model = parted(named, source.text(*params, "custom_llm_provider"))
    why = _why_not(group, prefix, model)
    if why:
        return source.leave_out(path, why)
    kind = _kind(source, path, model)
    if kind is None:
        return source.leave_out(path, "Only models that chat, complete or embed are served.")
    credential = source.text(*params, "litellm_credential_name")
    if credential is not None and credential not in credentials:
        source.leave_out((*params, "litellm_credential_name"), "Names nothing in the credential_list.")
    places = [place for place in (params, credentials.get(credential or "")) if place is not None]
    if HOSTS[prefix].kind == "bedrock":
        region, model = _region(source, model, places)
        provider = None if region is None else _bedrock(secrets, region, places)
    else:
        provider = _provider(secrets, prefix, places)
    if provider is None:
        return source.leave_out(path, f"A model of {prefix} needs the {_NEEDED.get(HOSTS[prefix].kind, _ADDRESS)}.")
    return Deployment(
        path=path,
        group=group,
        prefix=prefix,
        provider=provider,
        model=model,
        kind=kind,
        rates=_rates(source, path, kind),
        order=_LAST if (order := source.number(*params, "order")) is None else order,
    )


def _credentials(source: Source) -> dict[str, Path]:
    """Find where each named credential has its values."""
    paths = [("credential_list", index) for index in source.items("credential_list")]
    for path in paths:
        source.take(*path, "credential_info")
    return {name: (*path, "credential_values") for path in paths if (name := source.text(*path, "credential_name"))}


def _why_not(group: str, prefix: str, model: str) -> str:
    """Say why an entry cannot carry over; empty when it can."""
    if "*" in group or "*" in model:
        return "Wildcards are not offered, so that every model has a price: write an entry for each model in use."
    if prefix in ABSENT:
        return f"{ABSENT[prefix]} is not carried over: add a provider for it, and the model, by hand."
    if prefix not in HOSTS:
        known = f"Provider {prefix} is not known here" if prefix else "The name does not tell its provider"
        return f"{known}: if it speaks OpenAI's API, add it as a provider of kind openai with its base_url."
    if not model.isprintable() or not 0 < len(model) <= _LONGEST_NAME:
        return "Needs the name of a model after the slash."
    return ""


def _kind(source: Source, path: Path, model: str) -> Kind | None:
    mode = source.text(*path, "model_info", "mode")
    if mode is not None:
        return _MODES.get(mode)
    return None if _OTHER.search(model) else "embedding" if _EMBEDS.search(model) else "chat"


def _provider(secrets: Secrets, prefix: str, places: Iterable[Path]) -> ProviderDraft | None:
    """Make the provider of an entry; its own address and key come before those of its credential."""
    host = HOSTS[prefix]
    addresses = [secrets.address((*place, name), prefix) for place in places for name in ("api_base", "base_url")]
    stated = next(filter(None, addresses), None)
    base_url = host.base_url if stated is None else _address(host, stated)
    if base_url is None:
        return None
    elsewhere = stated is not None and host.base_url is not None  # a key is not sent to where it does not belong
    default = None if elsewhere or not host.key else f"${{{host.key}}}"
    key = _first(secrets, places, "api_key", prefix) or default
    fields = (("base_url", base_url), *((("api_key", key),) if key else ()))
    return ProviderDraft(host.kind, zone_of(base_url), fields)


def _bedrock(secrets: Secrets, region: str, places: Iterable[Path]) -> ProviderDraft:
    """Make the provider of a model of Bedrock: let in by a key of its own, or by an access key that signs."""
    key = _first(secrets, places, "api_key", "bedrock")
    access = _first(secrets, places, "aws_access_key_id", "aws_access")
    secret = _first(secrets, places, "aws_secret_access_key", "aws_secret")
    token = _first(secrets, places, "aws_session_token", "aws_session")
    signed = (
        ("access_key_id", access or "${AWS_ACCESS_KEY_ID}"),
        ("secret_access_key", secret or "${AWS_SECRET_ACCESS_KEY}"),
        *((("session_token", token),) if token else ()),
    )
    return ProviderDraft("bedrock", "cloud", (("region", region), *((("api_key", key),) if key else signed)))


def _region(source: Source, model: str, places: Iterable[Path]) -> tuple[str | None, str]:
    """Return the region of a model of Bedrock, and its name without what LiteLLM writes before it."""
    for word in ("converse/", "invoke/"):
        model = model.removeprefix(word)
    first, slash, rest = model.partition("/")
    stated = [source.text(*place, "aws_region_name") for place in places]
    if slash and _REGION.fullmatch(first):
        return first, rest
    return next((region for region in stated if region is not None and _REGION.fullmatch(region)), None), model


def _first(secrets: Secrets, places: Iterable[Path], name: str, owner: str) -> str | None:
    """Return the first secret of a name, reading all of them."""
    return next(filter(None, [secrets.key((*place, name), owner) for place in places]), None)


def _address(host: Host, stated: str) -> str:
    """Write an address as this gateway wants it: of Anthropic without the version, of all others with it."""
    if host.kind == "anthropic":
        return stated.removesuffix("/messages").removesuffix("/v1")
    plain = stated.removesuffix("/chat/completions")
    return plain if plain.endswith(host.suffix) else plain + host.suffix


def _rates(source: Source, path: Path, kind: Kind) -> Mapping[str, Decimal] | None:
    """Read the prices that an entry states, those beside its model first."""
    rates: dict[str, Decimal] = {}
    places: list[Path] = []
    for name, ours in _RATES.items():
        stated = [
            (rate, (*path, place, name)) for place in _PLACES if (rate := source.number(*path, place, name)) is not None
        ]
        for rate, place in stated[:1]:
            rates[ours] = rate * TOKENS_PER_PRICE
            places.append(place)
    needed = {"input", "output"} if kind == "chat" else {"input"}
    dearest = Decimal(DEAREST.nanos) / NANOS_PER_DOLLAR
    if not needed <= rates.keys() or not all(0 <= rate <= dearest for rate in rates.values()):
        for place in places:
            source.leave_out(
                place, "A price is stated in part, or is none for a token: list prices are looked up instead."
            )
        return None
    if not any(rates.values()):
        source.change(
            path, "Costs nothing here, as the config says; on a machine of your own write what the machine costs."
        )
    return {ours: rate.quantize(_NANO).normalize() for ours, rate in rates.items()}
