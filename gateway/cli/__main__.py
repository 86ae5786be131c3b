"""`python -m gateway.cli` is `sluice`."""

from gateway.cli import main

main()
