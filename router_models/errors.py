"""What can go wrong in routing.

NoRoute
├── NotAllowed          the caller's tiers hold none of the models
├── ZoneRefused         none of the allowed models is inside the zone
├── ZoneUnavailable     those inside the zone are all down
└── NothingAvailable    no zone asked for, and the allowed models are all down
"""


class NoRoute(Exception):
    """No model is left that may answer.

    Attributes:
        route: The route, or the model that was asked for by name.
        models: The models that were looked at, in order.
    """

    def __init__(self, message: str, *, route: str, models: tuple[str, ...]) -> None:
        super().__init__(message)
        self.route = route
        self.models = models


class NotAllowed(NoRoute):
    """The caller's tiers hold none of the models."""

    def __init__(self, *, route: str, models: tuple[str, ...]) -> None:
        super().__init__(f'none of the models of "{route}" is allowed here', route=route, models=models)


class ZoneRefused(NoRoute):
    """No allowed model is inside the zone: waiting will not help.

    Attributes:
        zone: The zone that the request may not leave.
    """

    def __init__(self, *, route: str, models: tuple[str, ...], zone: str) -> None:
        super().__init__(f'no allowed model of "{route}" is in zone "{zone}"', route=route, models=models)
        self.zone = zone


class ZoneUnavailable(NoRoute):
    """Every allowed model inside the zone is down: waiting may help.

    Attributes:
        zone: The zone that the request may not leave.
    """

    def __init__(self, *, route: str, models: tuple[str, ...], zone: str) -> None:
        super().__init__(f'every model of "{route}" in zone "{zone}" is down', route=route, models=models)
        self.zone = zone


class NothingAvailable(NoRoute):
    """Every allowed model is down: waiting may help."""

    def __init__(self, *, route: str, models: tuple[str, ...]) -> None:
        super().__init__(f'every model of "{route}" is down', route=route, models=models)
