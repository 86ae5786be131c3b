"""What can go wrong in routing.

RouterFault
├── ArtifactUnusable    a trained router cannot be opened, or was made for something else
├── BadExample          a line of labelled prompts cannot be read, or knows no such models
└── TooFewExamples      there is not enough to learn or to measure anything

NoRoute
├── NotAllowed          the caller's tiers hold none of the models
├── ZoneRefused         none of the allowed models is inside the zone
├── ZoneUnavailable     none of those inside the zone can be called now
└── NothingAvailable    no zone asked for, and none of the allowed models can be called now
"""


class RouterFault(Exception):
    """Something is wrong with a trained router or with what it is trained on; no request is at fault."""


class ArtifactUnusable(RouterFault):
    """A trained router cannot be opened, or was made for something else."""


class BadExample(RouterFault):
    """A line of labelled prompts cannot be read, or the data know no such models."""


class TooFewExamples(RouterFault):
    """There are too few labelled prompts, or the two models never differ in them."""


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
    """No allowed model inside the zone can be called now: waiting may help.

    Attributes:
        zone: The zone that the request may not leave.
    """

    def __init__(self, *, route: str, models: tuple[str, ...], zone: str, why: str = "") -> None:
        message = f'no model of "{route}" in zone "{zone}" can be called now'
        super().__init__(f"{message}: {why}" if why else message, route=route, models=models)
        self.zone = zone


class NothingAvailable(NoRoute):
    """No allowed model can be called now: waiting may help."""

    def __init__(self, *, route: str, models: tuple[str, ...], why: str = "") -> None:
        message = f'no model of "{route}" can be called now'
        super().__init__(f"{message}: {why}" if why else message, route=route, models=models)
