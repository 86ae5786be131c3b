"""How fast this machine computes, so that a gateway can price its tokens by the machine's time.

`probe.py` times the text model alone, before it serves. From then on each step is counted in `throughput.py`, where the
arithmetic is; `machine.py` says how many seconds of the machine a step had to itself when two models share it. With
`stats.py`, the figures of an engine at one moment, they reach whoever reads them.
"""
