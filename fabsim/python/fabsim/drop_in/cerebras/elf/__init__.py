"""The host interface of releases before 1.0, of which nothing is left but a message."""
