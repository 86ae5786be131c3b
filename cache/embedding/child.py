"""One process that embeds, from its start to its end."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from cache.embedding.frames import BadFrame, Failed, Message, Ready, Texts, Vectors, read_frame, write_frame
from cache.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from asyncio.subprocess import Process
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_INHERITED: Final = ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH", "LD_LIBRARY_PATH", "XDG_CACHE_HOME")
_INHERITED_KINDS: Final = ("HF_", "CUDA_", "OMP_", "TORCH_", "TRANSFORMERS_", "SENTENCE_TRANSFORMERS_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to wait for a process, in seconds.

    Attributes:
        start_s: Until it is ready.
        stall_s: For one batch, before it counts as hung.
        again_s: Before it is started again, twice as long after each failure in a row.
        longest_s: The longest of these.
    """

    start_s: float = 180.0
    stall_s: float = 20.0
    again_s: float = 0.5
    longest_s: float = 60.0

    def before_start(self, failures: int) -> float:
        """Return the seconds to wait after so many failures in a row."""
        return min(self.again_s * 2.0 ** min(failures, 32), self.longest_s)


class Child:
    """A process that speaks `frames.py`; `start` makes one.

    Attributes:
        dimensions: The length of its vectors.
        has_answered: Whether it was of use.
    """

    def __init__(self, process: Process, stdin: StreamWriter, stdout: StreamReader, stall_s: float) -> None:
        self._process = process
        self._stdin = stdin
        self._stdout = stdout
        self._stall_s = stall_s
        self.dimensions = 0
        self.has_answered = False

    @classmethod
    async def start(cls, line: Sequence[str], threads: int, patience: Patience) -> Child:
        """Start the process and wait until it is ready.

        Raises:
            EmbeddingUnavailable: It will not be, and why.
        """
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *line,
            stdin=pipe,
            stdout=pipe,
            stderr=asyncio.subprocess.DEVNULL,
            env=_environment(os.environ, threads),
            start_new_session=True,  # Ctrl-C on the terminal is for the gateway
        )
        assert process.stdin is not None, "a pipe was asked for"  # noqa: S101
        assert process.stdout is not None, "a pipe was asked for"  # noqa: S101
        child = cls(process, process.stdin, process.stdout, patience.stall_s)
        try:
            child.dimensions = await child._hello(patience.start_s)
        except BaseException:
            await child.kill()
            raise
        return child

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    async def embed(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of texts; a process that does not answer as it should is killed.

        Raises:
            EmbeddingUnavailable: It cannot embed these texts, or it has died.
        """
        answer = await self._ask(Texts(tuple(texts)), self._stall_s)
        if isinstance(answer, Failed):
            raise EmbeddingUnavailable(answer.reason)
        try:
            vectors = np.frombuffer(answer.numbers if isinstance(answer, Vectors) else b"", np.float32)
            rows = list(vectors.reshape(len(texts), self.dimensions))
        except ValueError as error:
            raise self._gone() from error
        self.has_answered = True
        return rows

    async def ended(self) -> int:
        """Wait for the end of the process; return its status."""
        return await self._process.wait()

    async def kill(self) -> None:
        """End the process now."""
        self._kill()
        self._stdin.close()
        with suppress(OSError):
            await self._stdin.wait_closed()
        await self._process.wait()

    async def _hello(self, within_s: float) -> int:
        answer = await self._ask(None, within_s)
        if not isinstance(answer, Ready):
            raise EmbeddingUnavailable(answer.reason if isinstance(answer, Failed) else "its process makes no sense")
        return answer.dimensions

    async def _ask(self, question: Message | None, within_s: float) -> Message:
        try:
            async with asyncio.timeout(within_s):
                if question is not None:
                    self._stdin.write(write_frame(question))
                    await self._stdin.drain()
                return await read_frame(self._stdout)
        except (BadFrame, EOFError, OSError) as error:  # a timeout is an OSError
            raise self._gone() from error

    def _gone(self) -> EmbeddingUnavailable:
        """Make sure that it is, and return the error for it."""
        self._kill()
        return EmbeddingUnavailable("its process does not answer")

    def _kill(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()


def _environment(inherited: Mapping[str, str], threads: int) -> dict[str, str]:
    """Return what a process gets to know of ours: not the keys of providers. It computes, and keeps quiet."""
    known = {
        name: value for name, value in inherited.items() if name in _INHERITED or name.startswith(_INHERITED_KINDS)
    }
    return {
        **known,
        "OMP_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TQDM_DISABLE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
