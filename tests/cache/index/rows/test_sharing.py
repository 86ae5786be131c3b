import threading
from concurrent.futures import ThreadPoolExecutor

from cache.index.rows.sharing import Sharing

PATIENT_S = 30.0


def test_readers_are_in_together() -> None:
    sharing, both = Sharing(), threading.Barrier(2, timeout=PATIENT_S)

    def read() -> None:
        with sharing.reading():
            both.wait()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(read), threads.submit(read)]:
            done.result()


def test_a_writer_is_alone_and_nothing_is_lost() -> None:
    sharing, value, torn = Sharing(), [0, 0], list[bool]()

    def write() -> None:
        for _ in range(300):
            with sharing.writing():
                value[0] += 1
                value[1] += 1

    def read() -> None:
        for _ in range(300):
            with sharing.reading():
                torn.append(value[0] != value[1])

    with ThreadPoolExecutor(4) as threads:
        for done in [threads.submit(work) for work in (write, read, write, read)]:
            done.result(PATIENT_S)
    assert value == [600, 600]
    assert not any(torn)
