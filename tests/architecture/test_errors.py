"""Whatever an engine may refuse has its place on the wire, and in the tree that its package draws."""

import re
from collections.abc import Iterator
from importlib import import_module
from inspect import getmembers, isclass
from types import ModuleType

import pytest

from gateway.errors import CannotStart
from gateway.wire.errors import STATUS, UNEXPECTED

IN_PROCESS = ("governance", "cache", "router_models", "gateway")
"""Their errors reach the gateway's own handlers. The local engine is another process, with a table of its own."""


def declared(module: ModuleType) -> Iterator[type[Exception]]:
    for _, kind in getmembers(module, isclass):
        if issubclass(kind, Exception) and kind.__module__ == module.__name__:
            yield kind


def errors_of(*packages: str) -> list[object]:
    return [
        pytest.param(kind, id=f"{package}.{kind.__name__}")
        for package in packages
        for kind in declared(import_module(f"{package}.errors"))
    ]


@pytest.mark.parametrize("kind", errors_of(*IN_PROCESS))
def test_every_error_that_can_be_raised_has_its_status(kind: type[Exception]) -> None:
    if kind.__subclasses__() or issubclass(kind, CannotStart):  # only leaves are raised; some before anything listens
        return
    shape = next((STATUS[parent] for parent in kind.__mro__ if parent in STATUS), UNEXPECTED)
    assert shape is not UNEXPECTED


@pytest.mark.parametrize("kind", errors_of("local_engine"))
def test_every_error_of_the_engine_is_under_the_root_that_its_server_answers(kind: type[Exception]) -> None:
    root = import_module("local_engine.errors").EngineError
    assert issubclass(kind, root)


@pytest.mark.parametrize("kind", errors_of(*IN_PROCESS, "local_engine"))
def test_every_error_is_drawn_in_the_tree_of_its_package(kind: type[Exception]) -> None:
    tree = import_module(kind.__module__).__doc__ or ""
    assert re.search(rf"\b{kind.__name__}\b", tree)
