"""What is known of a model at its provider outlives the policies that name it, and says whom to blame."""

import gc

import pytest

from gateway.attempts.breaker import BreakerRule
from gateway.attempts.deployments import Deployment, Deployments
from gateway.errors import UpstreamError, UpstreamRefused, UpstreamResting, UpstreamTimeout
from gateway.providers.absent import AbsentUpstream
from tests.support.clocks import HandClock


@pytest.fixture
def deployment() -> Deployment:
    found = Deployments(HandClock()).of(AbsentUpstream("cloud", "cloud", ""), "far-1")
    found.breaker.obey(BreakerRule(failures=1))
    return found


def test_a_model_of_a_provider_is_one_deployment_as_long_as_the_provider_is_open() -> None:
    deployments, cloud = Deployments(), AbsentUpstream("cloud", "cloud", "")
    assert deployments.of(cloud, "a") is deployments.of(cloud, "a")
    assert deployments.of(cloud, "a") is not deployments.of(cloud, "b")
    assert deployments.of(AbsentUpstream("cloud", "cloud", ""), "a") is not deployments.of(cloud, "a")
    del cloud
    gc.collect()
    assert len(deployments._found) == 0


@pytest.mark.parametrize(
    ("error", "answered", "state"),
    [
        (None, True, "closed"),
        (UpstreamError("no", "cloud", 500), False, "open"),
        (UpstreamError("broke off", "cloud"), True, "open"),
        (UpstreamTimeout("silent", "cloud"), False, "open"),
        (UpstreamRefused("bad", "cloud", 400), False, "closed"),
        (KeyboardInterrupt(), False, "closed"),
        (None, False, "closed"),
    ],
)
def test_a_provider_is_blamed_for_its_own_failures_alone(
    deployment: Deployment, error: BaseException | None, answered: bool, state: str
) -> None:
    probe = deployment.begin()
    assert deployment.in_flight == 1
    deployment.end(error, probe=probe, answered=answered)
    assert (deployment.breaker.state, deployment.in_flight) == (state, 0)


def test_one_that_rests_is_not_called_and_says_for_how_long(deployment: Deployment) -> None:
    deployment.end(UpstreamError("no", "cloud", 500), probe=deployment.begin(), answered=False)
    with pytest.raises(UpstreamResting) as refused:
        deployment.begin()
    assert (refused.value.retry_after_s, deployment.in_flight) == (30, 0)
