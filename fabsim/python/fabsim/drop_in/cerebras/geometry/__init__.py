"""Stand-ins for the vendor's host modules, backed by fabsim."""
