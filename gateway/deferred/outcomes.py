"""Word what came of a line, as a line of an output or error file. Spec: the OpenAI API reference, "Batch"."""

from typing import Any

import msgspec

from gateway.wire.errors import ErrorBody, shape_of
from governance.deferred.records import Line


def answered(line: Line, body: dict[str, Any]) -> bytes:
    """Word an answer."""
    return _worded(line, 200, body)


def refused(line: Line, error: Exception, written: ErrorBody) -> bytes:
    """Word what the endpoint would have replied in place of an answer."""
    return _worded(line, shape_of(error).status, written(error, line.request_id))


def late(batch_id: str, custom_id: str, n: int) -> bytes:
    """Word the end of a line whose batch has no time left."""
    said = "This request could not be executed before the completion window expired."
    return _not_run(batch_id, custom_id, n, "batch_expired", said)


def cancelled(batch_id: str, custom_id: str, n: int) -> bytes:
    """Word the end of a line whose batch was cancelled before its turn came."""
    return _not_run(batch_id, custom_id, n, "batch_cancelled", "The batch was cancelled before this request was made.")


def _worded(line: Line, status: int, body: dict[str, Any]) -> bytes:
    response = {"status_code": status, "request_id": line.request_id, "body": body}
    about = {"id": _id(line.batch_id, line.n), "custom_id": line.custom_id}
    return msgspec.json.encode(about | {"response": response, "error": None})


def _not_run(batch_id: str, custom_id: str, n: int, code: str, message: str) -> bytes:
    about = {"id": _id(batch_id, n), "custom_id": custom_id, "response": None}
    return msgspec.json.encode(about | {"error": {"code": code, "message": message}})


def _id(batch_id: str, n: int) -> str:
    return f"batch_req_{batch_id.removeprefix('batch_')}_{n}"
