"""Where alerts go, as a policy has it."""

from gateway.alerting.messages import Receiver
from gateway.alerting.watching import Receivers
from gateway.policy.document import Policy
from governance.policy.sections import Alerts


def receivers_of(document: Policy) -> Receivers:
    """Return where a team's alerts go: to its own webhook, or else to the one at the top of the policy."""
    top = _receiver(document.alerts)
    own = {team.name: _receiver(team.alerts) for team in document.teams}
    return lambda team: own.get(team) or top


def _receiver(alerts: Alerts | None) -> Receiver | None:
    return None if alerts is None or alerts.webhook is None else Receiver(str(alerts.webhook))
