from __future__ import annotations

import pytest

from collc.base.diagnostics import CollcError
from collc.language import parse_source
from collc.spec import ElementType, Limits, Operation, Spec

CLAUSES = "within colors <= 3 expect cycles <= 1.4 * bound expect colors == K"
PROGRAM = f"""target wse2
param P = 8 where 1 <= P <= 750
param K = 2
grid row = P x 1
collective c = reduce(x: i16[P * K], mul) on row {{ reduce chain to 0 {CLAUSES} }}
program {{ c }}
"""


def program(definitions: dict[str, int] | None = None, target: str | None = None) -> Spec:
    return parse_source(PROGRAM, definitions, target)


def codes(text: str, definitions: dict[str, int] | None = None) -> list[str]:
    with pytest.raises(CollcError) as caught:
        parse_source(text, definitions)
    return [diagnostic.code for diagnostic in caught.value.diagnostics]


def test_a_contract_has_its_type_length_and_operation() -> None:
    contract = program().collectives[0].contract
    assert (contract.element, contract.length) == (ElementType.I16, 16)
    assert (contract.operation, contract.buffer) == (Operation.MUL, "x")


def test_definitions_replace_defaults() -> None:
    spec = program({"P": 5})
    assert [(p.name, p.value) for p in spec.parameters] == [("P", 5), ("K", 2)]
    assert spec.collectives[0].grid.width == 5
    assert spec.collectives[0].contract.length == 10


def test_the_target_of_the_command_line_has_the_last_word() -> None:
    assert program().target == "wse2"
    assert program(target="wse3").target == "wse3"
    with pytest.raises(CollcError):
        program(target="wse4")


def test_limits_and_expectations_are_kept_as_data() -> None:
    c = program().collectives[0]
    assert c.limits.colors == 3
    assert [e.text for e in c.expectations] == ["cycles <= 1.4 * bound", "colors == 2"]
    assert [(e.factor, e.times_bound) for e in c.expectations] == [(1.4, True), (2.0, False)]


def test_without_a_limit_the_target_decides() -> None:
    spec = parse_source(PROGRAM.replace("within colors <= 3", ""))
    assert spec.collectives[0].limits == Limits(None, None)


@pytest.mark.parametrize("value", [0, -1, 751, 2**63, -(2**200)])
def test_a_definition_out_of_range_is_refused(value: int) -> None:
    assert codes(PROGRAM, {"P": value}) in (["C122"], ["C116"])


@pytest.mark.parametrize("value", [1, 750])
def test_a_definition_at_the_edge_of_its_range_is_accepted(value: int) -> None:
    assert program({"P": value}).collectives[0].grid.width == value


def test_what_rests_on_a_reported_problem_is_not_reported_again() -> None:
    assert codes(PROGRAM.replace("param K = 2", "param K = 1 div 0")) == ["C115"]
    assert codes(PROGRAM.replace("grid row = P", "grid row = 0")) == ["C124"]


def test_a_parameter_sees_only_those_before_it() -> None:
    assert codes(PROGRAM.replace("param P = 8", "param P = K")) == ["C110"]
    assert program({"K": 1}).parameters[1].value == 1


def test_all_collectives_are_checked_and_the_program_names_one() -> None:
    more = "collective d = broadcast(x: f32[0]) on row { broadcast from 0 }"
    assert codes(PROGRAM + more) == ["C125"]
    assert [c.name for c in parse_source(PROGRAM + more.replace("[0]", "[1]")).collectives] == ["c"]


def test_a_file_needs_a_target_and_a_program() -> None:
    assert codes("") == ["C150", "C150"]
    assert codes(PROGRAM.replace("program { c }", "program { }")) == ["C150"]


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert parse_source("\ufeff" + PROGRAM).target == "wse2"


def test_carriage_returns_are_blanks() -> None:
    assert parse_source(PROGRAM.replace("\n", "\r\n")).target == "wse2"
