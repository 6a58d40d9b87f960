"""The machine: its numbers, each with its source, and the fabric that a program is placed on."""

from collc.target.machine import (
    SDK_RELEASES,
    TARGETS,
    WSE2,
    WSE3,
    Target,
)
