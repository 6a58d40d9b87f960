"""The version of collc, in one place."""

__version__ = "0.1.0"
