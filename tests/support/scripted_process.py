"""A stand-in for a gateway or an engine: a real process that logs its life and answers `/readyz` as it is told.

Usage: python scripted_process.py NAME LOG [--port N --busy N] [--deaf] [--dies STATUS] [--ends STATUS]
"""

import argparse
import signal
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("name")
    parser.add_argument("log", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--busy", type=int, default=0, help="answer 503 so many times first")
    parser.add_argument("--deaf", action="store_true", help="ignore SIGTERM")
    parser.add_argument("--dies", type=int, help="end at once with this status")
    parser.add_argument("--ends", type=int, default=0, help="end with this status when told to")
    asked = parser.parse_args()

    def note(event: str) -> None:
        with asked.log.open("a") as log:
            log.write(f"{asked.name} {event}\n")

    over = threading.Event()

    def stop(_number: int, _frame: object) -> None:
        note("told")
        if not asked.deaf:
            over.set()

    signal.signal(signal.SIGTERM, stop)
    note("began")
    if asked.dies is not None:
        sys.exit(asked.dies)
    if asked.port:
        threading.Thread(target=serve, args=(asked.port, asked.busy), daemon=True).start()
    while not over.wait(0.05):
        pass
    note("ended")
    sys.exit(asked.ends)


NOT_READY = (
    b'{"reasons": ["No chat model can be called."], "unavailable": {"engine": "answers 503", "cloud": "no key"}, '
    b'"unavailable_models": {"minilm": "is still loading"}}'
)


def serve(port: int, busy: int) -> None:
    left = [busy]

    class Ready(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            left[0] -= 1
            self.send_response(503 if left[0] >= 0 else 200)
            self.end_headers()
            self.wfile.write(NOT_READY)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (http.server's own name)
            """Say nothing."""

    HTTPServer(("127.0.0.1", port), Ready).serve_forever()


if __name__ == "__main__":
    main()
