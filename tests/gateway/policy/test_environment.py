from gateway.policy.environment import UNSET_URL, expand

DATA = {
    "providers": {
        "a": {"api_key": "${A}", "base_url": "https://${HOST}/v1", "zone": "${A}"},
        "b": {"api_key": "plain", "base_url": 7},
    },
    "teams": [{"name": "t", "alerts": {"webhook": "https://x/${HOOK}"}}],
}


def test_names_are_filled_in_where_they_belong() -> None:
    expanded = expand(DATA, {"A": "secret", "HOST": "example.com", "HOOK": "h"})
    assert expanded.data == {
        "providers": {
            "a": {"api_key": "secret", "base_url": "https://example.com/v1", "zone": "${A}"},
            "b": {"api_key": "plain", "base_url": 7},
        },
        "teams": [{"name": "t", "alerts": {"webhook": "https://x/h"}}],
    }
    assert expanded.unset == ()


def test_names_elsewhere_stay_as_they_are_and_are_told() -> None:
    assert expand(DATA, {}).literal == (("providers", "a", "zone"),)


def test_what_is_not_set_is_told_and_replaced_by_what_cannot_work() -> None:
    expanded = expand(DATA, {"HOST": "", "HOOK": "h"})
    assert expanded.unset == ((("providers", "a", "api_key"), "A"), (("providers", "a", "base_url"), "HOST"))
    assert expanded.data == {
        "providers": {
            "a": {"api_key": None, "base_url": UNSET_URL, "zone": "${A}"},
            "b": {"api_key": "plain", "base_url": 7},
        },
        "teams": [{"name": "t", "alerts": {"webhook": "https://x/h"}}],
    }


def test_a_value_is_not_expanded_again() -> None:
    expanded = expand({"providers": {"a": {"api_key": "${A}"}}}, {"A": "${B}", "B": "b"})
    assert expanded.data == {"providers": {"a": {"api_key": "${B}"}}}


def test_the_document_as_written_is_left_alone() -> None:
    data = {"providers": {"a": {"api_key": "${A}"}}}
    expand(data, {"A": "secret"})
    assert data == {"providers": {"a": {"api_key": "${A}"}}}
