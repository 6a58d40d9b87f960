"""The statuses that commands exit with; `collc.start` and `collc.cli` have those of the shell."""

FAULT, USAGE, WRONG_RUN = 1, 2, 3
