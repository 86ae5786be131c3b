"""What answers can be purged by: the caller's own tags, and those that every answer gets."""

from __future__ import annotations

from collections.abc import Sequence

from cache.errors import BadDirective

MOST_TAGS = 16
LONGEST_TAG = 100

EVERY = "*"
"""The tag of every answer."""

BOUGHT_BY = "request:"
"""Begins the tag that names the request an answer was bought for; all copies of the answer have it."""

RESERVED = ("team:", "app:", "feature:", "model:", "key:", BOUGHT_BY)
"""Begin the tags that every answer gets."""

_KINDS = ", ".join(RESERVED)


def own_tags(value: object) -> tuple[str, ...]:
    """Read the tags that a caller gives its answer, each once, in order.

    None may look like one of those that every answer gets: else one caller's answers could pass for another's, and be
    purged in their place.

    Raises:
        BadDirective: They are no list of at most 16 printable texts of 1 to 100 characters, or one is reserved.
    """
    if value is None:
        return ()
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) <= MOST_TAGS:
        texts = [tag for tag in value if isinstance(tag, str) and 0 < len(tag) <= LONGEST_TAG and tag.isprintable()]
        if reserved := next((tag for tag in texts if tag == EVERY or tag.startswith(RESERVED)), None):
            raise BadDirective("cache", "tags", f"without {reserved!r}: what begins with {_KINDS} is ours to give")
        if len(texts) == len(value):
            return tuple(dict.fromkeys(texts))
    raise BadDirective(
        "cache", "tags", f"a list of at most {MOST_TAGS} printable texts of 1 to {LONGEST_TAG} characters"
    )


def tags_of(
    own: tuple[str, ...], *, team: str, app: str, feature: str, model: str, key_id: str, request_id: str
) -> tuple[str, ...]:
    """Return the tags of an answer: its caller's, and whose it is, what it was bought for and who made it.

    An app goes by its name alone, and a feature by `app/feature`, as the policy names them; where teams have apps of
    the same name, a purge by either takes the answers of all of them.
    """
    whose = (f"team:{team}", f"app:{app}", f"feature:{app}/{feature}", f"model:{model}", f"key:{key_id}")
    return tuple(dict.fromkeys((*own, *whose, f"{BOUGHT_BY}{request_id}", EVERY)))


def bought_by(tags: Sequence[str]) -> str | None:
    """Return the tag that names the request an answer was bought for, if it has one."""
    return next((tag for tag in reversed(tags) if tag.startswith(BOUGHT_BY)), None)
