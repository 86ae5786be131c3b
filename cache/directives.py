"""What the caller asks of the cache, in the `Cache-Control` header (RFC 9111) or the body's `cache` object.

A caller may only tighten what the policy allows: skip reading, skip writing, refuse old answers, keep its own for a
shorter time, or share with fewer (a namespace subdivides its partition).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cache.errors import BadDirective
from cache.tags import own_tags

HEADER = "Cache-Control"
FIELD = "cache"
MAX_NAMESPACE = 100
_SECONDS = "a whole number of seconds, 0 or more"
_MAX_DIGITS = 12  # thirty thousand years; a longer number means as much as its start
_BODY_FIELDS = frozenset({"no-cache", "no-store", "max-age", "ttl", "namespace", "tags"})


@dataclass(frozen=True, slots=True)
class Directives:
    """A caller's wishes; the defaults wish nothing.

    Attributes:
        read: A stored answer may be served.
        write: The answer may be stored.
        max_age: The oldest answer to serve, in seconds.
        ttl: The longest time to keep the answer, in seconds.
        namespace: The caller's own subdivision of its partition.
        tags: What the caller may purge the answer by.
    """

    read: bool = True
    write: bool = True
    max_age: int | None = None
    ttl: int | None = None
    namespace: str | None = None
    tags: tuple[str, ...] = ()

    def lifetime(self, policy_ttl: int, stale: int = 0) -> int:
        """Return how many seconds the answer may be kept; 0 when it must not be stored.

        Args:
            policy_ttl: How long the policy lets it be served.
            stale: For how long after that, while it is made anew; a caller that sets a time of its own wants none.
        """
        if not self.write:
            return 0
        return policy_ttl + stale if self.ttl is None else min(policy_ttl, self.ttl)


def parse_directives(header: str | None, field: object = None) -> Directives:
    """Read the caller's wishes from both places; where both speak, the tighter one holds.

    Args:
        header: The value of `Cache-Control`. Directives that RFC 9111 knows and we do not are ignored, as it asks.
        field: The body's `cache`, or None when it is absent.

    Raises:
        BadDirective: A directive has a value that makes no sense, or `cache` has a field that does not exist.
    """
    from_header = _from_header(header) if header else Directives()
    if field is None:
        return from_header
    from_body = _from_body(field)
    return Directives(
        read=from_header.read and from_body.read,
        write=from_header.write and from_body.write,
        max_age=_tighter(from_header.max_age, from_body.max_age),
        ttl=from_body.ttl,
        namespace=from_body.namespace,
        tags=from_body.tags,
    )


def _from_header(header: str) -> Directives:
    read, write, max_age = True, True, None
    for part in header.split(","):
        name, _, value = part.strip().partition("=")
        match name.strip().lower():
            case "no-cache":
                read = False
            case "no-store":
                write = False
            case "max-age":
                text = value.strip().strip('"')
                if not (text.isascii() and text.isdigit()):
                    raise BadDirective(HEADER, "max-age", _SECONDS)
                max_age = _tighter(max_age, int(text[:_MAX_DIGITS]))
            case _:
                pass
    return Directives(read=read, write=write, max_age=max_age)


def _from_body(field: object) -> Directives:
    if not isinstance(field, Mapping):
        raise BadDirective(FIELD, "its value", "an object")
    for name in field:
        if name not in _BODY_FIELDS:
            raise BadDirective(FIELD, str(name)[:50], f"one of {', '.join(sorted(_BODY_FIELDS))}")
    return Directives(
        read=not _flag(field, "no-cache"),
        write=not _flag(field, "no-store"),
        max_age=_seconds(field, "max-age"),
        ttl=_seconds(field, "ttl"),
        namespace=_namespace(field),
        tags=own_tags(field.get("tags")),
    )


def _flag(field: Mapping[str, object], name: str) -> bool:
    value = field.get(name)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise BadDirective(FIELD, name, "true or false")


def _seconds(field: Mapping[str, object], name: str) -> int | None:
    value = field.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise BadDirective(FIELD, name, _SECONDS)


def _namespace(field: Mapping[str, object]) -> str | None:
    value = field.get("namespace")
    if value is None or (isinstance(value, str) and 0 < len(value) <= MAX_NAMESPACE and value.isprintable()):
        return value
    raise BadDirective(FIELD, "namespace", f"printable text of 1 to {MAX_NAMESPACE} characters")


def _tighter(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
