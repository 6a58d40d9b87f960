"""`python -m collc` is the same as `collc`."""

from collc.cli import main

main()
