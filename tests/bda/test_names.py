"""Names: what is one, their order, and their codes."""

import enum
import math
import random

import numpy as np
import pandas as pd
import pytest

from bda import TraceError
from bda.names import Names, class_list, is_missing, listed, ordered, plain_name


class Text(str, enum.Enum):  # noqa: UP042 - its str() is not its value
    A = "a"


class Number(enum.IntEnum):
    ONE = 1


class Grown(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("a", "a"),
        (5, 5),
        (True, True),
        (5.0, 5),
        (-0.0, 0),
        (2**70, 2**70),
        (np.int8(5), 5),
        (np.uint64(2**63), 2**63),
        (np.float32(5), 5),
        (np.bool_(False), False),
        (np.str_("a"), "a"),
        (Text.A, "a"),
        (Number.ONE, 1),
        (Grown("a"), "a"),
    ],
)
def test_a_name_becomes_plain(value, name):
    found = plain_name(value, "agent")
    assert found == name
    assert type(found) is type(name)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "is missing"),
        (math.nan, "is missing"),
        (np.float32("nan"), "is missing"),
        (pd.NA, "is missing"),
        (pd.NaT, "is missing"),
        ("", "is empty"),
        (np.str_(""), "is empty"),
        (1.5, "is not a whole number"),
        (math.inf, "is not a whole number"),
        (np.float64(2.5), "is not a whole number"),
        ([], "is a list, not a name"),
        ({}, "is a dict, not a name"),
        (("a",), "is a tuple"),
        (b"a", "is a bytes"),
        (1j, "is a complex"),
        (pd.Timestamp("2020"), "is a Timestamp"),
        (np.zeros(2), "is a ndarray"),
        (object, "is a type"),
    ],
)
def test_what_is_no_name(value, problem):
    with pytest.raises(TraceError) as caught:
        plain_name(value, "agent", "a.jsonl:3")
    assert str(caught.value).startswith("a.jsonl:3: agent = ")
    assert caught.value.problem.startswith(problem)
    assert str(caught.value).endswith("; names are strings, integers or booleans")


def test_missing_values():
    assert all(map(is_missing, (None, math.nan, np.float16("nan"), pd.NA, pd.NaT)))
    assert not any(map(is_missing, (0, "", False, -1, "nan", [], np.zeros(2), math.inf)))


def test_order_is_by_type_and_value_and_by_nothing_else():
    names = ["b", 10, True, "a", 2, False, "B", -1]
    expected = [False, True, -1, 2, 10, "B", "a", "b"]
    for seed in range(5):
        shuffled = random.Random(seed).sample(names, len(names))
        assert [shuffled[i] for i in ordered(shuffled)] == expected
        sorted_names, rank = Names("agent", shuffled).sorted()
        assert list(sorted_names) == expected
        assert [expected[r] for r in rank] == shuffled


def test_codes_in_order_of_first_use():
    table = Names("agent", ["b", 1, "a"])
    assert [table.add(name) for name in ("a", 2, 1, "b")] == [2, 3, 1, 0]
    assert len(table) == 4
    assert [table.find(name) for name in ("a", np.int64(2), 2.0, True, "c", None, [], "")] == [
        2,
        3,
        3,
        -1,
        -1,
        -1,
        -1,
        -1,
    ]


@pytest.mark.parametrize(("first", "second"), [(1, True), (True, 1), (0, False), (False, 0)])
def test_a_number_and_an_equal_truth_value(first, second):
    table = Names("agent", ["a", first])
    assert table.add(first) == 1
    with pytest.raises(TraceError, match=f"row 3: agent = {second} and a .* equal to it cannot be told apart"):
        table.add(second, "row 3")


def test_many_names_are_quick():
    table = Names("agent", range(200_000))
    assert all(table.add(i) == i for i in range(0, 200_000, 2))  # a scan of the table would take minutes


def test_class_lists():
    assert class_list(3) == class_list(np.int64(3)) == class_list(range(3)) == class_list(np.arange(3.0)) == [0, 1, 2]
    assert class_list(("b", np.str_("a"))) == class_list(pd.Index(["b", "a"])) == ["b", "a"]
    for wrong, message in (
        ("ab", "is not a list"),
        (None, "is not a list"),
        (["a", "a"], "stands twice"),
        ([1, True], "twice"),
    ):
        with pytest.raises(TraceError, match=message):
            class_list(wrong)


def test_lists_in_messages():
    assert listed([]) == ""
    assert listed(["a", 1, True]) == "'a', 1, True"
    assert listed(range(8)) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert listed(range(9)) == "0, 1, 2, 3, 4, 5, 6, 7, ..."
