from decimal import Decimal

import pytest
from pydantic import ValidationError

from router_models.config import Calibrated, RouteRule

PAIR = {"name": "auto", "weak": "small", "strong": "large"}


@pytest.mark.parametrize(
    ("threshold", "meant"),
    [
        (Decimal("0.50"), Decimal("0.5")),
        (0, Decimal(0)),
        ({"quality": Decimal("0.95")}, Calibrated(quality=Decimal("0.95"))),
        ({"cost_share": Decimal("0.3")}, Calibrated(cost_share=Decimal("0.3"))),
    ],
)
def test_a_threshold_is_a_number_or_an_aim(threshold: object, meant: object) -> None:
    assert RouteRule.model_validate({**PAIR, "threshold": threshold}).threshold == meant


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"threshold": 2}, "less than or equal to 1"),
        ({"threshold": {"quality": 2}}, "less than or equal to 1"),
        ({"threshold": {}}, "either quality or cost_share"),
        ({"threshold": {"quality": 1, "cost_share": 1}}, "either quality or cost_share"),
        ({"shadow": {"share": Decimal("0.1"), "usd_per_day": 0}}, "greater than 0"),
        ({"fallback": ["x"]}, "Extra inputs"),
        ({"weak": ""}, "should match pattern"),
    ],
)
def test_a_section_that_makes_no_sense_is_refused_once(section: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as refusal:
        RouteRule.model_validate({**PAIR, **section})
    assert refusal.value.error_count() == 1
