"""From the config of a LiteLLM proxy to a policy: the whole way."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gateway.importing.advice import OPENED, advice
from gateway.importing.budgets import concurrent, org_budgets, teams
from gateway.importing.deployments import deployments
from gateway.importing.draft import Draft
from gateway.importing.routes import offer
from gateway.importing.safeguards import cache_ttl, guardrails, reliability, webhook
from gateway.importing.secrets import Secrets
from gateway.importing.source import SECTIONS, ConfigUnreadable, Remark, Source
from gateway.importing.tiers import FRONTIER, RULE, tiers
from gateway.importing.writing import write
from gateway.policy.source import parse_policy

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from gateway.policy.source import LoadedPolicy

_NAME = "the imported policy"


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a config.

    Attributes:
        source: The config's name.
        policy: The policy, as YAML.
        variables: The names that the policy takes from the environment, sorted.
        remarks: What did not carry over as it was, in the order of the config.
    """

    source: str
    policy: str
    variables: tuple[str, ...]
    remarks: tuple[Remark, ...]

    def lines(self) -> list[str]:
        """Return what there is to know for people, one thing a line."""
        states = {True: "changed", False: "left out"}
        return [
            *(
                f"{self.source}:{remark.line}: {states[remark.carried]}: {remark.path}: {remark.sentence}"
                for remark in self.remarks
            ),
            *([f"Set in the environment: {', '.join(self.variables)}."] if self.variables else []),
        ]

    def facts(self) -> dict[str, Any]:
        """Return all of it for programs, as plain data."""
        return asdict(self)


def import_file(path: Path, at: datetime) -> Imported:
    """Read a config and make a policy of it.

    Args:
        path: The file.
        at: When: list prices, by which tiers are made, change at dates.

    Raises:
        ConfigUnreadable: The file cannot be read, or is no config.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ConfigUnreadable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigUnreadable(f"{path} is not UTF-8 text") from error
    return import_text(text, str(path), at)


def import_text(text: str, name: str, at: datetime) -> Imported:
    """Make a policy of the text of a config; `name` is what remarks call it.

    Raises:
        ConfigUnreadable: The text is no config.
    """
    source = Source(text, name)
    draft = _draft(source)
    priced = _loaded(write(draft, dict.fromkeys((model.name for model in draft.models), FRONTIER), ()), at)
    policy = write(draft, tiers(draft, priced.prices), priced.unpriced)
    _tell(source, draft, priced)
    for path in list(source.unused(OPENED)):
        source.leave_out(path, advice(path))
    variables = tuple(sorted(set(re.findall(r"\$\{(\w+)\}", policy))))
    return Imported(name, policy, variables, source.remarks())


def _draft(source: Source) -> Draft:
    for section in SECTIONS[1:]:
        source.keys(section)
    offered = offer(source, deployments(source, Secrets(source)))
    return Draft(
        providers=offered.providers,
        models=offered.models,
        routes=offered.routes,
        reliability=reliability(source),
        cache_ttl=cache_ttl(source),
        guardrails=tuple(guardrails(source)),
        concurrent=concurrent(source),
        budgets=tuple(org_budgets(source)),
        webhook=webhook(source),
        teams=teams(source),
    )


def _loaded(policy: str, at: datetime) -> LoadedPolicy:
    """Load what was written, as a gateway would: it knows what has a price."""
    return parse_policy(policy, _NAME, {}, at)


def _tell(source: Source, draft: Draft, priced: LoadedPolicy) -> None:
    """Say what was invented, and what is still missing."""
    if not draft.models:
        source.leave_out(("model_list",), "No model carried over; those in LiteLLM's database are not in this file.")
        return
    source.change(("model_list",), f"Tiers were invented {RULE}.")
    source.change(("model_list",), "Zones were guessed: onprem where the address is a private one, cloud elsewhere.")
    source.change(
        ("model_list",), "Teams, users and keys of LiteLLM's database are not here: write teams, and make keys."
    )
    for model in draft.models:
        if model.name in priced.unpriced:
            sentence = f'Model "{model.name}" has no known price and is unavailable until the policy states one.'
            source.change(("model_list",), sentence)
