"""The walls between tenants: which callers may be served one another's answers."""

import json

from cache.config import SharedBy


def partition(shared_by: SharedBy, *, team: str, app: str, key_id: str, namespace: str | None = None) -> str:
    """Name the group of callers that share answers with this one.

    Two callers get the same name if and only if they agree on everything that `shared_by` names and on the namespace;
    names of different kinds never collide, whatever characters teams and apps are called by.

    Args:
        shared_by: The policy's choice.
        team: The caller's team.
        app: The caller's app, unique within its team.
        key_id: The public id of the caller's key.
        namespace: The caller's own subdivision.
    """
    members: tuple[str, ...]
    match shared_by:
        case SharedBy.KEY:
            members = (team, app, key_id)
        case SharedBy.APP:
            members = (team, app)
        case SharedBy.TEAM:
            members = (team,)
        case SharedBy.ORG:
            members = ()
    return json.dumps([shared_by.value, *members, namespace])
