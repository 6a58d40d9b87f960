"""The files of a bundle's library: its code, its layout, and what operations it is made of."""

from __future__ import annotations

from collections.abc import Mapping


def name_of(files: Mapping[str, str], part: str = "pe") -> str:
    """The library's file with the code of a PE, or with the layout."""
    own = f"_{part}.csl"
    (name,) = (name for name in files if name.endswith(own) and not name.startswith("clock_"))
    return name


def library_of(files: Mapping[str, str], part: str = "pe") -> str:
    """The text of the same."""
    return files[name_of(files, part)]


def with_operations(files: Mapping[str, str], before: str, after: str) -> dict[str, str]:
    """The files with something else in the text of every operation that has it; some has."""
    own = {name: text for name, text in files.items() if name.startswith(("op_", "table_"))}
    changed = {name: text.replace(before, after) for name, text in own.items()}
    assert changed != own
    return {**files, **changed}


def has_simd(files: Mapping[str, str], mode: str) -> bool:
    """Whether some operation has a SIMD mode."""
    return any(f".{mode} = true" in text for text in files.values())
