"""Real servers for tests: a Redis and a PostgreSQL of our own, on Unix sockets in a temporary folder.

Where a server is not installed its tests skip and name it; with `CI=true` that is a failure.
"""
# ruff: noqa: S603, S607  programs of the system, and arguments of our own

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
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

START_S = 20.0
_POSTGRES_BINARIES = "/usr/lib/postgresql"


def missing(server: str) -> None:
    """Skip a test whose server is not installed, or fail it where nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{server} is not installed")
    pytest.skip(f"{server} is not installed")


@dataclass
class RedisServer:
    """A Redis without persistence that can be paused, killed and started again at the same address."""

    folder: Path
    arguments: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

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
            ["redis-server", "--port", "0", "--unixsocket", str(self.socket), "--save", "", "--appendonly", "no",
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

    def kill(self) -> None:
        """End it at once, with all that it knew."""
        if self.process is not None:
            self._signal(signal.SIGKILL)
            self.process.wait()
            self.process = None
            self.socket.unlink(missing_ok=True)

    def _signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)


@contextmanager
def redis_server(*arguments: str) -> Generator[RedisServer]:
    """Run a Redis for the length of the block."""
    if shutil.which("redis-server") is None:
        missing("redis-server")
    with tempfile.TemporaryDirectory(prefix="sluice-redis-") as folder:
        server = RedisServer(Path(folder), arguments)
        server.start()
        try:
            yield server
        finally:
            server.kill()


@dataclass(frozen=True)
class PostgresServer:
    """A PostgreSQL that makes a fresh database whenever it is asked for one."""

    folder: Path
    process: subprocess.Popen[bytes]

    def database(self, template: str = "template0") -> str:
        """Make a database, empty or as another one is, and return its URL."""
        name = f"t{uuid4().hex}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def pause(self) -> None:
        """Stop every process of it in its tracks."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused server go on."""
        os.killpg(self.process.pid, signal.SIGCONT)

    def address(self, name: str) -> str:
        return f"host={self.folder} user=postgres dbname={name}"


@contextmanager
def postgres_server() -> Generator[PostgresServer]:
    """Run a PostgreSQL for the length of the block."""
    found = sorted(Path(_POSTGRES_BINARIES).glob("*/bin/initdb"))
    if not found:
        missing("postgresql")
    binaries = found[-1].parent
    with tempfile.TemporaryDirectory(prefix="sluice-pg-") as name:
        folder = Path(name)
        as_owner: list[str] = []
        if os.getuid() == 0:  # it refuses to run as root
            as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(folder, "postgres", "postgres")
        data = folder / "data"
        subprocess.run(
            [*as_owner, binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-N", "--no-locale",
             "-E", "UTF8"],
            check=True, stdout=subprocess.DEVNULL, cwd=folder,
        )  # fmt: skip
        process = subprocess.Popen(
            [*as_owner, binaries / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c",
             "max_connections=200", "-c", "shared_buffers=32MB", "-c", "fsync=off"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, start_new_session=True,
        )  # fmt: skip
        server = PostgresServer(folder, process)
        try:
            _wait(lambda: psycopg.connect(server.address("postgres")).close() is None, process)
            yield server
        finally:
            with suppress(ProcessLookupError):
                server.resume()
            process.send_signal(signal.SIGQUIT)  # nobody needs what it holds
            process.wait()


def _wait(answers: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while True:
        with suppress(OSError, psycopg.OperationalError):
            if answers():
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise TimeoutError("the server does not start")
        time.sleep(0.02)
