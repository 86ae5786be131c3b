"""The engine's command line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from local_engine.config import AdmissionKind, Batching, EngineConfig
from local_engine.types import Numerics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONGEST_PATH = 107  # bytes that the kernel takes for a Unix socket
_LAST_PORT = 65535
_EXAMPLES = """\
examples:
  sluice engine serve
  sluice engine serve --port 8101 --no-embeddings
  sluice engine serve --uds var/engine.sock --outlive-parent
  curl --unix-socket var/engine.sock http://engine/health
"""


def parse(argv: Sequence[str]) -> EngineConfig:
    """Read a command line; on wrong usage print why and raise SystemExit(2)."""
    parser = _parser(EngineConfig())
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


def _parser(defaults: EngineConfig) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "sluice engine serve",
        description="Serve the bundled model over the OpenAI API.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--uds", type=_socket_path, help="Unix socket to listen on, for this user only")
    where.add_argument(
        "--port", type=_whole(0, _LAST_PORT), default=defaults.port, help="loopback port to listen on (%(default)s)"
    )
    add("--model-path", type=Path, help="GGUF file (the bundled model)")
    add("--model-name", default=defaults.model_name, help="name the model answers to (%(default)s)")
    add(
        "--numerics",
        type=Numerics,
        choices=list(Numerics),
        default=defaults.numerics,
        help="arithmetic: 4-bit weights, fp32, or the slow oracle (%(default)s)",
    )
    add("--threads", type=_whole(0), default=0, help="compute threads (all CPUs this process may use)")
    add("--blocks", type=_whole(1), default=defaults.blocks, help="KV cache blocks (%(default)s)")
    batching = defaults.batching
    add("--max-running", type=int, default=batching.max_running, help="sequences at once (%(default)s)")
    add("--step-tokens", type=int, default=batching.step_tokens, help="tokens a step (%(default)s)")
    add(
        "--admission",
        type=AdmissionKind,
        choices=list(AdmissionKind),
        default=batching.admission,
        help="when waiting requests may join those that run: at any step, or only an idle engine (%(default)s)",
    )
    add("--no-prefix-cache", action="store_true", help="compute every prompt from its beginning")
    add("--no-embeddings", action="store_true", help="do not load the embedding model")
    add("--outlive-parent", action="store_true", help="go on when the starting process ends")
    return parser


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number within bounds."""

    def number(text: str) -> int:
        value = int(text)
        if value < least or (most is not None and value > most):
            bounds = f"at least {least}" if most is None else f"between {least} and {most}"
            raise argparse.ArgumentTypeError(f"{text} is not {bounds}")
        return value

    return number


def _socket_path(text: str) -> Path:
    path = Path(text)
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {path.parent}")
    if len(bytes(path)) > _LONGEST_PATH:
        raise argparse.ArgumentTypeError(f"the path is longer than {_LONGEST_PATH} bytes")
    if path.exists() and not path.is_socket():
        raise argparse.ArgumentTypeError(f"{path} exists and is no socket")
    return path
