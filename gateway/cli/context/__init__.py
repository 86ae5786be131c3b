"""`sluice context`: a module for each verb, each of which adds itself to the group in `group.py`."""

from gateway.cli.context import evaluate, preview, report
from gateway.cli.context.group import context

__all__ = ["context", "evaluate", "preview", "report"]
