"""A prediction as text."""

from collc.machine.prediction import CriticalPath, Prediction, Wait

SHOWN_WAITS = 6


def show_prediction(prediction: Prediction) -> str:
    """Cycles against the bound, where they go, and what the slowest line waits for."""
    parts = ", ".join(f"{name} {part}" for name, part in prediction.breakdown.items() if part)
    head = [f"predicted: {prediction.cycles} cycles{show_gap(prediction)}", f"  {parts}"]
    paths = [_path(path) for path in prediction.critical_path]
    return "\n".join([*head, *paths, *show_note(prediction)]) + "\n"


def show_note(prediction: Prediction) -> list[str]:
    """What a prediction leaves out, as lines."""
    return [f"note: {prediction.note}"] if prediction.note else []


def show_gap(prediction: Prediction) -> str:
    """How far from the bounds, as the end of a sentence; empty for a single PE."""
    if prediction.gap is None:
        return ""
    words = f", {prediction.gap:.2f} times the bound of {prediction.bound}"
    if prediction.tree_gap is None:
        return words
    return f"{words}, {prediction.tree_gap:.2f} times what any tree needs ({prediction.tree_bound})"


def _path(path: CriticalPath) -> str:
    waits = [wait_words(wait) for wait in path.waits]
    return f"  {path.phase} (line {path.at.line}) waits for {', '.join(shortened(waits))}"


def shortened(entries: list[str]) -> list[str]:
    """The first and the last ones of a chain, and how many there are between them; one alone has
    room where its number would stand."""
    if len(entries) <= SHOWN_WAITS + 1:
        return entries
    half = SHOWN_WAITS // 2
    return [*entries[:half], f"{len(entries) - SHOWN_WAITS} more", *entries[-half:]]


def wait_words(wait: Wait) -> str:
    """One cause in words."""
    words = {
        "vector": f"the vector of rank {wait.rank}",
        "slices": f"slices of place {wait.rank}",
        "router": f"the router of rank {wait.rank} to let vectors pass",
        "previous": f"rank {wait.rank} to take the vector before",
        "start": f"rank {wait.rank} to start its operation",
        "distance": f"the way to the farthest PE ({wait.rank} hops)",
    }
    return words[wait.what]
