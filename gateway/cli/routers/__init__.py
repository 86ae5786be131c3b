"""`sluice router`: a module for each verb, each of which adds itself to the group in `group.py`."""

from gateway.cli.routers import calibrate, evaluate, train
from gateway.cli.routers.group import router

__all__ = ["calibrate", "evaluate", "router", "train"]
