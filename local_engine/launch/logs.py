"""The engine's log: JSON lines on standard error, in the shape of the gateway's."""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """One JSON object a line; of an exception its type and where it was raised, never its text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as JSON."""
        stamp = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
        line: dict[str, object] = {
            "event": record.getMessage(),
            "level": record.levelname.lower(),
            "timestamp": stamp.replace("+00:00", "Z"),
            "logger": record.name,
        }
        line |= {key: value for key, value in vars(record).items() if key not in _RECORD_FIELDS}
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__qualname__
            line["at"] = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, default=str)


def log_as_json() -> None:
    """Send everything that is logged in this process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.captureWarnings(capture=True)
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
