import pytest

from local_engine.config import AdmissionKind, Batching
from local_engine.schedule.policies import Continuous, Dynamic, Static, admission_of


def test_continuous_admission_fills_the_places_that_are_left() -> None:
    assert Continuous(4).places(waiting=9, running=3, waited_s=0.0) == 1


def test_static_admission_waits_for_an_empty_engine() -> None:
    assert Static(4).places(waiting=9, running=1, waited_s=99.0) == 0
    assert Static(4).places(waiting=1, running=0, waited_s=0.0) == 4


@pytest.mark.parametrize(
    ("waiting", "running", "waited_s", "places"), [(1, 0, 0.5, 0), (4, 0, 0.0, 4), (1, 0, 1.0, 4), (4, 1, 9.0, 0)]
)
def test_dynamic_admission_waits_for_a_full_batch_or_its_window(
    waiting: int, running: int, waited_s: float, places: int
) -> None:
    assert Dynamic(4, 1.0).places(waiting=waiting, running=running, waited_s=waited_s) == places


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        (AdmissionKind.CONTINUOUS, Continuous(2)),
        (AdmissionKind.STATIC, Static(2)),
        (AdmissionKind.DYNAMIC, Dynamic(2, 0.5)),
    ],
)
def test_settings_name_the_policy(kind: AdmissionKind, policy: object) -> None:
    assert admission_of(Batching(step_tokens=2, max_running=2, admission=kind, window_s=0.5)) == policy
