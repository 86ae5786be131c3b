"""Whatever a client sends, there are never more than four marks, and its own stay where they are."""

from copy import deepcopy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cache.prefix.memory import PrefixMemory
from cache.prefix.reuse import Stream
from gateway.prefix.choosing import chosen
from gateway.prefix.families import Family
from gateway.prefix.marks import marked
from gateway.prefix.outlines import MARK, Outline, outline
from governance.money import Nanodollars
from governance.prices import Price

CLAUDE = Family(marked=True, hour=True, least_tokens=0)
PRICE = Price(
    input=Nanodollars(3000),
    cached_input=Nanodollars(300),
    cache_write=Nanodollars(3750),
    cache_write_1h=Nanodollars(6000),
    output=Nanodollars(15_000),
    source="policy",
)
WHOSE = ("red/bot", "faq")

marks = st.fixed_dictionaries(
    {}, optional={MARK: st.sampled_from([{"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}])}
)
parts = st.builds(lambda text, mark: {"type": "text", "text": text} | mark, st.sampled_from(["", "a", "b"]), marks)
contents = st.sampled_from(["", "Hi"]) | st.lists(parts, max_size=3)
turns = st.one_of(
    st.builds(lambda content: {"role": "user", "content": content}, contents),
    st.builds(lambda content: {"role": "assistant", "content": content}, st.sampled_from(["", "Yes"])),
    st.builds(lambda content, mark: {"role": "tool", "tool_call_id": "1", "content": content} | mark, contents, marks),
)
tools = st.lists(st.builds(lambda mark: {"type": "function", "function": {"name": "f"}} | mark, marks), max_size=2)
bodies = st.builds(
    lambda lead, said, offered, mark: {"messages": [*lead, *said]} | ({"tools": offered} if offered else {}) | mark,
    st.lists(st.builds(lambda content: {"role": "system", "content": content}, contents), max_size=1),
    st.lists(turns, min_size=1, max_size=6),
    tools,
    marks,
)


def choose(body: dict[str, Any], found: Outline, memory: PrefixMemory, *, hour: bool) -> dict[str, Any]:
    ends = chosen(
        body, found, CLAUDE, memory=memory, place="claude", whose=WHOSE, price=PRICE, tokens=100, hour=hour, now=0.0
    )
    return marked(body, ends)


def without(value: object) -> object:
    """Take marks away, and write a lone text as text."""
    if isinstance(value, list):
        bare = [without(each) for each in value]
        texts = [each["text"] for each in bare if isinstance(each, dict) and set(each) == {"type", "text"}]
        return texts[0] if len(bare) == len(texts) == 1 else bare
    if isinstance(value, dict):
        return {name: without(each) for name, each in value.items() if name != MARK}
    return value


def all_marks(value: object, path: tuple[object, ...] = ()) -> dict[tuple[object, ...], object]:
    if isinstance(value, list):
        return {at: mark for n, each in enumerate(value) for at, mark in all_marks(each, (*path, n)).items()}
    if isinstance(value, dict):
        own = {path: value[MARK]} if MARK in value else {}
        return own | {at: mark for name, each in value.items() for at, mark in all_marks(each, (*path, name)).items()}
    return {}


@given(bodies, st.booleans(), st.integers(0, 6))
def test_there_are_never_more_than_four_marks_and_the_clients_are_as_it_put_them(
    body: dict[str, Any], hour: bool, known: int
) -> None:
    found = outline(body, b"red/bot")
    if found is None:
        return
    memory = PrefixMemory()
    memory.answered("claude", {end.digest: (300, 50) for end in found.ends[:known]}, [], 0.0)
    before = deepcopy(body)
    said = choose(body, found, memory, hour=hour)
    theirs, ours = all_marks(before), all_marks(said)
    assert body == before
    assert theirs.items() <= ours.items()
    assert len(ours) <= max(4, len(theirs))
    assert without(said) == without(before)
    seconds = [isinstance(mark, dict) and mark.get("ttl") == "1h" for mark in ours.values()]
    if not theirs:  # what is kept longer stands before what is not; `tools` come before messages
        in_order = [mark for _, mark in sorted(zip(map(place, ours), seconds, strict=True))]
        assert in_order == sorted(in_order, reverse=True)


def place(path: tuple[object, ...]) -> tuple[bool, int]:
    return path[0] != "tools", int(str(path[1]))


def test_a_mark_for_an_hour_of_the_clients_has_none_of_ours_around_it() -> None:
    hour = {"type": "text", "text": "Long.", MARK: {"type": "ephemeral", "ttl": "1h"}}
    body = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [hour]}]}
    found = outline(body, b"")
    assert found is not None
    assert choose(body, found, PrefixMemory(), hour=True) == body


def test_where_the_client_has_asked_for_a_mark_at_the_end_we_put_none_there() -> None:
    body: dict[str, Any] = {
        MARK: {"type": "ephemeral"},
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
    }
    found = outline(body, b"")
    assert found is not None
    assert list(all_marks(choose(body, found, PrefixMemory(), hour=True))) == [(), ("messages", 0, "content", 0)]


def test_a_long_conversation_has_a_mark_where_it_was_read_last() -> None:
    say = {"role": "user", "content": "Hi"}
    body: dict[str, Any] = {"messages": [say, {"role": "assistant", "content": "Yes"}, say]}
    found = outline(body, b"")
    assert found is not None
    memory = PrefixMemory()
    memory.answered("claude", {found.turns[0].digest: (300, 50)}, [], 0.0)
    assert [path[1] for path in all_marks(choose(body, found, memory, hour=False))] == [0, 2]


def test_a_write_of_unknown_price_is_not_taken_for_free() -> None:
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "Hi"}]}
    found = outline(body, b"")
    assert found is not None
    memory = PrefixMemory()
    for _ in range(3):
        memory.reuse.begun(Stream(*WHOSE, "opening"))

    def choice(price: Price) -> int:
        return len(
            chosen(body, found, CLAUDE, memory=memory, place="c", whose=WHOSE, price=price, tokens=9, hour=False, now=0)
        )

    assert (choice(replace(PRICE, cache_write=None)), choice(replace(PRICE, cache_write=PRICE.input))) == (0, 1)
