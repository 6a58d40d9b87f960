"""From a plan to the text of its bundle's files, sorted by name, the same bytes every time."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from collc.base.files import MANIFEST
from collc.cost import Prediction
from collc.emit.attestation import forms_of
from collc.emit.clock import HOP, MEMORY_BYTES, ClockModel, clock_model
from collc.emit.model import BundleModel, model_of
from collc.emit.program import ProgramModel, call_stream_models, program_model
from collc.lowering.between_uses import between_uses
from collc.lowering.reconfiguration import reconfiguration_bytes
from collc.plan import Plan
from collc.plan.program import ProgramPlan
from collc.schedule import Schedule
from collc.spec import Contract, Decision, Spec
from collc.target import TARGETS
from collc.target.fabric import Wanted, fabric_of

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
    size = (model.width, model.height)
    clock = clock_model(spec, size)
    environment = _environment()
    texts = _clock_files(model, clock)
    for template in _CSL:
        name = template.replace("collective_", f"{model.name}_")
        texts[name] = environment.get_template(f"{template}.j2").render(m=model, clock=clock)
    texts["run.py"] = environment.get_template("run.py.j2").render(m=model, clock=clock)
    timed = clock is not None
    texts |= {commands_name(arch): commands_file(arch, size, timed=timed) for arch in architectures}
    texts[MANIFEST] = _manifest(spec, plan, prediction, model, texts)
    return dict(sorted(texts.items()))


def source_name(file: str) -> str:
    """The name of a source file without its folders, fit to stand in a comment or a string.

    The text must not depend on where the file lies, and a name may hold line breaks and quotes.
    """
    return re.sub(r"[^\w. +-]", "_", PurePath(file).name)


def _clock_files(model: BundleModel | ProgramModel, clock: ClockModel | None) -> dict[str, str]:
    """The modules that take time stamps, where a program has some; one PE needs no signal."""
    if clock is None:
        return {}
    parts = ("pe",) if clock.alone else ("layout", "pe")
    environment = _environment()
    return {
        f"clock_{part}.csl": environment.get_template(f"clock_{part}.csl.j2").render(
            m=model, clock=clock
        )
        for part in parts
    }


def commands_name(arch: str) -> str:
    """What the commands file for a target is called."""
    return f"commands_{arch}.sh"


def commands_file(
    arch: str, size: tuple[int, int], wanted: Wanted | None = None, *, timed: bool
) -> str:
    """The commands that compile and run a program of so many columns and rows for a target; one
    that is `timed` is told of the target's hop. Raises CollcError where it has no place on the
    fabric that is wanted."""
    fabric = fabric_of(size, TARGETS[arch], wanted)
    told = f" --hop {HOP[arch]}" if timed else ""
    commands = _environment().get_template("commands.sh.j2")
    return commands.render(arch=arch, fabric=fabric, told=told)


def with_commands(
    texts: Mapping[str, str], target: str, size: tuple[int, int], wanted: Wanted
) -> dict[str, str]:
    """A bundle's files for another fabric; on a machine only the one target has commands. Raises
    CollcError where the program has no place there."""
    present = [arch for arch in TARGETS if commands_name(arch) in texts]
    archs = [target] if wanted.target else present
    kept = {name: text for name, text in texts.items() if name not in map(commands_name, present)}
    timed = "clock_pe.csl" in texts
    made = {commands_name(arch): commands_file(arch, size, wanted, timed=timed) for arch in archs}
    manifest = kept.pop(MANIFEST)
    record = json.loads(manifest) | {"sha256": _hashes(kept | made)}
    return dict(sorted((kept | made | {MANIFEST: _as_text(record)}).items()))


def _as_text(record: dict[str, Any]) -> str:
    """A manifest as it is written."""
    return json.dumps(record, indent=2) + "\n"


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


def _time_stamps(spec: Spec) -> dict[str, dict[str, int]]:
    """What time stamps take beside that, where there are some."""
    if spec.time_stamps is None:
        return {}
    return {"time_stamps": asdict(spec.time_stamps) | {"bytes": MEMORY_BYTES}}


def _manifest(
    spec: Spec, plan: Plan, prediction: Prediction, model: BundleModel, texts: dict[str, str]
) -> str:
    """What went in, what it occupies, what it should take, and the hash of every file."""
    contract = plan.collective.contract
    record = {
        "schema": "collc/manifest/1",
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
            **model.dsrs,
            "code_bytes_estimate": plan.code_bytes,
            "data_bytes": plan.data_bytes,
            **_time_stamps(spec),
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
        **forms_of((plan,)),
        "sha256": _hashes(texts),
    }
    return _as_text(record)


def render_program(
    spec: Spec,
    plan: ProgramPlan,
    prediction: Prediction,
    architectures: tuple[str, ...],
    skew: int = 0,
) -> dict[str, str]:
    """The files of a program of several collectives: {name: text}; `skew` as in `program_model`."""
    model = program_model(plan, source_name(spec.file), skew)
    size = (model.width, model.height)
    clock = clock_model(spec, size)
    environment = _environment()
    texts = _clock_files(model, clock)
    call_streams = call_stream_models(plan, model.source, skew)
    for part in ("layout", "pe"):
        template = environment.get_template(f"collective_{part}.csl.j2")
        shared = environment.get_template(f"collectives_{part}.csl.j2")
        for call_stream in call_streams:
            for module in call_stream.modules:
                texts[f"{module.m.name}_{part}.csl"] = template.render(m=module.m)
            texts[f"{call_stream.file}_{part}.csl"] = shared.render(p=call_stream)
    kind = "call_streams" if len(call_streams) > 1 else "program"
    names = {f"{kind}_layout.csl": "layout.csl", f"{kind}_pe.csl": "pe_program.csl"}
    names["program_run.py"] = "run.py"
    if model.torn_down:
        names["router.csl"] = "router.csl"
    for template_name, name in names.items():
        texts[name] = environment.get_template(f"{template_name}.j2").render(
            p=model, call_streams=call_streams, clock=clock
        )
    timed = clock is not None
    texts |= {commands_name(arch): commands_file(arch, size, timed=timed) for arch in architectures}
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
        "schema": "collc/manifest/1",
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
            **_time_stamps(spec),
        },
        "prediction": {
            "cycles": prediction.cycles,
            "bound": prediction.bound,
            "breakdown": prediction.breakdown,
        },
        **forms_of(plan.plans, plan),
        "sha256": _hashes(texts),
    }
    return _as_text(record)


def _hashes(texts: dict[str, str]) -> dict[str, str]:
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in sorted(texts.items())}
