"""`sluice context`: what prompts were made of, what would be cut of one, and how seldom an answer is lost."""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from governance.context.hours import ContextHours, Place, hour_of
from tests.support.command_line import CommandLine
from tests.support.databases import fresh_database

LINE = "The same line of a log that says nothing new at all to whoever has read it before."


def test_nothing_is_said_of_nothing(tmp_path: Path) -> None:
    shell = CommandLine(tmp_path)
    said = shell.run("context", "report").stdout
    assert said == "No prompt has been audited yet: see `context` in the policy.\n"
    assert shell.json("context", "report") == []


def test_the_report_says_what_the_repeated_text_of_each_feature_has_cost(tmp_path: Path) -> None:
    async def write() -> None:
        async with fresh_database(tmp_path) as database:
            sums = {"requests": 2, "tokens": 1000, "history": 750, "same": 200, "near": 50, "repeated_nanos": 3_000_000}
            place = Place(hour_of(datetime.now(UTC)), "red", "bot", "faq")
            await ContextHours(database).add({place: sums | {"input_nanos": 12_000_000}})

    asyncio.run(write())
    shell = CommandLine(tmp_path)
    (row,) = shell.json("context", "report")
    (team,) = shell.json("context", "report", "--by", "team")
    table = shell.run("context", "report").stdout

    assert (row["name"], row["requests"], row["repeated_usd"], row["input_usd"]) == ("red/bot/faq", 2, "0.003", "0.012")
    assert team["name"] == "red"
    assert "25%" in table
    assert "75%" in table


def test_a_preview_shows_what_would_be_cut_and_sends_nothing(tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    call = {"id": "c", "type": "function", "function": {"name": "log", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Read."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": f"{LINE}\n\n{LINE}\n\n{LINE}   "},
        {"role": "user", "content": "And?"},
    ]
    request.write_text(json.dumps({"messages": messages}))
    shell = CommandLine(tmp_path)
    said = shell.run("context", "preview", str(request), "--text", "--words-only").stdout
    facts = shell.json("context", "preview", str(request), "--words-only")

    assert "messages.2: said before, about" in said
    assert "The policy does nothing." in said
    assert "-" + LINE in said
    assert facts["left"] < facts["tokens"]
    assert [cut["how"] for cut in facts["cuts"]] == ["space", "same"]


def test_a_preview_follows_the_rules_of_a_feature(tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"messages": [{"role": "user", "content": "Hi"}]}))
    shell = CommandLine(tmp_path)

    assert shell.run("context", "preview", str(request), "--feature", "nobody/here").exit_code == 2
    assert shell.run("context", "preview", str(tmp_path / "none.json")).exit_code == 2
    request.write_text("[")
    assert shell.run("context", "preview", str(request)).exit_code == 2


def test_an_evaluation_says_how_much_is_cut_and_how_often_the_answer_stays(tmp_path: Path) -> None:
    shell = CommandLine(tmp_path)
    facts = shell.json("context", "evaluate", "--cases", "6", "--cut", "0.35", "--words-only")
    empty = tmp_path / "rows.jsonl"
    empty.write_text('{"prompt": "No question."}\n')

    assert facts[0]["kind"] == "all"
    assert len(facts) == 7
    assert facts[0]["cut"] > 0.25
    assert facts[0]["kept"]["low"] <= facts[0]["kept"]["value"] <= facts[0]["kept"]["high"]
    assert shell.run("context", "evaluate", "--public", str(empty)).exit_code == 2
