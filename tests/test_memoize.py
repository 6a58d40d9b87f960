"""Results that are found once."""

from __future__ import annotations

from collc.base.memoize import Latest, by_identity


def test_equal_arguments_that_are_not_the_same_are_asked_again_and_the_oldest_is_forgotten() -> (
    None
):
    asked = []

    @by_identity(2)
    def found(argument: list[int]) -> int:
        asked.append(argument)
        return len(asked)

    one, other, third = [1], [1], [3]
    assert [found(one), found(other), found(one), found(other)] == [1, 2, 1, 2]
    assert [found(third), found(other), found(one)] == [3, 2, 4]


def test_the_same_values_by_other_names_are_another_question() -> None:
    @by_identity(2)
    def difference(*, left: int, right: int) -> int:
        return left - right

    assert difference(left=3, right=1) == 2
    assert difference(right=3, left=1) == -2


def test_arguments_by_name_are_compared_by_value() -> None:
    asked = []

    @by_identity(2)
    def found(*, text: bytes) -> int:
        asked.append(text)
        return len(asked)

    assert found(text=bytes([1, 2])) == found(text=bytes([1, 2])) == 1
    assert found(text=bytes([1, 3])) == 2


def test_the_results_asked_for_last_are_held_while_there_is_room_for_them() -> None:
    asked: list[str] = []
    latest = Latest[str, int](most=3, room=10, weigh=int)

    def found(question: str) -> int:
        def find() -> int:
            asked.append(question)
            return int(question)

        return latest.find(question, find)

    assert [found(one) for one in ("1", "2", "3", "1")] == [1, 2, 3, 1]
    found("4")  # 2 is the one that was asked for first
    assert list(latest.held) == ["3", "1", "4"]
    found("8")  # which leaves room for 1 or 2 beside it
    assert list(latest.held) == ["8"]
    found("11")  # too much by itself
    assert list(latest.held) == []
    assert asked == ["1", "2", "3", "4", "8", "11"]
