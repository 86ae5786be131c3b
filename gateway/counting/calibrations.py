"""What has been learnt of every model's tokenizer, kept in a file over a restart.

Several workers keep the same file, and the last one to write it wins: each sees its share of the same traffic, so what
one has learnt is worth as much as another's. A file that cannot be read is begun anew.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from gateway.counting.calibration import Calibration, Learnt

SAVE_S: Final = 60.0
"""How often what has been learnt is written down; what was learnt since is lost with a process that is killed."""


class Calibrations:
    """The calibration of each model, by its provider and the provider's name of it.

    Args:
        file: where they are kept.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found = {name: Calibration.of(learnt) for name, learnt in _read(file).items()}
        self._saved = self._prompts

    def of(self, provider: str, upstream_model: str) -> Calibration:
        """Return the calibration of a model; one that has learnt nothing yet where it is new."""
        return self._found.setdefault(f"{provider}/{upstream_model}", Calibration())

    def __iter__(self) -> Iterator[tuple[str, Calibration]]:
        """Iterate over every model of which something has been learnt, as `provider/model`."""
        return iter([(name, found) for name, found in self._found.items() if found.prompts])

    async def save(self) -> None:
        """Write down what has been learnt since it was last written.

        Raises:
            OSError: the file cannot be written.
        """
        prompts = self._prompts
        if prompts != self._saved:
            learnt = {name: found.learnt for name, found in self}
            await asyncio.to_thread(_write, self._file, msgspec.json.encode(learnt))
            self._saved = prompts

    @property
    def _prompts(self) -> int:
        return sum(found.prompts for found in self._found.values())


def _read(file: Path) -> dict[str, Learnt]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, Learnt])
    except (OSError, msgspec.DecodeError):
        return {}


def _write(file: Path, content: bytes) -> None:
    fresh = file.with_suffix(f".{os.getpid()}")
    fresh.write_bytes(content)
    fresh.replace(file)
