"""`python -m collc` is the same as `collc`."""

from collc.start import main

main()
