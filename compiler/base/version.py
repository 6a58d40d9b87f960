"""The version of collc, in one place."""

__version__ = "0.2.0"
