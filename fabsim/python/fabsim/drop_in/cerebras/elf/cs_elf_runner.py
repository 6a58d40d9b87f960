"""`CSELFRunner`: what ran ELF files before SdkRuntime.

The vendor's notes on release 0.9 say that its last programs were ported to SdkRuntime, and later
notes that its support is removed. What its `add_input_tensor` and `add_output_tensor` do with a
port map (an integer map in text) is on no page known here, so it is refused by name.
"""

from __future__ import annotations

from fabsim.mistakes import UserError


class CSELFRunner:
    """Refuses to be made, with a word on what to use instead."""

    def __init__(self, *_elf_paths: object, **_options: object) -> None:
        """Raise UserError."""
        raise UserError(
            "CSELFRunner is of releases before 1.0, and no page known here says what its port "
            "maps mean; releases from 1.0 on have SdkRuntime instead (load, memcpy_h2d, launch)"
        )
