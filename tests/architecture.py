"""The picture of the pipeline in docs/architecture.md, drawn from the code: `make architecture`.

A box is a room of the compiler with its first sentence and its lines; an arrow leads from a room to
one that imports it, unless a longer way through other rooms already says so. What every room
imports, base, has no arrows.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parents[1]
COMPILER = ROOT / "compiler"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- drawn by `make architecture` -->\n", "<!-- end of the drawing -->\n"


def rooms() -> dict[str, Path]:
    """The packages of the compiler that hold code, by name."""
    found = sorted(path.parent for path in COMPILER.glob("*/__init__.py"))
    return {path.name: path for path in found if len(list(path.rglob("*.py"))) > 1}


def imports() -> nx.DiGraph:
    """Who imports whom among the rooms: an edge from the imported room to the one importing it."""
    graph = nx.DiGraph()
    for name, folder in rooms().items():
        graph.add_node(name)
        for file in folder.rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            for other in re.findall(r"^\s*from collc\.(\w+)[\w.]* import", text, re.MULTILINE):
                if other != name and other in rooms():
                    graph.add_edge(other, name)
    return graph


def drawing() -> str:
    """The graph as Mermaid text, without arrows that follow from others."""
    graph = imports()
    shown = nx.transitive_reduction(graph) if nx.is_directed_acyclic_graph(graph) else graph
    lines = ["```mermaid", "flowchart TD"]
    for name, folder in rooms().items():
        lines.append(
            f'    {name}["<b>{name}</b><br>{_sentence(folder)}<br>{_lines(folder)} lines"]'
        )
    lines += [f"    {one} --> {other}" for one, other in sorted(shown.edges) if one != "base"]
    return "\n".join([*lines, "```", ""])


def _sentence(folder: Path) -> str:
    text = (folder / "__init__.py").read_text(encoding="utf-8")
    first = re.sub(r"\s+", " ", text.split('"""')[1]).strip()
    return re.split(r"\.( |$)", first)[0].replace('"', "'").replace("`", "")


def _lines(folder: Path) -> int:
    # to the hundred, so that the drawing changes with the house and not with each line
    count = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in folder.rglob("*.py"))
    return round(count, -2)


def page_with_drawing(page: str) -> str:
    """The page with its drawing made anew."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + drawing() + END + rest.split(END)[1]


if __name__ == "__main__":
    made = page_with_drawing(PAGE.read_text(encoding="utf-8"))
    if "--check" in sys.argv:
        sys.exit(made != PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(made, encoding="utf-8")
