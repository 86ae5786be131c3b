"""Structured logs: one JSON object per line on standard error, never a prompt, an answer or a secret."""

import logging
import sys
from typing import Any, BinaryIO

import msgspec
import structlog
from structlog.typing import FilteringBoundLogger

from gateway.policy.findings.enforcement import notes
from gateway.policy.history.starting import Standing

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def open_log(level: str) -> FilteringBoundLogger:
    """Return the process's own logger, and send what libraries log (warnings and worse) the same way."""
    threshold = _LEVELS.get(level.lower(), _LEVELS["info"])
    stamp = structlog.processors.TimeStamper(fmt="iso", utc=True)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(serializer=_text),
            ],
            foreign_pre_chain=[structlog.stdlib.add_log_level, structlog.stdlib.add_logger_name, stamp],
        )
    )
    logging.basicConfig(handlers=[handler], level=max(threshold, logging.WARNING), force=True)
    return json_log(sys.stderr.buffer, threshold)


def json_log(to: BinaryIO, threshold: int = _LEVELS["info"]) -> FilteringBoundLogger:
    """Return a logger that writes to a stream what is at least so important."""
    return structlog.wrap_logger(
        structlog.BytesLogger(to),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(serializer=_bytes),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        cache_logger_on_first_use=True,
    )


def _bytes(event: Any, **_: object) -> bytes:
    return msgspec.json.encode(event, enc_hook=str)


def _text(event: Any, **_: object) -> str:
    return _bytes(event).decode()


def say_policy(log: FilteringBoundLogger, standing: Standing) -> None:
    """Tell which policy a gateway starts with, and what of it is not obeyed."""
    policy = standing.policy
    log.info("policy", source=policy.source, version=policy.version)
    if standing.trouble:
        log.error("policy refused", reason=standing.trouble)
    for warning in policy.warnings:
        log.warning("policy", at=f"{warning.file}:{warning.line}:{warning.column}", warning=warning.message)
    for note in notes(policy.document):
        log.warning("policy not yet enforced", path=note.path, instead=note.sentence)
