"""`sluice cache`: a module for each verb, each of which adds itself to the group in `group.py`."""

from gateway.cli.caching import evaluate, purge, stats
from gateway.cli.caching.group import cache

__all__ = ["cache", "evaluate", "purge", "stats"]
