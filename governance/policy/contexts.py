"""How much context requests may carry, as a policy says it for everyone, and for a team, an app or a feature."""

from __future__ import annotations

from dataclasses import replace

from governance.context.rule import ContextRule, Mode
from governance.policy.fields import Count, Flag, Section


class TrimSection(Section):
    """What to do with a context that is too long; what is absent is as around it.

    Attributes:
        mode: `off`; `warn` to say what would be cut; `trim` to cut it; `refuse` to turn the request away.
        keep_last_turns: How many turns stay as they are, the one to be answered included.
        target_tokens: The length from which on it is too long, and to which it is cut.
    """

    mode: Mode | None = None
    keep_last_turns: Count | None = None
    target_tokens: Count | None = None


class ContextSection(Section):
    """How much context requests may carry; what is absent is as around it.

    Attributes:
        audit: Record what the context is made of.
        max_input_tokens: The longest prompt; within a section it may only be less than around it.
        trim: What to do with a longer one.
    """

    audit: Flag | None = None
    max_input_tokens: Count | None = None
    trim: TrimSection = TrimSection()


def within(outer: ContextRule, section: ContextSection | None) -> ContextRule:
    """Put a section's own rules inside those around it: the innermost holds, and of the longest prompts the least."""
    if section is None:
        return outer
    limits = [each for each in (outer.max_input_tokens, section.max_input_tokens) if each is not None]
    given = {
        "audit": section.audit,
        "mode": section.trim.mode,
        "keep_last_turns": section.trim.keep_last_turns,
        "target_tokens": section.trim.target_tokens,
    }
    said = {name: value for name, value in given.items() if value is not None}
    return replace(outer, max_input_tokens=min(limits, default=None), **said)
