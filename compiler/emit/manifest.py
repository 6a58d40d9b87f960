"""The manifest of a bundle: what went in, what it occupies, what it should take, and hashes."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from collc.base.files import MANIFEST
from collc.emit.attestation import forms_of
from collc.emit.clock import MEMORY_BYTES
from collc.emit.model import LibraryModel
from collc.lowering.between_uses import between_uses
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.machine.prediction import Prediction
from collc.plan.plan import ProgramPlan
from collc.spec import Collective, Contract, Decision, Spec
from collc.target import SDK_RELEASES

DSR_FILES = ("dsr_dest", "dsr_src0", "dsr_src1")  # a register's number is one of all of them


def manifest_of(
    spec: Spec,
    plan: ProgramPlan,
    prediction: Prediction,
    libraries: Sequence[LibraryModel],
    texts: Mapping[str, str],
) -> str:
    """The manifest of a bundle with these libraries and texts."""
    record: dict[str, Any] = {
        "schema": "collc/manifest/1",
        "made_by": f"collc {libraries[0].version}",
        "source": libraries[0].source,
        "target": spec.target,
        "sdk": list(SDK_RELEASES[spec.target]),
        "parameters": {parameter.name: parameter.value for parameter in spec.parameters},
        **_called(plan, libraries),
        "resources": _resources(plan, libraries),
        "prediction": {
            "cycles": prediction.cycles,
            "bound": prediction.bound,
            **_gaps(prediction),
            "breakdown": prediction.breakdown,
        },
        **forms_of(texts, spec.target),
        "sha256": _hashes(texts),
    }
    if spec.time_stamps is not None:
        stamps = asdict(spec.time_stamps) | {"bytes": MEMORY_BYTES}
        record["resources"] |= {"time_stamps": stamps}
    return _as_text(record)


def with_hashes(manifest: str, texts: Mapping[str, str]) -> str:
    """The manifest for other texts that say the same."""
    return _as_text(json.loads(manifest) | {"sha256": _hashes(texts)})


def _as_text(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2) + "\n"


def _hashes(texts: Mapping[str, str]) -> dict[str, str]:
    present = sorted((name, text) for name, text in texts.items() if name != MANIFEST)
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in present}


def _called(plan: ProgramPlan, libraries: Sequence[LibraryModel]) -> dict[str, Any]:
    """What is called, and of which collectives; one that there is nothing beside also by itself."""
    size = {"width": libraries[0].width, "height": libraries[0].height}
    calls = {"calls": plan.program.calls, "rounds": plan.program.rounds}
    collectives = {one.collective.name: _collective(one.collective) for one in plan.plans}
    found: dict[str, Any] = {"program": calls | size, "collectives": collectives}
    if len(collectives) == 1:
        ((name, one),) = collectives.items()
        decision = {"decision": one["decision"]} if "decision" in one else {}
        kept = {key: value for key, value in one.items() if key != "decision"}
        found |= {"collective": {"name": name, **kept, **size}, **decision}
    return found


def _collective(one: Collective) -> dict[str, Any]:
    decision = {"decision": _decision(one.decision)} if one.decision else {}
    return {"contract": one.contract.name, **_buffer_of(one.contract), **decision}


def _resources(plan: ProgramPlan, libraries: Sequence[LibraryModel]) -> dict[str, Any]:
    """What a program occupies. Each color stands with its uses; where none is shared, by the names
    that phases have for them."""
    own = not plan.in_turn and len(plan.plans) == 1
    colors = [] if own else [color.as_data() for color in between_uses(plan)]
    dsr_ids = _union(one.dsr_ids for one in libraries)
    return {
        "colors": dict(plan.plans[0].colors) if own else colors,
        "input_queues": _union(one.input_queues for one in libraries),
        "output_queues": _union(one.output_queues for one in libraries),
        "local_task_ids": _union(one.task_ids for one in libraries),
        "dsr_ids": dsr_ids,
        **{file: dsr_ids for file in DSR_FILES if dsr_ids},
        "code_bytes_estimate": plan.code_bytes,
        "data_bytes": plan.data_bytes,
        "reconfiguration_bytes": reconfiguration_bytes(plan),
    }


def _union(lists: Iterable[Sequence[int]]) -> list[int]:
    return sorted({number for numbers in lists for number in numbers})


def _buffer_of(contract: Contract) -> dict[str, object]:
    """What the vectors are; a barrier has none. How far elements are apart is said where they are,
    and the buffer of the result where it is another one."""
    if not contract.buffer:
        return {"element": None, "length": 0, "operation": None}
    result = contract.result
    return {
        "element": contract.element.value,
        "length": contract.length,
        "operation": contract.operation.value if contract.operation else None,
        **({"stride": contract.stride} if contract.stride > 1 else {}),
        **({"result": {"name": result.name, "stride": result.stride}} if result else {}),
    }


def _gaps(prediction: Prediction) -> dict[str, float | None]:
    """How far the prediction is from what no run, and no tree, can take less than, where known."""
    return {
        "gap": prediction.gap and round(prediction.gap, 4),
        "tree_bound": prediction.tree_bound,
        "tree_gap": prediction.tree_gap and round(prediction.tree_gap, 4),
    }


def _decision(decision: Decision) -> dict[str, str | int | None]:
    """What was chosen where the program left something to the compiler, and what came next."""
    chosen, other = decision.chosen, decision.runner_up
    return {
        "plan": chosen.text,
        "cycles": chosen.cycles,
        "most_of_them": chosen.term,
        "plans": len(decision.lost) + 1,
        "runner_up": other.text if other else None,
        "runner_up_cycles": other.cycles if other else None,
    }
