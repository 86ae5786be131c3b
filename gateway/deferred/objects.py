"""Files and batches as the API shows them. Spec: the OpenAI API reference, "Files" and "Batch"; instants in seconds."""

from datetime import datetime
from typing import Any

from governance.deferred.records import Batch, Fault, StoredFile


def file_object(stored: StoredFile) -> dict[str, Any]:
    """Return a file's object."""
    return {
        "id": stored.id,
        "object": "file",
        "bytes": stored.size,
        "created_at": _seconds(stored.created_at),
        "filename": stored.filename,
        "purpose": stored.purpose,
        "status": "processed",
    }


def batch_object(batch: Batch) -> dict[str, Any]:
    """Return a batch's object."""
    counts = batch.counts
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "errors": {"object": "list", "data": [_fault(fault) for fault in batch.faults]} if batch.faults else None,
        "input_file_id": batch.input_file_id,
        "completion_window": batch.completion_window,
        "status": batch.status.value,
        "output_file_id": batch.output_file_id,
        "error_file_id": batch.error_file_id,
        "created_at": _seconds(batch.created_at),
        "in_progress_at": _seconds(batch.in_progress_at),
        "expires_at": _seconds(batch.expires_at),
        "finalizing_at": _seconds(batch.finalizing_at),
        "completed_at": _seconds(batch.completed_at),
        "failed_at": _seconds(batch.failed_at),
        "expired_at": _seconds(batch.expired_at),
        "cancelling_at": _seconds(batch.cancelling_at),
        "cancelled_at": _seconds(batch.cancelled_at),
        "request_counts": {"total": counts.total, "completed": counts.completed, "failed": counts.failed},
        "metadata": batch.metadata,
    }


def page(objects: list[dict[str, Any]], limit: int) -> dict[str, Any]:
    """Return a page of a list, for which one object more than `limit` was asked."""
    shown = objects[:limit]
    first, last = (shown[0]["id"], shown[-1]["id"]) if shown else (None, None)
    return {"object": "list", "data": shown, "first_id": first, "last_id": last, "has_more": len(objects) > limit}


def _fault(fault: Fault) -> dict[str, Any]:
    return {"code": fault.code, "message": fault.message, "param": fault.param, "line": fault.line}


def _seconds(at: datetime | None) -> int | None:
    return None if at is None else int(at.timestamp())
