"""Decode a JSON request body, whatever a client may send."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from gateway.errors import BadRequest

LIMIT_BYTES = 8 * 1024 * 1024
"""Larger bodies are refused before they are read to the end."""

_MISSING = re.compile(r"Object missing required field `(\w+)`")
_JSON = msgspec.json.Decoder()
_Shape = TypeVar("_Shape", bound=msgspec.Struct)


def decode(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in `raw`.

    Raises:
        BadRequest: it is not UTF-8, not JSON (NaN and infinities are not), nested too deep, or not an object.
    """
    try:
        value = _JSON.decode(raw)
    except RecursionError:
        raise BadRequest("The request body is nested too deep.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadRequest(f"The request body is not valid JSON: {_sentence(error)}") from None
    if not isinstance(value, dict):
        raise BadRequest("The request body must be a JSON object.")
    return value


def shaped(body: Mapping[str, Any], shape: type[_Shape]) -> _Shape:
    """Return the fields of `body` that `shape` names, checked; other fields are left alone.

    Raises:
        BadRequest: a field is missing or not what the API says; `param` is its path.
    """
    try:
        return msgspec.convert(body, shape)
    except RecursionError:
        raise BadRequest("The request body is nested too deep.") from None
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        place = path.removesuffix("`").removeprefix("$").removeprefix(".")
        missing = _MISSING.fullmatch(message)
        if missing is not None:
            field = f"{place}.{missing[1]}" if place else missing[1]
            raise BadRequest(f"{field!r} is missing.", param=field) from None
        raise BadRequest(f"{message}{f' in {place!r}' if place else ''}.", param=place or None) from None


def _sentence(error: Exception) -> str:
    return str(error).removeprefix("JSON is malformed: ").split(" - at ", maxsplit=1)[0].rstrip(".") + "."
