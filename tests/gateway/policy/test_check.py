import json
from pathlib import Path

from gateway.policy.check import check
from tests.support.policy_texts import AT, EXAMPLE, SMALL


def test_a_valid_policy_is_reported_with_what_will_be_missed() -> None:
    report = check(EXAMPLE, {}, AT)
    lines = report.lines()
    assert report.ok
    assert lines[0].startswith(f"{EXAMPLE}:20:14: warning: providers.openai.api_key: OPENAI_API_KEY is not set")
    assert any(": not yet obeyed: output.reasoning_effort: " in line for line in lines)
    assert lines[-1] == f"{EXAMPLE}: valid, version {report.version}, 2 warnings"


def test_an_invalid_policy_is_reported_with_its_problems_alone(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(SMALL.replace("limit: 5", "limit: 0"), "utf-8")
    report = check(path, {}, AT)
    assert not report.ok
    assert report.lines() == [
        f"{path}:14:17: teams.demo.budgets[0].limit: should be more than 0",
        f"{path}: 1 problem",
    ]


def test_the_starter_policy_is_valid() -> None:
    assert check(None, {}, AT).lines()[-1].endswith(", 0 warnings")


def test_a_report_is_plain_data_for_programs() -> None:
    facts = json.loads(json.dumps(check(EXAMPLE, {}, AT).facts()))
    assert facts["ok"] is True
    assert facts["problems"] == []
    assert set(facts["warnings"][0]) == {"file", "line", "column", "path", "message", "hint"}
    assert set(facts["notes"][0]) == {"path", "sentence"}
