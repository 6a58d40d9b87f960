"""Libraries beside each other in one kernel: a later one keeps off what an earlier one has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from collc.base.diagnostics import Span
from collc.base.files import MANIFEST
from collc.spec import Reserved, Spec

_SCHEMA = "collc/manifest/1"


def occupied(manifest: Path) -> tuple[str, Reserved]:
    """The target of a library and what it occupies, by its manifest or the folder that has it.
    Raises OSError, and ValueError for a file that is no manifest."""
    path = manifest / MANIFEST if manifest.is_dir() else manifest
    record = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(record, dict) or record.get("schema") != _SCHEMA:
        raise ValueError(f"it is no manifest, which has `schema` {_SCHEMA}")
    try:
        return str(record["target"]), _reserved(record["resources"])
    except (AttributeError, KeyError, TypeError) as missing:
        raise ValueError(f"its `resources` cannot be read: {missing}") from None


def _reserved(resources: dict[str, Any]) -> Reserved:
    """Colors are listed with their uses, or by their names."""
    colors = resources["colors"]
    numbers = colors.values() if isinstance(colors, dict) else [one["number"] for one in colors]
    return Reserved(
        colors=_union([list(numbers)]),
        input_queues=_union([resources["input_queues"]]),
        output_queues=_union([resources["output_queues"]]),
        tasks=_union([resources["local_task_ids"]]),
        dsrs=_union([resources["dsr_ids"]]),
        memory_bytes=int(resources["code_bytes_estimate"]) + int(resources["data_bytes"]),
    )


def _union(lists: Iterable[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted({int(number) for numbers in lists for number in numbers}))


def beside(spec: Spec, others: Sequence[Reserved]) -> Spec:
    """The same in a kernel that has other libraries: what they occupy is reserved."""
    if not others:
        return spec
    if spec.program is not None:
        reserved = _with(spec.program.reserved, others, spec.program.span)
        return replace(spec, program=replace(spec.program, reserved=reserved))
    (one,) = spec.collectives
    limits = replace(one.limits, reserved=_with(one.limits.reserved, others, one.span))
    return replace(spec, collectives=(replace(one, limits=limits),))


def _with(own: Reserved, others: Sequence[Reserved], at: Span) -> Reserved:
    """The same and what others have, said at a place where the file has no `reserve`."""
    every = (own, *others)

    def all_of(part: Callable[[Reserved], tuple[int, ...]]) -> tuple[int, ...]:
        return _union(map(part, every))

    return replace(
        own,
        colors=all_of(lambda one: one.colors),
        input_queues=all_of(lambda one: one.input_queues),
        output_queues=all_of(lambda one: one.output_queues),
        tasks=all_of(lambda one: one.tasks),
        dsrs=all_of(lambda one: one.dsrs),
        memory_bytes=sum(one.memory_bytes for one in every),
        clauses=own.clauses or (at,),
    )
