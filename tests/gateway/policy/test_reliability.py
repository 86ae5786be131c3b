from gateway.policy.document import Policy
from gateway.policy.positions import parse
from gateway.policy.reliability import Reliability, Timeouts, TimeoutsSection
from tests.support.policy_texts import SMALL


def test_a_policy_that_says_nothing_waits_as_long_as_the_defaults() -> None:
    policy = Policy.model_validate(parse(SMALL).data)
    assert [policy.timeouts(name) for name in policy.providers] == [Timeouts()] * len(policy.providers)


def test_a_provider_is_waited_for_as_it_says_itself_and_else_as_everyone_is() -> None:
    reliability = Reliability.model_validate({"timeouts": {"idle": "30s", "total": "5m"}})
    own = TimeoutsSection.model_validate({"idle": "2m"})
    assert reliability.timeouts_of(own) == Timeouts(idle_s=120, total_s=300)
    assert reliability.timeouts_of(None) == Timeouts(idle_s=30, total_s=300)
