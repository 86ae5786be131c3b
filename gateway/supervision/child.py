"""A process that does not outlive its parent."""

import asyncio
import ctypes
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to start: a name for people, the whole command line and environment."""

    name: str
    line: tuple[str, ...]
    environment: Mapping[str, str]


async def start(command: Command) -> Process:
    """Start a process tied to this one.

    It gets a process group of its own, so that Ctrl-C on the terminal reaches the parent alone, which stops its
    children in order.
    """
    return await asyncio.create_subprocess_exec(
        *command.line,
        env=dict(command.environment),
        process_group=0,
        preexec_fn=_tied_to(os.getpid()),  # safe: this process has one thread
    )


async def stop(process: Process, grace_s: float) -> None:
    """Ask a process to end; kill it when it has not after `grace_s` seconds."""
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(grace_s):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _tied_to(parent: int) -> Callable[[], None] | None:
    """Return what the child runs between fork and exec, with everything it needs loaded before the fork.

    The kernel then ends it when its parent dies, however the parent dies (Linux only).
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # it died before we asked
            os.kill(os.getpid(), signal.SIGKILL)

    return tie
