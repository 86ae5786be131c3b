"""What a provider's event must look like to be heard; only what is read of it is looked at."""

from typing import Any

import msgspec


class Part(msgspec.Struct, frozen=True):
    """A part of an item."""

    type: str | None = None
    text: str | None = None
    refusal: str | None = None
    logprobs: list[dict[str, Any]] | None = None
    annotations: list[dict[str, Any]] | None = None


class Item(msgspec.Struct, frozen=True):
    """An item of the output."""

    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    phase: str | None = None
    summary: list[Part] | None = None
    content: list[Part] | None = None


class Details(msgspec.Struct, frozen=True):
    """Why a response is incomplete."""

    reason: str | None = None


class Response(msgspec.Struct, frozen=True):
    """The response as it stands."""

    id: str | None = None
    model: str | None = None
    service_tier: str | None = None
    created_at: float | None = None
    incomplete_details: Details | None = None
    error: dict[str, Any] | None = None
    output: list[Item] | None = None
    usage: dict[str, Any] | None = None


class EventShape(msgspec.Struct, frozen=True):
    """One event of any name."""

    type: str | None = None
    output_index: int = 0
    content_index: int = 0
    summary_index: int = 0
    annotation_index: int = 0
    delta: str | None = None
    text: str | None = None
    refusal: str | None = None
    arguments: str | None = None
    input: str | None = None
    logprobs: list[dict[str, Any]] | None = None
    annotations: list[dict[str, Any]] | None = None
    annotation: dict[str, Any] | None = None
    item: Item | None = None
    response: Response | None = None
    error: dict[str, Any] | None = None
