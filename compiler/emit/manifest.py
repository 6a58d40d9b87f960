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
from collc.spec import Contract, Decision, Spec
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
        **(_one(plan, libraries[0]) if plan.alone else _several(plan, libraries)),
        "prediction": {
            "cycles": prediction.cycles,
            "bound": prediction.bound,
            **(_gaps(prediction) if plan.alone else {}),
            "breakdown": prediction.breakdown,
        },
        **(_decision(plan.plans[0].collective.decision) if plan.alone else {}),
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


def _one(plan: ProgramPlan, library: LibraryModel) -> dict[str, Any]:
    """A collective that is alone, and what it occupies."""
    collective = plan.plans[0].collective
    return {
        "collective": {
            "name": collective.name,
            "contract": collective.contract.name,
            **_buffer_of(collective.contract),
            "width": library.width,
            "height": library.height,
        },
        "resources": {
            "colors": dict(plan.plans[0].colors),
            "input_queues": library.input_queues,
            "output_queues": library.output_queues,
            "local_task_ids": library.task_ids,
            **{file: library.dsr_ids for file in DSR_FILES if library.dsr_ids},
            "code_bytes_estimate": plan.code_bytes,
            "data_bytes": plan.data_bytes,
        },
    }


def _several(plan: ProgramPlan, libraries: Sequence[LibraryModel]) -> dict[str, Any]:
    """The collectives of a program, with the colors that each phase uses."""
    return {
        "program": {
            "calls": plan.program.calls,
            "rounds": plan.program.rounds,
            "width": libraries[0].width,
            "height": libraries[0].height,
        },
        "collectives": {
            one.collective.name: {
                "contract": one.collective.contract.name,
                **_buffer_of(one.collective.contract),
            }
            for one in plan.plans
        },
        "resources": {
            "colors": [color.as_data() for color in between_uses(plan)],
            "local_task_ids": _union(one.task_ids for one in libraries),
            "dsr_ids": _union(one.dsr_ids for one in libraries),
            "code_bytes_estimate": plan.code_bytes,
            "data_bytes": plan.data_bytes,
            "reconfiguration_bytes": reconfiguration_bytes(plan),
        },
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
    """How far the prediction is from what no run, and no tree, can take less than."""
    return {
        "gap": prediction.gap and round(prediction.gap, 4),
        "tree_bound": prediction.tree_bound,
        "tree_gap": prediction.tree_gap and round(prediction.tree_gap, 4),
    }


def _decision(decision: Decision | None) -> dict[str, dict[str, str | int | None]]:
    """What was chosen where the program left something to the compiler, and what came next."""
    if decision is None:
        return {}
    chosen, other = decision.chosen, decision.runner_up
    return {
        "decision": {
            "plan": chosen.text,
            "cycles": chosen.cycles,
            "most_of_them": chosen.term,
            "plans": len(decision.lost) + 1,
            "runner_up": other.text if other else None,
            "runner_up_cycles": other.cycles if other else None,
        }
    }
