"""What a process needs before it serves: its settings, a place to listen, a log.

`options.py` reads a command line, `listener.py` takes a socket that nobody else has, `logs.py` writes JSON lines. None
of them knows models or HTTP; `local_engine/process.py` puts them together.
"""
