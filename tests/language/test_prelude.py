"""The prelude, parsed declaration by declaration, is what the whole file says."""

import pytest

from collc.language.kinds import classes_of
from collc.language.parser import parse_text
from collc.language.prelude import (
    PRELUDE_FILE,
    Declared,
    prelude_declaration,
    prelude_kinds,
    prelude_text,
)
from collc.language.syntax import OrderDecl, TreeDecl


def test_a_declaration_alone_is_that_of_the_whole_file() -> None:
    whole = parse_text(PRELUDE_FILE, prelude_text())
    alone = [prelude_declaration(one.name.text) for one in whole]
    assert list(map(repr, alone)) == list(
        map(repr, whole)
    )  # expressions are told apart by identity
    assert {one.name.text: type(one) for one in whole} == prelude_kinds()


def test_own_declarations_come_behind_the_preludes() -> None:
    own = prelude_declaration("chain")
    assert isinstance(own, TreeDecl)
    trees = Declared(TreeDecl, {"mine": own})
    assert list(trees)[-1] == "mine"
    assert len(trees) == len(Declared(TreeDecl)) + 1 == len(list(trees))
    assert trees["mine"] is own is trees["chain"]


def test_a_name_of_another_kind_is_not_there() -> None:
    assert "chain" not in Declared(OrderDecl)
    with pytest.raises(KeyError):
        Declared(OrderDecl)["chain"]
    assert set(classes_of(lambda kind: kind.in_prelude)) == set(prelude_kinds().values())
