"""How routers are set, and whether all arrives: a file is a check, the function named after it."""
