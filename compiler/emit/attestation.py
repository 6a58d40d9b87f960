"""The forms in a bundle that no public program shows for its target, for the manifest.

They rest on the vendor's pages; nothing is emitted that nobody attests. docs/csl-constructs.json
says which constructs public programs have, and `attested.json` beside this file what follows for
each form: the targets for which pages alone attest it (`python tests/constructs.py` writes it, and
a test holds it against the table). A form is recognized in the text itself, so a template that
takes another spelling is found out; a test compares what is found here with what fabsim's front end
finds, over all examples.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from collc.base.values import dataclass
from collc.target import TARGETS

FILE = Path(__file__).parent / "attested.json"
IN_COMPTIME = r"(?ms)^comptime \{\n(?:(?!^\}).)*?"


@dataclass(frozen=True)
class Form:
    """A form by the name that manifests have for it: the constructs of docs/csl-constructs.json
    that it is made of, and a pattern that is found where text has it. The modules of operations are
    alike in all bundles, and a PE has of them what its layout turns on: `used` is found in text
    that does, if not all does that has the form. And the targets for which text that has it is
    compiled."""

    name: str
    constructs: str
    text: str
    used: str = ""
    targets: tuple[str, ...] = tuple(TARGETS)


# That an operation has one number of elements now and another one then: of a call's, or of slices.
VARYING = r"\.varies = true|\.differs = true|@import_module\(\"table_"

FORMS = (
    Form(
        "@map with operands of the fabric",
        r"@map: fab.*|@map: .*fabin_dsd|fab(in|out)_dsd of @map",
        r"@map\([^;]*arriving",
        r"ops\.(store|pass)\(",
    ),
    Form(
        "@map of vectors in memory",
        r"@map: memory <- memory, memory",
        r"@map\((?![^;]*arriving)",
        r"ops\.settle_combined\(|entry_applies|@map\(turned",
    ),
    Form(".advance_switch", r".*\.advance_switch.*", r"\.advances = true"),
    Form("simd_32", r".*\.simd_32(?!_or).*", r"\.simd_32 = true"),
    Form("simd_64", r".*\.simd_64.*", r"\.simd_64 = true"),
    Form("simd_32_or_64", r".*\.simd_32_or_64.*", r"\.simd_32_or_64 = true"),
    Form(
        "registers of fabric operands loaded before the program begins",
        r"@load_to_dsr\(dsr_\w+, (fab(in|out)_dsd( \.control)?(?! \.)[^)]*|mem1d_dsd)\)"
        r" in a comptime block",
        IN_COMPTIME + r"^ +(?:if \([^\n]*\) \{ )?@load_to_dsr\(",
    ),
    Form(
        "registers of fabric operands loaded by calls, with what ends them",
        r"@load_to_dsr\(dsr_\w+, fab(in|out)_dsd( \(run time\))?, [^)]*\) in code",
        r"(?ms)^fn (?:(?!^\}).)*?@load_to_dsr\(\w+,\s[^;]*(\.async = true|\bas_[a-z_]+\);)",
        rf"{VARYING}|\.shares_registers = ",
    ),
    Form(
        "a length given to a fabric operand",
        r"@set_dsd_length\(fab(in|out)_dsd.*\)",
        r"@set_dsd_length\((in|out)",
        VARYING,
    ),
    Form(
        "an address given to an operand of several dimensions",
        r"@set_dsd_base_addr\(mem4d_dsd.*\)",
        r"@set_dsd_base_addr\((block_elements|again_and_again)",
        r"ops\.in_blocks\(|\.rounds = ",
    ),
    Form("a stride of a memory operand", r"memory DSD \.stride = int", r"\.stride = "),
    Form(".priority", r"priority .*|.*\.priority = .*", r"\.priority = "),
    Form(
        "control.encode_payload",
        r"<control>\.encode_payload\(.*",
        r"control\.encode_payload\(",
        r"ops\.hand_over\(",
    ),
    Form("SWITCH_RST", r".*\(SWITCH_RST,.*", r"control\.opcode\.SWITCH_RST", r"ops\.reset\("),
    Form("TEARDOWN", r".*\(TEARDOWN,.*", r"control\.opcode\.TEARDOWN", r"ops\.tear_down\("),
    Form("reset_routes", r".*\.reset_routes\(.*", r"\.reset_routes\("),
    Form(
        "set_tx_switch_pos1",
        r".*\.set_tx_switch_pos1\(.*",
        r"\.set_tx_switch_pos1\(",
        targets=("wse2",),
    ),
    Form(
        "set_rxtx_switch_pos1",
        r".*\.set_rxtx_switch_pos1\(.*",
        r"\.set_rxtx_switch_pos1\(",
        targets=("wse3",),
    ),
    Form(
        "registers as parameters of a module",
        r"param of type dsr_\w+",
        r"(?m)^param \w+: dsr_",
    ),
    Form(
        "a pointer to whole numbers as a parameter of a function",
        r"parameter of a function of type \[\*\]int",
        r"fn \w+\([^)]*: \[\*\][iu]\d",
    ),
    Form("operators &= and ~", r"operator (And=|~x)", r" &= | ~\w"),
    Form("operator ^", r"operator Xor", r" \^ "),
)


@cache
def by_pages_alone() -> Mapping[str, list[str]]:
    """The targets for which pages alone attest a form, by its name; forms that programs show for
    both targets have none."""
    found: Mapping[str, list[str]] = json.loads(FILE.read_text())
    return found


def forms_of(texts: Mapping[str, str], target: str) -> dict[str, dict[str, list[str]]]:
    """The manifest's entry about the files of a bundle; none if programs show all that is
    emitted."""
    csl = "".join(text for name, text in sorted(texts.items()) if name.endswith(".csl"))
    code = re.sub(r"//.*", "", csl)
    pages = sorted(
        form.name
        for form in FORMS
        if target in by_pages_alone().get(form.name, ())
        and re.search(form.text, code)
        and re.search(form.used, code)
    )
    return {"forms": {"by_pages_alone": pages}} if pages else {}
