"""Emitted text has only constructs that public programs or the vendor's pages attest.

`unattested.json` names what today's text still has beyond them, with the examples. It only gets
shorter: `pytest --update-expect` takes out what is gone and adds nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

pytest.importorskip("fabsim")

from constructs import (
    EXAMPLES,
    OTHERWISE,
    PAGE,
    TARGETS,
    attested,
    attested_forms,
    bundle_of,
    by_pages_alone,
    constructs_in,
    form_of,
    page_of,
    programs,
    removed_types,
)

from collc.driver.bundle import Bundle
from collc.emit.attestation import FILE as ATTESTED
from collc.emit.attestation import FORMS
from collc.emit.render import source_name

LIST = Path(__file__).parent / "unattested.json"
# Takes 14 s as it is in its file; two constructs that it has then are those of others, too.
SMALLER = {"program_grid": {"W": 9, "H": 8, "R": 2}}
KERNELS = sorted(Path(__file__).parents[2].glob("examples/*/**/*.csl"))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_has_only_attested_constructs_and_those_it_is_down_for(
    example: Path, target: str, request: pytest.FixtureRequest
) -> None:
    bundle = bundle_of(example, target, SMALLER.get(example.stem, {}))
    places = constructs_in(bundle, target)
    assert_named(bundle, target, places)
    if example.stem in OTHERWISE:
        other = bundle_of(example, target, OTHERWISE[example.stem])
        assert_named(other, target, constructs_in(other, target))
    found = {f"{target}: {one}" for one in places if not attested(one, target)}
    known = json.loads(LIST.read_text())
    down_for = {one for one, names in known.items() if example.stem in names and of(target, one)}
    if request.config.getoption("--update-expect"):
        for gone in down_for - found:
            known[gone].remove(example.stem)
        kept = {one: names for one, names in sorted(known.items()) if names}
        LIST.write_text(as_text(kept))
        down_for &= found
    new = sorted(f"{one}   {places[one.split(': ', 1)[1]]}" for one in found - down_for)
    assert not new, "nobody attests these: write it another way, or name the page that has it"
    assert not down_for - found, "no longer used: take it out of unattested.json"


def assert_named(bundle: Bundle, target: str, constructs: Iterable[str]) -> None:
    """The manifest names each form that is found and that pages alone attest."""
    found = {one: form_of(one) for one in constructs if by_pages_alone(one, target)}
    assert not [one for one, form in found.items() if form is None], "of no form: attestation.py"
    said = json.loads(bundle.files["manifest.json"]).get("forms", {}).get("by_pages_alone", [])
    assert {form.name for form in found.values() if form} <= set(said)


def test_what_manifests_say_of_forms_follows_from_the_page() -> None:
    """The page has every construct of the examples, with the targets that it is attested for."""
    rows = re.findall(r"^\| `([^`]+)` \| .* \| \d+ \|$", PAGE.read_text(), re.MULTILINE)
    ours = [construct.replace("\\|", "|") for construct in rows]
    assert attested_forms(ours) == json.loads(ATTESTED.read_text())
    assert len({form.name for form in FORMS}) == len(FORMS)


def of(target: str, entry: str) -> bool:
    """Whether an entry of the list is about a target."""
    return entry.startswith(f"{target}: ")


def as_text(entries: dict[str, list[str]]) -> str:
    """The list, with a line for each construct."""
    lines = [f"  {json.dumps(one)}: {json.dumps(names)}" for one, names in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n" if lines else "{}\n"


def test_what_the_evidence_calls_wrong_is_not_attested() -> None:
    for construct in (
        "fabin_dsd (run time) of an asynchronous operation",
        "fabout_dsd .extent = 0",
        "dsr_dest and dsr_src0 of different numbers in one operation",
        "one dsr_src0 .save_address as destination and source of an asynchronous operation",
        "@block(local_task_id of teardowns) in code",
        "fabout_dsd .advance_switch of @map",
        "@get_dsr of one register at several places",
        "@load_to_dsr(dsr_src0, mem4d_dsd) in code",
        "type comptime_struct",
        "<tile_config/switch_config>.get_switch_config_addr(color, type)",
    ):
        assert not any(attested(construct, target) for target in TARGETS), construct


def test_a_type_that_a_release_has_removed_is_found_in_code_and_not_in_comments() -> None:
    files = {
        "a.csl": "param p: u16;\nparam config: comptime_struct;  // what\n",
        "b.csl": "// no comptime_struct\nconst comptime_structs = 1;\n",
        "run.py": "comptime_struct = 1\n",
    }
    assert dict(removed_types(files)) == {"type comptime_struct": "a.csl:2"}


def test_what_ran_on_a_machine_is_attested_on_that_target() -> None:
    advance = "@load_to_dsr(dsr_dest, fabout_dsd .advance_switch) in code"
    assert "spcl/spatial-collectives" in programs()[advance]["wse2"]["programs"][0]
    pairs = "dsr_dest and dsr_src0 of equal numbers in one operation"
    assert all(attested(pairs, target) for target in TARGETS)


def test_a_page_attests_only_what_it_describes() -> None:
    assert page_of("<control>.encode_single_payload(SWITCH_RST, bool, void, int)", "wse3")
    assert page_of("fabout_dsd .priority = struct", "wse3")
    assert page_of("fabout_dsd .priority = struct", "wse2") is None
    assert page_of("@block(local_task_id of teardowns) in code", "wse3") is None


def test_the_page_says_of_every_construct_what_the_table_says() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| (.*?) \| (.*?) \| \d+ \|$", PAGE.read_text(), re.MULTILINE)
    assert len(rows) > 100
    for construct, *cells in rows:
        for target, cell in zip(TARGETS, cells, strict=True):
            entry = programs().get(construct, {}).get(target)
            assert (entry is None) or entry["programs"][0] in cell, (construct, target)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda path: path.name)
def test_the_worked_examples_call_what_public_programs_call(kernel: Path) -> None:
    known = set(re.findall(r"@\w+|<[\w/]+>", " ".join(programs())))
    pages = {"@get_config", "@set_config", "@comptime_assert"}
    text = re.sub(r"//.*", "", kernel.read_text())
    used = set(re.findall(r"@\w+", text)) | set(re.findall(r'"(<[^"]+>)"', text))
    assert used <= known | pages
    assert len(KERNELS) == 13


def test_a_source_is_named_without_its_folders_and_without_what_breaks_a_comment() -> None:
    assert source_name("/somewhere/else/two_phase.coll") == "two_phase.coll"
    assert source_name('a\nlayout {} """.coll') == "a_layout __ ___.coll"
