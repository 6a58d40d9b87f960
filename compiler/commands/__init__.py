"""The commands of `collc`, a module for each, which holds its `command`; loaded when it is used."""
