import pytest

from dashboards.sign_in import SESSION_SECONDS, SignIn
from governance.errors import TooManyGuesses, Unauthenticated
from governance.people.roles import OWNER, Person, Role
from tests.support.people import ScriptedPeople

SECRET = bytes(range(32))


class Clock:
    """A clock the test turns by hand."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def sign_in(clock: Clock, seal: bytes = b"seal", secret: bytes = SECRET) -> SignIn:
    return SignIn(people=ScriptedPeople(clock, seal=seal), secret=secret, clock=clock)


async def test_the_admin_key_opens_a_session_that_lasts_twelve_hours() -> None:
    clock = Clock()
    door = sign_in(clock)
    token = await door.open(" sk-admin\n", "192.0.2.1")
    assert await door.who(token) == OWNER
    clock.now += SESSION_SECONDS - 1
    assert await door.who(token) == OWNER
    clock.now += 1
    assert await door.who(token) is None


async def test_a_wrong_key_opens_nothing() -> None:
    with pytest.raises(Unauthenticated):
        await sign_in(Clock()).open("sk-admi", "192.0.2.1")


@pytest.mark.parametrize("token", [None, "", ".", "..", "9999999999.x.", "9999999999.x.0123", "é.é.é", "a" * 10_000])
async def test_a_made_up_session_is_not_open(token: str | None) -> None:
    assert await sign_in(Clock()).who(token) is None


async def test_a_session_moved_to_a_later_end_is_not_open() -> None:
    door = sign_in(Clock())
    end, person, nonce, signature = (await door.open("sk-admin", "192.0.2.1")).split(".")
    assert await door.who(f"{int(end) + 1}.{person}.{nonce}.{signature}") is None


async def test_a_session_survives_a_restart_but_not_a_new_admin_key_nor_another_home() -> None:
    clock = Clock()
    token = await sign_in(clock).open("sk-admin", "192.0.2.1")
    assert await sign_in(clock).who(token) == OWNER
    assert await sign_in(clock, seal=b"another").who(token) is None
    assert await sign_in(clock, secret=bytes(32)).who(token) is None


def test_a_form_is_believed_only_from_the_browser_it_was_made_for() -> None:
    door = sign_in(Clock())
    form = door.form_token("browser-1")
    assert door.is_form("browser-1", form)
    assert not door.is_form("browser-2", form)
    assert not door.is_form("browser-1", "")
    assert not door.is_form("browser-1", "é")
    assert not door.is_form(None, form)
    assert not door.is_form("", door.form_token(""))


async def test_the_sixth_guess_of_a_minute_is_refused_even_when_it_is_right() -> None:
    clock = Clock()
    door = sign_in(clock)
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            await door.open("guess", "192.0.2.1")
    with pytest.raises(TooManyGuesses) as refused:
        await door.open("sk-admin", "192.0.2.1")
    assert refused.value.retry_after_s == 60.0
    assert await door.who(await door.open("sk-admin", "192.0.2.2")) == OWNER
    clock.now += 60
    assert await door.who(await door.open("sk-admin", "192.0.2.1")) == OWNER


async def test_knowing_the_key_starts_an_address_afresh() -> None:
    door = sign_in(Clock())
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(Unauthenticated):
                await door.open("guess", "192.0.2.1")
        await door.open("sk-admin", "192.0.2.1")


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        sign_in(Clock(), secret=b"short")


async def test_a_session_names_its_person_and_ends_when_their_key_does() -> None:
    clock = Clock()
    lead = Person("abc", "Ada", Role.TEAM_LEAD, "red")
    people = ScriptedPeople(clock, keys={"sk-lead": lead})
    door = SignIn(people=people, secret=SECRET, clock=clock)
    token = await door.open("sk-lead", "192.0.2.1")
    assert await door.who(token) == lead
    people.keys.clear()
    assert await door.who(token) is None
