"""Bytes of events: server-sent ones, and the binary ones of AWS.

Spec: WHATWG HTML, "Server-sent events"; "Event stream encoding" of the Amazon Transcribe developer guide, which Bedrock
shares: a prelude of two lengths and its CRC, headers, payload, and a CRC over all before it.
"""

from binascii import crc32
from struct import pack
from typing import Any

import msgspec

COMMENT = b": keep-alive"


def sse(data: dict[str, Any] | bytes, line_end: bytes, name: str = "") -> bytes:
    """Return a server-sent event, with its name where it has one."""
    payload = data if isinstance(data, bytes) else msgspec.json.encode(data)
    named = b"event: %b%b" % (name.encode(), line_end) if name else b""
    return b"%bdata: %b%b%b" % (named, payload, line_end, line_end)


def binary(kind: str, name: str, data: dict[str, Any]) -> bytes:
    """Return a frame of AWS's event stream; `kind` is `event` or `exception`."""
    fields = {
        f":{kind}-type": name,
        ":content-type": "application/json",
        ":message-type": kind,
    }
    headers = b"".join(_header(field, value) for field, value in fields.items())
    payload = msgspec.json.encode(data)
    lengths = pack("!II", 12 + len(headers) + len(payload) + 4, len(headers))
    frame = lengths + pack("!I", crc32(lengths)) + headers + payload
    return frame + pack("!I", crc32(frame))


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return pack("!B", len(name)) + name.encode() + pack("!BH", 7, len(text)) + text
