import pytest

from dashboards.sign_in import SESSION_SECONDS, SignIn, Throttle, TooManyGuesses, WrongKey

SECRET = bytes(range(32))


class Clock:
    """A clock the test turns by hand."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def sign_in(clock: Clock, admin_key: str = "sk-admin", secret: bytes = SECRET) -> SignIn:
    return SignIn(admin_key=admin_key, secret=secret, clock=clock)


def test_the_admin_key_opens_a_session_that_lasts_twelve_hours() -> None:
    clock = Clock()
    door = sign_in(clock)
    token = door.open(" sk-admin\n", "192.0.2.1")
    assert door.is_open(token)
    clock.now += SESSION_SECONDS - 1
    assert door.is_open(token)
    clock.now += 1
    assert not door.is_open(token)


def test_a_wrong_key_opens_nothing() -> None:
    with pytest.raises(WrongKey):
        sign_in(Clock()).open("sk-admi", "192.0.2.1")


@pytest.mark.parametrize("token", [None, "", ".", "..", "9999999999.x.", "9999999999.x.0123", "é.é.é", "a" * 10_000])
def test_a_made_up_session_is_not_open(token: str | None) -> None:
    assert not sign_in(Clock()).is_open(token)


def test_a_session_moved_to_a_later_end_is_not_open() -> None:
    door = sign_in(Clock())
    end, nonce, signature = door.open("sk-admin", "192.0.2.1").split(".")
    assert not door.is_open(f"{int(end) + 1}.{nonce}.{signature}")


def test_a_session_survives_a_restart_but_not_a_new_admin_key_nor_another_home() -> None:
    clock = Clock()
    token = sign_in(clock).open("sk-admin", "192.0.2.1")
    assert sign_in(clock).is_open(token)
    assert not sign_in(clock, admin_key="sk-other").is_open(token)
    assert not sign_in(clock, secret=bytes(32)).is_open(token)


def test_a_form_is_believed_only_from_the_browser_it_was_made_for() -> None:
    door = sign_in(Clock())
    form = door.form_token("browser-1")
    assert door.is_form("browser-1", form)
    assert not door.is_form("browser-2", form)
    assert not door.is_form("browser-1", "")
    assert not door.is_form("browser-1", "é")
    assert not door.is_form(None, form)
    assert not door.is_form("", door.form_token(""))


def test_the_sixth_guess_of_a_minute_is_refused_even_when_it_is_right() -> None:
    clock = Clock()
    door = sign_in(clock)
    for _ in range(5):
        with pytest.raises(WrongKey):
            door.open("guess", "192.0.2.1")
    with pytest.raises(TooManyGuesses) as refused:
        door.open("sk-admin", "192.0.2.1")
    assert refused.value.retry_after_s == 60.0
    assert door.is_open(door.open("sk-admin", "192.0.2.2"))
    clock.now += 60
    assert door.is_open(door.open("sk-admin", "192.0.2.1"))


def test_knowing_the_key_starts_an_address_afresh() -> None:
    door = sign_in(Clock())
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(WrongKey):
                door.open("guess", "192.0.2.1")
        door.open("sk-admin", "192.0.2.1")


def test_the_throttle_remembers_a_bounded_number_of_addresses() -> None:
    throttle = Throttle(Clock())
    for n in range(10_100):
        throttle.guess(str(n))
    assert len(throttle._since) == 10_000


def test_a_short_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        sign_in(Clock(), secret=b"short")
