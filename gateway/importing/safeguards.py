"""The cache, the guardrails and the alerts of a config, as far as a policy can say them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gateway.importing.draft import GuardrailDraft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.importing.source import Source
    from gateway.policy.positions import Path

_CACHE: Final = ("litellm_settings", "cache_params")
_TTL: Final = "1h"
_LONGEST_TTL_S: Final = 9_999_999
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ON: Final = {"pre_call": "input", "during_call": "input", "post_call": "output"}
_ENTITIES: Final = {
    "CREDIT_CARD": "card",
    "EMAIL_ADDRESS": "email",
    "IBAN_CODE": "iban",
    "PHONE_NUMBER": "phone",
    "UK_NHS": "national_id",
    "US_SSN": "national_id",
}
_ACTIONS: Final = {"MASK": "redact", "BLOCK": "block"}
_UNKNOWN: Final = (
    "Is not a guardrail of this gateway: write a rule of your own under guardrails, or call it from the app."
)


def cache_ttl(source: Source) -> str | None:
    """Read how long answers are kept, as a policy writes it; None when they are not."""
    on = source.flag("litellm_settings", "cache")
    kind, mode = source.text(*_CACHE, "type"), source.text(*_CACHE, "mode")
    ttl = source.number(*_CACHE, "ttl")
    if not on:
        return None
    if mode == "default_off":
        return source.leave_out((*_CACHE, "mode"), "Requests cannot opt in to a cache that is off: it is left off.")
    source.change(("litellm_settings", "cache"), "Answers are shared within an app, not between all keys.")
    if kind is not None and "semantic" in kind:
        source.leave_out(
            (*_CACHE, "type"), "Only the very same request is answered: name features under cache.semantic."
        )
    if ttl is None or not 1 <= ttl <= _LONGEST_TTL_S:
        source.change((*_CACHE, "ttl") if ttl else ("litellm_settings", "cache"), f"Answers are kept for {_TTL}.")
        return _TTL
    return f"{int(ttl)}s"


def webhook(source: Source) -> str | None:
    """Read where alerts go: LiteLLM takes the address itself from the environment."""
    found = None
    for path, channel in source.texts("general_settings", "alerting"):
        if channel in ("slack", "webhook"):
            found = found or f"${{{'SLACK_WEBHOOK_URL' if channel == 'slack' else 'WEBHOOK_URL'}}}"
            source.change(path, "Alerts are about budgets; /metrics and the log tell of failures and slow answers.")
        else:
            source.leave_out(path, "Alerts go to one webhook.")
    return found


def guardrails(source: Source) -> Iterator[GuardrailDraft]:
    """Read the guardrails that look for kinds of text which a policy knows."""
    taken: set[str] = set()
    for index in source.items("guardrails"):
        path: Path = ("guardrails", index)
        params = (*path, "litellm_params")
        name, kind = source.text(*path, "guardrail_name"), source.text(*params, "guardrail")
        modes = [mode for _, mode in source.texts(*params, "mode")]
        if kind not in ("hide-secrets", "presidio") or not modes or not all(mode in _ON for mode in modes):
            source.leave_out(path, _UNKNOWN)
            continue
        wanted = {"redact": ["secret", "private_key"]} if kind == "hide-secrets" else _entities(source, params)
        for on in dict.fromkeys(_ON[mode] for mode in modes):
            for action, detect in wanted.items():
                stem = name if name and _NAME.fullmatch(name) else f"guardrail-{index + 1}"
                rule = next(new for new in (stem, *(f"{stem[:60]}-{n}" for n in range(2, 100))) if new not in taken)
                taken.add(rule)
                yield GuardrailDraft(rule, on, tuple(dict.fromkeys(detect)), action)
        if not wanted:
            source.leave_out(path, "Looks for nothing that this gateway can recognise.")


def _entities(source: Source, params: Path) -> dict[str, list[str]]:
    """Group the entities of Presidio that are known here by what happens to them."""
    found: dict[str, list[str]] = {}
    for entity in source.keys(*params, "pii_entities_config"):
        place = (*params, "pii_entities_config", entity)
        action = _ACTIONS.get(source.text(*place) or "")
        if entity in _ENTITIES and action:
            found.setdefault(action, []).append(_ENTITIES[entity])
        else:
            source.leave_out(place, "Cannot be recognised, or acted on so, by this gateway.")
    return found
