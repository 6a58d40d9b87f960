"""Emitted text stays as it is, comments and all, but where a commit says that it changes.

`make digests` compares the whole sample, and `python tests/digests.py` makes it anew; here are the
examples, all kinds of bundles, and a slice of the rest.
"""

from __future__ import annotations

import digests
import pytest

RECORDED = digests.recorded()


PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
def test_the_emitted_text_is_as_recorded(part: int) -> None:
    """A part is cases one behind the other, as those of an example are, for one target or none."""
    made, names = digests.cases(), digests.quick()
    first, behind = (len(names) * at // PARTS for at in (part, part + 1))
    found = {name: made[name]() for name in names[first:behind]}
    assert digests.differences(found, {name: RECORDED.get(name, "none") for name in found}) == []


def test_every_case_is_recorded_and_no_other() -> None:
    assert sorted(RECORDED) == sorted(digests.cases())


def test_a_changed_text_a_new_case_and_one_that_is_gone_are_told() -> None:
    before = {"same": "1", "changed": "2", "gone": "3"}
    found = {"same": "1", "changed": "4", "new": "5"}
    assert digests.differences(found, before) == [
        "changed: 2 -> 4",
        "gone: 3 -> none",
        "new: none -> 5",
    ]


def test_one_character_more_is_another_digest() -> None:
    texts = ({"a.csl": "x"}, {"a.csl": "x "}, {"b.csl": "x"}, {"a.csl": "x", "b.csl": ""})
    assert len({digests.digest_of(files) for files in texts}) == len(texts)
    with_manifest = {"a.csl": "x", "manifest.json": "{}"}
    assert digests.digest_of(with_manifest) == digests.digest_of({"a.csl": "x"})
