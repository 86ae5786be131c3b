from pathlib import Path

import pytest

from local_engine.config import AdmissionKind, Batching, EngineConfig
from local_engine.launch.options import parse
from local_engine.types import Numerics


def test_a_command_line_becomes_settings() -> None:
    given = {
        "--uds": "/x",
        "--model-path": "/m",
        "--threads": "3",
        "--blocks": "9",
        "--numerics": "fp32",
        "--max-running": "2",
        "--admission": "static",
    }
    assert parse([word for option in given.items() for word in option]) == EngineConfig(
        uds=Path("/x"),
        model_path=Path("/m"),
        threads=3,
        blocks=9,
        numerics=Numerics.FP32,
        batching=Batching(max_running=2, admission=AdmissionKind.STATIC),
    )
    assert parse([]) == EngineConfig()


@pytest.mark.parametrize(
    "wrong",
    [
        "--uds /x --port 1",
        "--numerics fp8",
        "--max-running 9 --step-tokens 8",
        "--blocks x",
        "--blocks 0",
        "--threads -1",
        "--port 99999",
        "--port -1",
        "--uds /there/is/no/folder/x",
        "--uds /" + 107 * "x",
        f"--uds {__file__}",
    ],
)
def test_wrong_usage_ends_with_status_2(wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(wrong.split())
    assert ended.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_help_explains_every_option_and_gives_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(["--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "sluice engine serve --uds" in shown
    assert "oracle (q4)" in shown
    assert "idle engine (continuous)" in shown
