"""The pages behind `collc explain`: one for each diagnostic code."""

from importlib.resources import files


def explanation(code: str) -> str | None:
    """The page of `code` (such as "C101"), or None if there is no such code."""
    if not code.isalnum():
        return None
    page = files("collc.explanations").joinpath(f"{code}.md")
    return page.read_text(encoding="utf-8") if page.is_file() else None


def explained_codes() -> tuple[str, ...]:
    """All codes that have a page, sorted."""
    names = (entry.name for entry in files("collc.explanations").iterdir())
    return tuple(sorted(name.removesuffix(".md") for name in names if name.endswith(".md")))
