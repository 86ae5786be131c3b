"""The engine as a process: its settings, its log, its beginning and its end.

It answers at once (503 on `/health`), loads the text model, then the embedding model beside it. SIGTERM ends it within
seconds with status 0; so does the end of the process that started it, unless it is told to outlive it.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import json
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
import traceback
import uuid
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar, cast

from local_engine.config import AdmissionKind, Batching, EngineConfig
from local_engine.embed.minilm import MINILM, load_minilm, minilm_folder
from local_engine.models import Models, load_text
from local_engine.server import Api, Server, create_app
from local_engine.types import Numerics

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from types import FrameType

    from starlette.applications import Starlette

T = TypeVar("T")
log = logging.getLogger("local_engine.process")  # also when it is run as __main__

_PR_SET_PDEATHSIG = 1
_SEED_BITS = 63
_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


def main(argv: Sequence[str]) -> NoReturn:
    """Serve with the settings of a command line, and end the process as `serve` does."""
    serve(parse(argv))


def serve(config: EngineConfig) -> NoReturn:
    """Serve until told to stop, and end the process.

    The status is 0 after SIGTERM or SIGINT and 1 when a model could not be loaded. The interpreter is not torn down:
    with torch that takes seconds, and a thread that is still loading could not be ended in good order.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    if config.exit_with_parent:
        _die_with_parent()
    _log_as_json()
    # OpenMP reads it when torch is first imported, while loading: idle workers must not keep the event loop waiting.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    listener = _listen(config)
    status = 1
    try:
        status = _Process(config).run(listener)
    except SystemExit as leaving:  # a signal, which the server raises again once it has shut down
        status = int(leaving.code or 0)
    except BaseException:
        log.exception("the server died")
    finally:
        if config.uds is not None:
            config.uds.unlink(missing_ok=True)
        logging.shutdown()
        os._exit(status)


class _Process:
    """The models, the server, and what loads the one behind the other."""

    def __init__(self, config: EngineConfig) -> None:
        self._config = config
        has_embeddings = config.embeddings and minilm_folder() is not None
        self._models = Models(config.model_name, MINILM if has_embeddings else None, int(time.time()))
        api = Api(self._models, max_body_bytes=config.max_body_bytes, now=time.time, new_id=lambda: uuid.uuid4().hex)
        self._server = Server(create_app(api, self._lifespan), self._models, config.stop_grace_s)
        self._has_failed = False

    def run(self, listener: socket.socket) -> int:
        """Serve on a bound socket until a model cannot be loaded; a signal raises SystemExit."""
        log.info("listening", extra={"address": listener.getsockname()})
        self._server.run(sockets=[listener])
        return int(self._has_failed)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None, None]:
        del app
        loading = asyncio.create_task(self._load())
        yield
        loading.cancel()
        with suppress(asyncio.CancelledError):
            await loading

    async def _load(self) -> None:
        config = self._config
        threads = config.threads or usable_cpus()
        try:
            text = await _in_thread(
                partial(load_text, config, threads, time.monotonic, partial(secrets.randbits, _SEED_BITS))
            )
            text.service.start()
            self._models.text = text
            log.info(
                "text model ready",
                extra={
                    "model": config.model_name,
                    "threads": threads,
                    "prefill_tokens_per_second": round(text.speeds.prefill),
                    "decode_tokens_per_second": round(text.speeds.decode or 0, 1),
                },
            )
            if self._models.has_embeddings:
                embedder = await _in_thread(partial(load_minilm, config.stall_after_s, time.monotonic))
                self._models.embedder = embedder
                log.info(
                    "embedding model ready",
                    extra={"model": embedder.name, "prefill_tokens_per_second": round(embedder.speeds.prefill)},
                )
        except Exception:
            log.exception("a model could not be loaded")
            self._has_failed = True
            self._server.should_exit = True


def parse(argv: Sequence[str]) -> EngineConfig:
    """Read a command line; on wrong usage print why and raise SystemExit(2)."""
    defaults = EngineConfig()
    parser = argparse.ArgumentParser("sluice engine serve", description="Serve the bundled model over the OpenAI API.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--uds", type=Path, help="Unix socket to listen on, for this user only")
    where.add_argument("--port", type=int, default=defaults.port, help="loopback port to listen on")
    parser.add_argument("--model-path", type=Path, help="GGUF file (the bundled model)")
    parser.add_argument("--model-name", default=defaults.model_name, help="name the model answers to (%(default)s)")
    parser.add_argument("--numerics", type=Numerics, choices=list(Numerics), default=defaults.numerics)
    parser.add_argument("--threads", type=int, default=0, help="compute threads (all CPUs this process may use)")
    parser.add_argument("--blocks", type=int, default=defaults.blocks, help="KV cache blocks (%(default)s)")
    parser.add_argument(
        "--max-running", type=int, default=defaults.batching.max_running, help="sequences at once (%(default)s)"
    )
    parser.add_argument(
        "--step-tokens", type=int, default=defaults.batching.step_tokens, help="tokens a step (%(default)s)"
    )
    parser.add_argument(
        "--admission", type=AdmissionKind, choices=list(AdmissionKind), default=defaults.batching.admission
    )
    parser.add_argument("--no-prefix-cache", action="store_true", help="compute every prompt from its beginning")
    parser.add_argument("--no-embeddings", action="store_true", help="do not load the embedding model")
    parser.add_argument("--outlive-parent", action="store_true", help="go on when the starting process ends")
    given = parser.parse_args(argv)
    try:
        batching = Batching(given.step_tokens, given.max_running, not given.no_prefix_cache, given.admission)
    except ValueError as error:
        parser.error(str(error))
    return EngineConfig(
        uds=given.uds,
        port=given.port,
        model_path=given.model_path,
        model_name=given.model_name,
        numerics=given.numerics,
        threads=given.threads,
        blocks=given.blocks,
        batching=batching,
        embeddings=not given.no_embeddings,
        exit_with_parent=not given.outlive_parent,
    )


def usable_cpus(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Return how many CPUs this process may use: its affinity, cut to the cgroup's quota where there is one."""
    cpus = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        limit, period = quota.read_text().split()
        cpus = min(cpus, max(1, int(limit) // int(period)))  # "max" is no number and no limit
    return cpus


class JsonLines(logging.Formatter):
    """One JSON object a line; of an exception its type and where it was raised, never its text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in _RECORD_FIELDS}
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__qualname__
            line["at"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, default=str)


def _log_as_json() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)


def _listen(config: EngineConfig) -> socket.socket:
    """Bind the socket; a Unix socket is for this user only, for whoever reaches it is not asked for a key."""
    if config.uds is None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((config.host, config.port))
        return listener
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    config.uds.unlink(missing_ok=True)
    mask = os.umask(0o177)
    try:
        listener.bind(str(config.uds))
    finally:
        os.umask(mask)
    return listener


def _die_with_parent() -> None:
    parent = os.getppid()
    if sys.platform != "linux":
        log.warning("this system cannot end a process with its parent")
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it had ended already
        _leave(signal.SIGTERM, None)


async def _in_thread(call: Callable[[], T]) -> T:
    """Await a call in a thread that the process may leave behind when it is told to stop meanwhile."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(cast("T", result))

    def run() -> None:
        result, error = None, None
        try:
            result = call()
        except Exception as failure:  # noqa: BLE001  raised again where it is awaited
            error = failure
        with suppress(RuntimeError):  # the loop is closed and nobody awaits it any more
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="loading", daemon=True).start()
    return await future


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
