"""What a config says of failures, the cache, guardrails and alerts, as far as a policy can say it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gateway.importing.draft import GuardrailDraft, ReliabilityDraft

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gateway.importing.source import Source
    from gateway.policy.positions import Path

_CACHE: Final = ("litellm_settings", "cache_params")
_TTL: Final = "1h"
_LONGEST_S: Final = 9_999_999
_MOST_RETRIES: Final = 10
_SECTIONS: Final = ("router_settings", "litellm_settings")
_TIMEOUTS: Final = (("router_settings", "timeout"), ("litellm_settings", "request_timeout"))
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


def reliability(source: Source) -> ReliabilityDraft:
    """Read what is done when a provider fails; the router's own settings come before those of all calls."""
    fails = ("router_settings", "allowed_fails")
    allowed = _whole(source, fails, least=0)
    if allowed is not None:
        source.change(fails, "Failures are counted in a row, for each model of each provider.")
    timeouts = [_whole(source, path) for path in _TIMEOUTS]
    retries = [_whole(source, (section, "num_retries"), least=0, most=_MOST_RETRIES) for section in _SECTIONS]
    return ReliabilityDraft(
        retries=next((number for number in retries if number is not None), None),
        failures=None if allowed is None else allowed + 1,
        pause_s=_whole(source, ("router_settings", "cooldown_time")),
        total_s=next(filter(None, timeouts), None),
    )


def _whole(source: Source, path: Path, *, least: int = 1, most: int = _LONGEST_S) -> int | None:
    """Read a whole number within bounds."""
    number = source.number(*path)
    if number is not None and not (least <= number <= most and number == number.to_integral_value()):
        return source.leave_out(path, f"Should be a whole number from {least} to {most}.")
    return None if number is None else int(number)


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
    if ttl is None or not 1 <= ttl <= _LONGEST_S:
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
