"""What beside the request shapes its answer: an answer of another epoch is not found any more.

Nothing is thrown away when an epoch ends: a policy that comes back finds its own answers again, as long as they live.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from pydantic import BaseModel


def epoch(version: str | None, *sections: BaseModel | tuple[BaseModel, ...] | None) -> str:
    """Name an epoch.

    Args:
        version: Of the knowledge and the prompts behind the answers, as the policy's author has it.
        sections: The parts of the policy that shape answers, always in the same order; None for one that is absent.
    """
    shaping = [_plain(section) for section in sections]
    return sha256(msgspec.json.encode([version, shaping], order="sorted")).hexdigest()


def _plain(section: BaseModel | tuple[BaseModel, ...] | None) -> object:
    if isinstance(section, tuple):
        return [one.model_dump(mode="json") for one in section]
    return None if section is None else section.model_dump(mode="json")
