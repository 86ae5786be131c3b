"""Serve: one process or several, from the first socket to the last settled request."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Final

import uvicorn

from gateway.app import create_app
from gateway.errors import GatewayError
from gateway.operations.lock import lock
from gateway.operations.secrets import make_home
from gateway.policy.problems import PolicyInvalid
from gateway.services import open_services
from gateway.settings import Settings
from gateway.wire.connection import Connection
from gateway.workers import bind, run_workers
from governance.errors import GovernanceError

DRAIN_S: Final = 15
"""How long requests in flight may take after the signal to stop; then they are cut off and settled as they stand."""

_SETTLE_S: Final = 5


class GatewayServer(uvicorn.Server):
    """Uvicorn, with the signals left to us: its own handling ends the process before the ledger is closed."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and wait for the requests that were cut off: each has its client to tell and its hold to settle."""
        await super().shutdown(sockets)
        tasks = set(self.server_state.tasks)
        for task in tasks:
            if not task.cancelling():  # all of them when the stop was forced
                task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_SETTLE_S)


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight and close the ledger.

    Raises:
        CannotServe: more workers are asked for than the counters' home can keep true, or one could not start.
        HomeInUse: another gateway serves from this home.
        OSError: the address is taken.
    """
    settings.refuse_lonely_workers()
    _allow_open_files(2 * Connection.bounds.connections + 1024)
    if settings.workers == 1:
        with asyncio.Runner(loop_factory=_loop) as runner:
            runner.run(_serve(settings))
        return
    with lock(make_home(settings.home), settings.port), bind(settings.host, settings.port) as listening:
        run_workers(settings.workers, listening, partial(_work, settings))


def _work(settings: Settings, listening: socket.socket, line: socket.socket) -> None:
    """Serve as one of several workers, until the parent lets go of the line."""
    _allow_open_files(2 * Connection.bounds.connections + 1024)
    try:
        with asyncio.Runner(loop_factory=_loop) as runner:
            runner.run(_serve(settings, listening, line))
    except (GatewayError, GovernanceError, PolicyInvalid) as error:
        sys.exit(f"sluice: {error}")


async def _serve(settings: Settings, listening: socket.socket | None = None, line: socket.socket | None = None) -> None:
    async with open_services(settings, os.environ, alone=line is None) as services:
        server = GatewayServer(
            uvicorn.Config(
                create_app(services),
                host=settings.host,
                port=settings.port,
                http=Connection,
                ws="none",
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=DRAIN_S,
            )
        )
        loop = asyncio.get_running_loop()
        for stop in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(stop, _stop, server)
        if line is not None:
            loop.add_reader(line.fileno(), _parent_left, loop, line, server)
            line.send(b"serving")
        services.log.info("serving", host=settings.host, port=settings.port)
        await server.serve(None if listening is None else [listening])
        services.log.info("stopped", open_holds=services.purse.open_holds)


def _allow_open_files(most: int) -> None:
    """Raise this process's limit, often 1024, as far as the system lets it, so that the ledger keeps some."""
    try:
        import resource  # noqa: PLC0415  absent on Windows
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _stop(server: uvicorn.Server) -> None:
    """Stop once in peace; a second signal cuts off what is in flight."""
    server.force_exit = server.should_exit
    server.should_exit = True


def _parent_left(loop: asyncio.AbstractEventLoop, line: socket.socket, server: uvicorn.Server) -> None:
    """Stop in peace: the parent is gone, or wants us to be."""
    loop.remove_reader(line.fileno())
    server.should_exit = True


def _loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop  # noqa: PLC0415  absent where it has no build
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
