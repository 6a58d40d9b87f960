"""From a plan to the text of its bundle's files, sorted by name, the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from collc.cost import Prediction
from collc.emit.model import BundleModel, model_of
from collc.emit.program import ProgramModel, program_model, strand_models
from collc.files import MANIFEST
from collc.lowering.between_uses import between_uses
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.plan import Plan
from collc.program import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Contract, Decision, Spec

_CSL = ("collective_layout.csl", "collective_pe.csl", "layout.csl", "pe_program.csl")


def render(
    spec: Spec,
    schedule: Schedule,
    plan: Plan,
    prediction: Prediction,
    architectures: tuple[str, ...],
) -> dict[str, str]:
    """The files of the bundle: {name: text}.

    `architectures` are the targets whose limits the plan keeps; each gets a commands file.
    """
    model = model_of(schedule, plan, source_name(spec.file))
    environment = _environment()
    texts = {}
    for template in _CSL:
        name = template.replace("collective_", f"{model.name}_")
        texts[name] = environment.get_template(f"{template}.j2").render(m=model)
    texts["run.py"] = environment.get_template("run.py.j2").render(m=model)
    commands = environment.get_template("commands.sh.j2")
    for arch in architectures:
        texts[f"commands_{arch}.sh"] = commands.render(m=model, arch=arch)
    texts[MANIFEST] = _manifest(spec, plan, prediction, model, texts)
    return dict(sorted(texts.items()))


def source_name(file: str) -> str:
    """The name of a source file without its folders, fit to stand in a comment or a string.

    The text must not depend on where the file lies, and a name may hold line breaks and quotes.
    """
    return re.sub(r"[^\w. +-]", "_", PurePath(file).name)


@cache
def _environment() -> Environment:
    """One for all bundles: reading the templates takes longer than filling them in."""
    return Environment(
        loader=FileSystemLoader(str(files("collc.templates"))),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _buffer_of(contract: Contract) -> dict[str, str | int | None]:
    """What the vectors are; a barrier has none."""
    if not contract.buffer:
        return {"element": None, "length": 0, "operation": None}
    return {
        "element": contract.element.value,
        "length": contract.length,
        "operation": contract.operation.value if contract.operation else None,
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


def _manifest(
    spec: Spec, plan: Plan, prediction: Prediction, model: BundleModel, texts: dict[str, str]
) -> str:
    """What went in, what it occupies, what it should take, and the hash of every file."""
    contract = plan.collective.contract
    record = {
        "made_by": f"collc {model.version}",
        "source": model.source,
        "target": spec.target,
        "parameters": {parameter.name: parameter.value for parameter in spec.parameters},
        "collective": {
            "name": plan.collective.name,
            "contract": contract.name,
            **_buffer_of(contract),
            "width": model.width,
            "height": model.height,
        },
        "resources": {
            "colors": dict(model.colors),
            "input_queues": model.input_queues,
            "output_queues": model.output_queues,
            "local_task_ids": [*model.task_ids, model.done_id],
            "dsr_src1": model.source_dsr_ids,
            "dsr_dest": model.dest_dsr_ids,
            "dsr_src0": model.own_dsr_ids,
            "code_bytes_estimate": plan.code_bytes,
            "data_bytes": plan.data_bytes,
        },
        "prediction": {
            "cycles": prediction.cycles,
            "bound": prediction.bound,
            "gap": prediction.gap and round(prediction.gap, 4),
            "tree_bound": prediction.tree_bound,
            "tree_gap": prediction.tree_gap and round(prediction.tree_gap, 4),
            "breakdown": prediction.breakdown,
        },
        **_decision(plan.collective.decision),
        "sha256": _hashes(texts),
    }
    return json.dumps(record, indent=2) + "\n"


def render_program(
    spec: Spec,
    plan: ProgramPlan,
    prediction: Prediction,
    architectures: tuple[str, ...],
    skew: int = 0,
) -> dict[str, str]:
    """The files of a program of several collectives: {name: text}; `skew` as in `program_model`."""
    model = program_model(plan, source_name(spec.file), skew)
    environment = _environment()
    texts = {}
    strands = strand_models(plan, model.source, skew)
    for part in ("layout", "pe"):
        template = environment.get_template(f"collective_{part}.csl.j2")
        shared = environment.get_template(f"collectives_{part}.csl.j2")
        for strand in strands:
            for module in strand.modules:
                texts[f"{module.m.name}_{part}.csl"] = template.render(m=module.m)
            texts[f"{strand.file}_{part}.csl"] = shared.render(p=strand)
    kind = "strands" if len(strands) > 1 else "program"
    names = {f"{kind}_layout.csl": "layout.csl", f"{kind}_pe.csl": "pe_program.csl"}
    names["program_run.py"] = "run.py"
    if model.torn_down:
        names["router.csl"] = "router.csl"
    for template_name, name in names.items():
        texts[name] = environment.get_template(f"{template_name}.j2").render(
            p=model, strands=strands
        )
    commands = environment.get_template("commands.sh.j2")
    for arch in architectures:
        texts[f"commands_{arch}.sh"] = commands.render(m=model, arch=arch)
    texts[MANIFEST] = _program_manifest(spec, plan, prediction, model, texts)
    return dict(sorted(texts.items()))


def _program_manifest(
    spec: Spec,
    plan: ProgramPlan,
    prediction: Prediction,
    model: ProgramModel,
    texts: dict[str, str],
) -> str:
    """The same for a program of several collectives, with the colors that each phase uses."""
    record = {
        "made_by": f"collc {model.version}",
        "source": model.source,
        "target": spec.target,
        "parameters": {parameter.name: parameter.value for parameter in spec.parameters},
        "program": {
            "calls": plan.program.calls,
            "rounds": plan.program.rounds,
            "width": model.width,
            "height": model.height,
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
            "local_task_ids": plan.task_ids,
            "dsr_ids": plan.dsr_ids,
            "code_bytes_estimate": plan.code_bytes,
            "data_bytes": plan.data_bytes,
            "reconfiguration_bytes": reconfiguration_bytes(plan),
        },
        "prediction": {
            "cycles": prediction.cycles,
            "bound": prediction.bound,
            "breakdown": prediction.breakdown,
        },
        "sha256": _hashes(texts),
    }
    return json.dumps(record, indent=2) + "\n"


def _hashes(texts: dict[str, str]) -> dict[str, str]:
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(texts.items())}
