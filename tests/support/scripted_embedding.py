"""A process that speaks as `cache.embedding.server` does, and misbehaves when a text tells it to."""

import os
import signal
import sys
import time

import numpy as np

from cache.embedding.frames import Failed, Ready, Texts, Vectors, next_frame, write_frame

DIMENSIONS = 4


def vector(text: str) -> list[float]:
    """Return a unit vector that tells texts of different lengths apart."""
    angle = len(text) / 1_000
    return [np.cos(angle), np.sin(angle), 0.0, 0.0]


def answer(texts: tuple[str, ...]) -> bytes:
    if "die" in texts:
        os.kill(os.getpid(), signal.SIGKILL)
    if "hang" in texts:
        time.sleep(60)
    if "babble" in texts:
        return b"\xff" * 8
    if "too few" in texts:
        return write_frame(Vectors(b"\0" * 4))
    if "refuse" in texts:
        return write_frame(Failed("these texts are not for me"))
    return write_frame(Vectors(np.array([vector(text) for text in texts], np.float32).tobytes()))


def main(how: str) -> None:
    out = sys.stdout.buffer
    if how == "fails":
        out.write(write_frame(Failed("the model is broken")))
        return
    if how == "mute":
        time.sleep(60)
    if how == "leaks":
        out.write(write_frame(Failed(",".join(sorted(os.environ)))))
        return
    out.write(write_frame(Ready(DIMENSIONS)))
    out.flush()
    while isinstance(message := next_frame(sys.stdin.buffer), Texts):
        out.write(answer(message.texts))
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
