"""Equal requests begin with equal bytes, and say the same as before."""

import json

from hypothesis import given
from hypothesis import strategies as st

from cache.prefix.ordering import ToolOrders, stable

tools = st.lists(st.binary(max_size=3), max_size=5)


def test_the_prompt_stands_before_what_changes_and_nothing_within_it_moves() -> None:
    schema = {"type": "object", "properties": {"b": {}, "a": {}}}
    body = {"user": "u1", "messages": [{"role": "user", "content": "Hi"}], "tools": [schema], "model": "m", "n": 1}
    said = stable(body)
    assert list(said) == ["model", "tools", "messages", "n", "user"]
    assert said == body
    assert json.dumps(said["tools"]) == json.dumps([schema])


@given(st.dictionaries(st.sampled_from(["model", "messages", "tools", "user", "n", "stop"]), st.integers()))
def test_the_order_does_not_depend_on_how_it_came(body: dict[str, int]) -> None:
    backwards = dict(reversed(body.items()))
    assert json.dumps(stable(body)) == json.dumps(stable(backwards))
    assert stable(body) == body


@given(tools, st.randoms(use_true_random=False))
def test_a_set_of_tools_keeps_the_order_it_was_first_met_in(some: list[bytes], chance: object) -> None:
    orders = ToolOrders()
    assert orders.order(b"red", some) == list(range(len(some)))
    shuffled = some.copy()
    chance.shuffle(shuffled)  # pyright: ignore[reportAttributeAccessIssue]
    places = orders.order(b"red", shuffled)
    assert sorted(places) == list(range(len(some)))
    assert [shuffled[place] for place in places] == some


def test_another_tenant_has_an_order_of_its_own() -> None:
    orders = ToolOrders()
    orders.order(b"red", [b"a", b"b"])
    assert orders.order(b"blue", [b"b", b"a"]) == [0, 1]
    assert orders.order(b"red", [b"b", b"a"]) == [1, 0]


def test_orders_are_bounded() -> None:
    orders = ToolOrders(most=1)
    orders.order(b"red", [b"a", b"b"])
    orders.order(b"red", [b"c", b"d"])
    assert orders.order(b"red", [b"b", b"a"]) == [0, 1]
