"""From a policy file to a policy in force: parse, fill in the environment, check, price, compile."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib.resources import files
from typing import TYPE_CHECKING

from pydantic import ValidationError

from gateway.policy.document import Policy
from gateway.policy.environment import EXPANDED, Expanded, expand
from gateway.policy.findings import findings
from gateway.policy.positions import Parsed, parse
from gateway.policy.pricing.tariffs import PriceBook, Tariffs, tariffs_of
from gateway.policy.problems import PolicyInvalid, Problem, Reporter
from gateway.policy.references import check_references
from gateway.policy.schema import fields_at, policy_schema
from governance.prices.book import list_tariff

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from governance.policy.rules import Rules
    from governance.prices import Price, Tariff

STARTER = "built-in starter policy"
_STARTER_FILE = "starter.yaml"
VERSION_DIGITS = 12


@dataclass(frozen=True, slots=True)
class LoadedPolicy:
    """A policy that may be put in force.

    Attributes:
        document: What was written.
        rules: Its governing sections, compiled.
        version: Short digest of its content, secrets left out: the same on every process that has the same policy.
        source: Where it came from.
        warnings: What does not stop it.
        unavailable: Providers that cannot be used, and why.
        tariffs: What the models cost whose price the document or the price book states; `measured` ones are not here.
        prices: Their standard prices as it was read.
        unpriced: Models that have no price and may therefore not be used, and why.
        flagged: Models that have no price and are served at that of another all the same, and which.
    """

    document: Policy
    rules: Rules
    version: str
    source: str
    warnings: tuple[Problem, ...]
    unavailable: Mapping[str, str]
    tariffs: Mapping[str, Tariff]
    prices: Mapping[str, Price]
    unpriced: Mapping[str, str]
    flagged: Mapping[str, str]


def load_policy(
    path: Path | None, env: Mapping[str, str], at: datetime, price_book: PriceBook = list_tariff
) -> LoadedPolicy:
    """Read a policy file, or the starter policy when there is none.

    Args:
        path: The file; None for the starter policy.
        env: Where `${NAME}` is looked up.
        at: When: prices change at dates, and some begin at one.
        price_book: Where `price: list` is looked up.

    Raises:
        PolicyInvalid: The file cannot be read, or is no policy.
    """
    return parse_policy(policy_text(path), STARTER if path is None else str(path), env, at, price_book)


def policy_text(path: Path | None) -> str:
    """Return the text of a policy file, or of the starter policy when there is none.

    Raises:
        PolicyInvalid: The file cannot be read.
    """
    if path is None:
        return starter_text()
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise PolicyInvalid([Problem(str(path), 1, 1, "", f"cannot be read: {error.strerror}")]) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise PolicyInvalid([Problem(str(path), line, 1, "", "is not UTF-8 text")]) from error


def starter_text() -> str:
    """Return the policy of an installation that has none, comments and all."""
    return files("gateway.policy").joinpath(_STARTER_FILE).read_text("utf-8")


def parse_policy(
    text: str, name: str, env: Mapping[str, str], at: datetime, price_book: PriceBook = list_tariff
) -> LoadedPolicy:
    """Read a policy from its text; `name` is what problems call it.

    Raises:
        PolicyInvalid: The text is no policy; every problem is in it.
    """
    parsed = parse(text)
    report = Reporter(name, parsed)
    expanded = expand(parsed.data, env)
    problems = [report.fault(fault) for fault in parsed.faults]
    if problems and not parsed.keys:
        raise PolicyInvalid(problems)
    problems += check_references(report)
    try:
        document = Policy.model_validate(expanded.data)
    except ValidationError as error:
        raise PolicyInvalid([*problems, *_misshapen(report, error)]) from error
    if problems:
        raise PolicyInvalid(problems)
    tariffs = tariffs_of(document, at, price_book)
    return LoadedPolicy(
        document=document,
        rules=document.rules(),
        version=_version(parsed),
        source=name,
        warnings=tuple(_warnings(report, expanded, document, tariffs)),
        unavailable=_unavailable(expanded),
        tariffs=tariffs.of,
        prices=tariffs.prices(at),
        unpriced=tariffs.unpriced,
        flagged=tariffs.flagged,
    )


def _misshapen(report: Reporter, error: ValidationError) -> Iterator[Problem]:
    """Tell what pydantic found, except about parts that the parser has already left out."""
    schema = policy_schema()
    left_out = {fault.path for fault in report.parsed.faults}
    for found in error.errors(include_url=False, include_input=False):
        path = report.path_of(found["loc"])
        if path not in left_out:
            yield report.shape(found, fields_at(schema, path[:-1]))


def _unavailable(expanded: Expanded) -> dict[str, str]:
    reasons: dict[str, list[str]] = {}
    for path, variable in expanded.unset:
        if path[0] == "providers":
            reasons.setdefault(str(path[1]), []).append(f"{variable} is not set")
    return {name: "; ".join(listed) for name, listed in reasons.items()}


def _warnings(report: Reporter, expanded: Expanded, document: Policy, tariffs: Tariffs) -> Iterator[Problem]:
    for path, name in expanded.unset:
        then = f'provider "{path[1]}" is unavailable' if path[0] == "providers" else "its alerts go nowhere"
        yield report.at(path, f"{name} is not set: {then}", f"export {name} before the start")
    filled = ", ".join(sorted({pattern.rpartition(".")[2] for pattern in EXPANDED}))
    for path in expanded.literal:
        yield report.at(path, f"stays as it is written: ${{...}} is filled in for {filled} only")
    for index, model in enumerate(document.models):
        path = ("models", index, "price")
        if model.name in tariffs.unpriced:
            why = tariffs.unpriced[model.name]
            yield report.at(path, f"{why}: the model is unavailable", "write its prices")
        if model.name in tariffs.flagged:
            other = tariffs.flagged[model.name]
            yield report.at(path, f'has no price: it is flagged, and counted as "{other}"', "write its prices")
    yield from findings(report, document, tariffs.unpriced)


def _version(parsed: Parsed) -> str:
    canonical = json.dumps(parsed.data, default=_plain_number, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:VERSION_DIGITS]


def _plain_number(number: Decimal) -> int | str:
    """Write 15.00 as 15 and 1.50 as "1.5", so that a version depends on amounts and not on how they are written."""
    whole = number.to_integral_value()
    return int(whole) if whole == number else format(number.normalize(), "f")
