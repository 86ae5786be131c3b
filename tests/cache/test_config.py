import pytest
from pydantic import ValidationError

from cache.config import CacheSection, ExactSection, SharedBy, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("30s", 30), ("10m", 600), ("24h", 86_400), ("7d", 604_800), ("2w", 1_209_600)]
)
def test_a_duration_is_read_as_seconds(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("value", ["0s", "1", "h", "1.5h", "-1h", " 1h", "1y", "12345678d", 60, True, None])
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValidationError, match="should be a duration such as 30s"):
        ExactSection.model_validate({"ttl": value})


def test_a_kind_of_cache_that_is_absent_is_off() -> None:
    section = CacheSection.model_validate({"exact": {"ttl": "24h"}})
    assert section.exact == ExactSection.model_construct(ttl=86_400, shared_by=SharedBy.APP)
    assert section.semantic is None
    assert CacheSection().exact is None
