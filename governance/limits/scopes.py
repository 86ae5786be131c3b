"""Scopes taken apart for people: whose money, and of which value of a dimension."""

from urllib.parse import unquote


def parted(scope: str) -> tuple[str, str, str]:
    """Part `org?session=a%2Fb` into `org`, `session` and `a/b`; the last two are empty where there is no value."""
    whose, _, of = scope.partition("?")
    dimension, _, value = of.partition("=")
    return whose, dimension, unquote(value)
