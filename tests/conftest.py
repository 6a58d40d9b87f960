"""Settings of all tests: cases may take as long as a busy machine makes them."""

from hypothesis import settings

settings.register_profile("collc", deadline=None)
settings.load_profile("collc")
