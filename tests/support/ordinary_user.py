"""Calls by somebody who may not write everywhere, whoever runs the tests."""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

_NOBODY = 65534


def as_ordinary_user(call: Callable[..., Any], *arguments: object) -> Any:
    """Call in a process of an ordinary user; returns what it returns, or raises what it raises."""
    spawning = multiprocessing.get_context("spawn")
    ours, theirs = spawning.Pipe()
    process = spawning.Process(target=_run, args=(theirs, call, arguments))
    process.start()
    theirs.close()
    told = ours.recv()
    process.join()
    ours.close()
    if isinstance(told, Exception):
        raise told
    return told


def _run(line: "Connection[Any, Any]", call: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    """Give up root, which no longer needs to import anything, and call."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    try:
        line.send(call(*arguments))
    except Exception as error:  # noqa: BLE001  whatever it is, the test wants to see it
        line.send(error)
