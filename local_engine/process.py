"""The engine as a process: its beginning, its end, and what ends it.

It answers at once (503 on `/health`), loads the text model, then the embedding model beside it. SIGTERM ends it within
seconds with status 0; so does the end of the process that started it, unless it is told to outlive it.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import secrets
import signal
import sys
import time
import uuid
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from local_engine.embed.minilm import MINILM, load_minilm, minilm_folder
from local_engine.errors import CannotListen
from local_engine.launch.listener import listening
from local_engine.launch.logs import log_as_json
from local_engine.launch.options import parse
from local_engine.measure.machine import Machine
from local_engine.models import Models, load_text
from local_engine.server import Api, Server, create_app
from local_engine.workers import Workers

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncGenerator, Sequence
    from types import FrameType

    from starlette.applications import Starlette

    from local_engine.config import EngineConfig

log = logging.getLogger("local_engine.process")  # also when it is run as __main__

_PR_SET_PDEATHSIG = 1
_SEED_BITS = 63
_WATCH_S = 0.5


def main(argv: Sequence[str]) -> NoReturn:
    """Serve with the settings of a command line, and end the process as `serve` does."""
    serve(parse(argv))


def serve(config: EngineConfig) -> NoReturn:
    """Serve until told to stop, and end the process.

    The status is 0 after SIGTERM or SIGINT, and 1 when it cannot listen, when a model could not be loaded, and when the
    text model will never answer again: then whoever started the process may start another. The interpreter is not torn
    down: with torch that takes seconds, and a thread that is still computing could not be ended in good order.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    if config.exit_with_parent:
        _die_with_parent()
    log_as_json()
    # OpenMP reads it when torch is first imported, while loading: idle workers must not keep the event loop waiting.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    status = 1
    try:
        with listening(config) as listener:
            status = _Process(config).run(listener)
    except CannotListen as error:
        sys.stderr.write(f"sluice engine serve: {error}\n")
    except SystemExit as leaving:  # a signal, which the server raises again once it has shut down
        status = int(leaving.code or 0)
    except BaseException:
        log.exception("the server died")
    finally:
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
        self._loader = Workers(1)
        self._has_failed = False

    def run(self, listener: socket.socket) -> int:
        """Serve on a socket until a model cannot be loaded or is lost; a signal raises SystemExit."""
        log.info("listening", extra={"address": listener.getsockname()})
        self._server.run(sockets=[listener])
        return int(self._has_failed)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncGenerator[None, None]:
        del app
        tasks = asyncio.create_task(self._load()), asyncio.create_task(self._watch())
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._loader.close()

    async def _load(self) -> None:
        config = self._config
        threads = config.threads or usable_cpus()
        machine = Machine(time.monotonic)
        try:
            text = await self._loader.run(
                partial(load_text, config, threads, machine, partial(secrets.randbits, _SEED_BITS))
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
                embedder = await self._loader.run(partial(load_minilm, config.stall_after_s, machine))
                self._models.embedder = embedder
                log.info(
                    "embedding model ready",
                    extra={"model": embedder.name, "prefill_tokens_per_second": round(embedder.speeds.prefill)},
                )
        except Exception as error:
            log.exception("a model could not be loaded", extra={"reason": str(error)})  # no prompt is known yet
            self._fail()

    async def _watch(self) -> None:
        while self._models.text is None or not self._models.text.service.is_lost:  # noqa: ASYNC110  a clock, no event
            await asyncio.sleep(_WATCH_S)
        log.error("the text model is lost")
        self._fail()

    def _fail(self) -> None:
        self._has_failed = True
        self._server.should_exit = True


def usable_cpus(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Return how many CPUs this process may use: its affinity, cut to the cgroup's quota where there is one."""
    cpus = len(os.sched_getaffinity(0))
    with suppress(OSError, ValueError):
        limit, period = quota.read_text().split()
        cpus = min(cpus, max(1, int(limit) // int(period)))  # "max" is no number and no limit
    return cpus


def _die_with_parent() -> None:
    parent = os.getppid()
    if sys.platform != "linux":
        log.warning("this system cannot end a process with its parent")
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it had ended already
        _leave(signal.SIGTERM, None)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del number, frame
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
