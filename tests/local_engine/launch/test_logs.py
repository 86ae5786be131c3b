import json
import logging
import re

import pytest

from local_engine.launch.logs import JsonLines


def test_a_log_line_is_json_and_tells_no_exceptions_text() -> None:
    with pytest.raises(ValueError, match="user said") as raised:
        int("what the user said")
    failure = (raised.type, raised.value, raised.tb)
    record = logging.makeLogRecord({"msg": "it %s", "args": ("failed",), "exc_info": failure, "sequences": 3})
    line = json.loads(JsonLines().format(record))
    assert (line["event"], line["error"], line["sequences"]) == ("it failed", "ValueError", 3)
    assert "user said" not in str(line)


def test_a_log_line_has_the_shape_of_the_gateways() -> None:
    line = json.loads(
        JsonLines().format(logging.makeLogRecord({"msg": "it runs", "levelname": "INFO", "created": 0.5}))
    )
    assert list(line)[:3] == ["event", "level", "timestamp"]
    assert (line["event"], line["level"]) == ("it runs", "info")
    assert re.fullmatch(r"1970-01-01T00:00:00\.500000Z", line["timestamp"])
