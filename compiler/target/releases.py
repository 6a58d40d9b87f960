"""The SDK releases that emitted text is for.

Structs have named types, which no release before 2.10 has; what 2.10 has removed is not in the
text. Manifests say it, docs and tests read it here.
"""

RELEASES = ("2.10",)
