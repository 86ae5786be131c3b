from governance.people.throttle import Throttle


def test_the_throttle_remembers_a_bounded_number_of_addresses() -> None:
    throttle = Throttle(lambda: 1_000_000.0)
    for n in range(10_100):
        throttle.guess(str(n))
    assert len(throttle._since) == 10_000
