"""Several workers behind one socket: the parent holds the home, starts the others, and starts anew those that fall.

The parent serves nothing. Each worker is a process of its own with services of its own, and a line to the parent: it
says there when it serves, and stops when the parent's end is closed, even by `kill -9`.
"""

import multiprocessing
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Final

from gateway.errors import CannotServe

START_S: Final = 60.0
RESTART_S: Final = 1.0
"""How long a worker that fell stays down, so that one that always falls does not spin."""

Work = Callable[[socket.socket, socket.socket], None]
"""What a worker does, over the listening socket, until its line is closed; it sends a word when it serves."""

_processes = multiprocessing.get_context("spawn")


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    line: socket.socket


def run_workers(count: int, listening: socket.socket, work: Work) -> None:
    """Run workers until SIGTERM or SIGINT; a second signal cuts off what is in flight.

    The first worker starts alone, so that what it makes (tables, keys) is there for the others.

    Raises:
        CannotServe: A worker ended before it served, and has said why.
    """
    told, signals = socket.socketpair()
    told.setblocking(False)  # noqa: FBT003  the socket module has it so
    before = signal.set_wakeup_fd(told.fileno())
    handlers = {number: signal.signal(number, _note) for number in (signal.SIGTERM, signal.SIGINT)}
    workers: list[_Worker] = []
    try:
        for more in (1, count - 1):
            fresh = [_start(listening, work) for _ in range(more)]
            workers += fresh
            if not all(_serves(worker, signals) for worker in fresh):
                return
        _keep(workers, signals, lambda: _start(listening, work))
    finally:
        _stop(workers, signals)
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(before)
        told.close()
        signals.close()


def _note(_number: int, _frame: object) -> None:
    """Let the wakeup descriptor tell of the signal."""


def _start(listening: socket.socket, work: Work) -> _Worker:
    ours, theirs = socket.socketpair()
    process = _processes.Process(target=_child, args=(work, listening, theirs), name="worker")
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _child(work: Work, listening: socket.socket, line: socket.socket) -> None:
    signal.set_wakeup_fd(-1)
    work(listening, line)


def _serves(worker: _Worker, signals: socket.socket) -> bool:
    """Wait until a worker serves; False when we are to stop first.

    Raises:
        CannotServe: It ended, or takes too long.
    """
    ready = wait([worker.line, worker.process.sentinel, signals], timeout=START_S)
    if signals in ready:
        return False
    if worker.line in ready and worker.line.recv(16):
        return True
    raise CannotServe("A worker could not start.")


def _keep(workers: list[_Worker], signals: socket.socket, start: Callable[[], _Worker]) -> None:
    """Replace workers that fall, until a signal comes."""
    while signals not in wait([signals, *(worker.process.sentinel for worker in workers)]):
        for place, worker in enumerate(workers):
            if not worker.process.is_alive():
                sys.stderr.write(f"A worker ended with {worker.process.exitcode}; another takes its place.\n")
                worker.line.close()
                if signals in wait([signals], timeout=RESTART_S):
                    return
                workers[place] = start()


def _stop(workers: list[_Worker], signals: socket.socket) -> None:
    """Ask every worker to finish, wait for them, and at a second signal end them at once."""
    if wait([signals], timeout=0):
        signals.recv(64)
    for worker in workers:
        worker.line.close()
    for worker in workers:
        while worker.process.is_alive():
            if signals in wait([worker.process.sentinel, signals]):
                signals.recv(64)
                for other in workers:
                    other.process.terminate()
        worker.process.join()


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens for all workers.

    Raises:
        OSError: The address is taken.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((host, port))
    listening.listen(2048)
    return listening
