"""What an error says about a long table: the row by its own index, the column by its own name, the value."""

import math

import numpy as np
import pandas as pd
import pytest

from bda import TraceError, Traces
from bda.frame_columns import NEEDED, READ

NAN = math.nan
FINE = {
    "task": ["q1", "q1", "q2"],
    "agent": ["ada", "bo", "ada"],
    "answer": ["x", "y", "x"],
    "round": [0, 1, 0],
    "type": ["propose", "challenge", "propose"],
    "target": [None, "ada", None],
    "status": ["ok", "ok", None],
    "confidence": [0.5, None, None],
    "frozen": [False, None, None],
    "gold": ["x", None, None],
    "candidates": [["x", "y"], None, ["x", "y"]],
    "meta": [{"group": "g"}, None, None],
}
NOT_NAMES = ["", 1.5, math.inf, ["ada"], {"ada": 1}, pd.Timestamp("2020-01-01"), b"ada"]

# Of every column, values that a row cannot have.
BAD = {
    "task": [None, NAN, *NOT_NAMES],
    "agent": [None, NAN, *NOT_NAMES],
    "answer": ["z", 5, *NOT_NAMES],
    "round": [None, NAN, -1, 1.5, "one", True, math.inf, 2**31, [0]],
    "type": ["", "prpose", "Propose", 0, True, ["propose"]],
    "target": NOT_NAMES,
    "status": ["", "OK", "bad", 0, ["ok"]],
    "confidence": ["high", math.inf, -math.inf, True, [0.5], 10**400],
    "frozen": ["yes", "", 2, -1, [True]],
    "gold": ["z", "y", 5, 1.5, ["x"]],
    "candidates": ["x", "x,y", '["x"', '{"x": 1}', 5, ["x"], ["x", "x"], ["x", None], ["x", 1.5], ["y", "x"], []],
    "meta": ["g", "[1]", '{"group"', 5, ["group"], {"group": "h"}],
}
OF_THE_TASK = {"candidates"}  # a list as a whole belongs to its task, not to a row


def spoilt():
    cases = []
    for column, values in BAD.items():
        row = 1 if column in ("gold", "candidates", "meta", "confidence", "frozen", "target") else 2
        cases += [pytest.param(column, row, bad, id=f"{column} {bad!r:.20}") for bad in values]
    return cases


def test_every_column_is_spoilt():
    assert set(BAD) == set(FINE) == set(READ)
    assert len(Traces.from_frame(pd.DataFrame(FINE, dtype=object))) == 2


@pytest.mark.parametrize(("column", "row", "bad"), spoilt())
def test_a_bad_value_is_refused_at_its_row(column, row, bad):
    values = list(FINE[column])
    values[row] = bad
    frame = pd.DataFrame({**FINE, column: pd.Series(values, dtype=object)}, dtype=object)
    own = {"agent": "worker", "answer": "label"}
    frame = frame.set_index(pd.Index([7, 11, 13])).rename(columns=own)
    with pytest.raises(TraceError) as caught:
        Traces.from_frame(frame)
    fault = caught.value
    assert fault.where == f"row {frame.index[row]}" or (column in OF_THE_TASK and fault.where == "task 'q1'")
    assert fault.field == own.get(column, column)
    assert fault.problem
    assert fault.remedy
    text = str(fault)
    assert text.startswith(f"{fault.where}: {fault.field} = ")
    assert text.endswith(f"; {fault.remedy}")
    assert "np." not in text
    assert len(text) < 400
    if column not in OF_THE_TASK:
        assert repr(fault.value) == repr(bad)


@pytest.mark.parametrize(
    ("column", "values", "row"),
    [
        ("label", [1.0, 2.5, 1.0], 1),
        ("label", pd.array([1.0, 2.5, None], "Float64"), 1),
        ("round", [0, 1.5, 0], 1),
        ("round", [0, np.nan, 0], 1),
        ("round", pd.array([0, None, 0], "Int64"), 1),
        ("round", [False, True, False], 0),
        ("round", pd.Categorical(["0", "x", "0"]), 1),
        ("confidence", [0.1, np.inf, 0.2], 1),
        ("confidence", [False, True, False], 0),
        ("type", pd.Categorical(["propose", "vote", "propose"]), 1),
        ("frozen", [0, 2, 0], 1),
        ("status", [1, 2, 3], 0),
    ],
)
def test_columns_of_one_type_are_checked_too(column, values, row):
    frame = pd.DataFrame({"task": ["q1", "q1", "q2"], "worker": list("aba"), "label": list("xyx")})
    with pytest.raises(TraceError, match=rf"^row {row}: {column} = "):
        Traces.from_frame(frame.assign(**{column: values}))


@pytest.mark.parametrize("extra", ["answer", "target", "type", "status", "confidence"])
def test_a_row_without_an_agent_that_says_something(extra):
    row = {"task": "q3", "agent": None, "answer": None, extra: {"confidence": 0.5, "status": "ok"}.get(extra, "x")}
    frame = pd.concat([pd.DataFrame(FINE).drop(columns="candidates"), pd.DataFrame([row])], ignore_index=True)
    with pytest.raises(
        TraceError, match=rf"^row 3: agent = .* is missing, but the row has {extra} = .*; name who moved, or"
    ):
        Traces.from_frame(frame)


@pytest.mark.parametrize("column", NEEDED)
def test_a_column_that_is_needed(column):
    others = {"agent": " or 'worker'", "answer": " or 'label'"}.get(column, "")
    with pytest.raises(TraceError, match=rf"^columns = \[.*\] lack one that is needed; add '{column}'{others}$"):
        Traces.from_frame(pd.DataFrame(FINE)[[name for name in NEEDED if name != column]])


@pytest.mark.parametrize("slip", ["rounds", "typ", "staus", "targets", "golds", "Confidence", "candidate", "metas"])
def test_a_slip_in_the_name_of_a_column(slip):
    frame = pd.DataFrame({"task": [1, 1], "agent": ["a", "b"], "answer": ["x", "y"], slip: [0, 0]})
    with pytest.raises(
        TraceError, match=rf"^column = '{slip}' is not read \(is '.*' meant\?\); correct it, or drop it"
    ):
        Traces.from_frame(frame)


def test_columns_that_are_not_read_are_passed_over():
    frame = pd.DataFrame(
        {"task": [1, 1], "agent": ["a", "b"], "answer": ["x", "y"], "round": [0, 0], "rounds": 3, 7: 1}
    )
    assert len(Traces.from_frame(frame).moves_table) == 2


@pytest.mark.parametrize(
    ("first", "second"), [("agent", "worker"), ("label", "answer"), ("task", "task"), ("round", "round")]
)
def test_a_column_that_stands_twice(first, second):
    frame = pd.DataFrame(FINE).rename(columns={"agent": "worker", "answer": "label"} if first == "label" else {})
    doubled = pd.concat([frame, frame[[first]].set_axis([second], axis=1)], axis=1)
    with pytest.raises(TraceError, match=f"stands twice, as {first} and as {second}; keep one"):
        Traces.from_frame(doubled)


@pytest.mark.parametrize("thing", [5, "votes.csv", None, [[1, 2]], np.zeros((2, 3)), {1, 2}])
def test_what_is_no_data_frame(thing):
    with pytest.raises(TraceError, match=r"frame = .* is no data frame; pass a data frame with columns task, agent"):
        Traces.from_frame(thing)


def test_true_and_1_are_not_told_apart():
    labels = pd.Series([True, 5, 1], dtype=object)
    with pytest.raises(TraceError, match="row 2: answer = 1 and a truth value equal to it cannot be told apart"):
        Traces.from_frame(pd.DataFrame({"task": [1, 2, 3], "agent": "a", "answer": labels}))
    kept = Traces.from_frame(
        pd.DataFrame({"task": [1, 2, 3], "agent": "a", "answer": pd.Series([True, None, False], dtype=object)})
    )
    assert kept.classes == (False, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": ["x", "z"]}, "row 1: answer = 'y' is not among the classes; classes are 'x', 'z'"),
        ({"classes": ["x", "y", "x"]}, "classes = 'x' stands twice; list every class once"),
        ({"classes": "xy"}, "classes = 'xy' is not a list of names"),
        ({"classes": 5.5}, "classes = 5.5 is not a list of names"),
        ({"classes": ["x", None]}, "classes = None is missing"),
        ({"candidates": {"q1": ["x", "y"]}}, "task = 'q2' has no entry in candidates; list every task"),
        ({"candidates": {"q1": ["x", "z"], "q2": ["x", "y"]}}, "row 1: answer = 'y' is not a candidate of its task"),
        ({"candidates": {"q1": "xy", "q2": "xy"}}, "task 'q1': candidates = 'xy' is not a list"),
        ({"candidates": {"q1": ["x"], "q2": ["x"]}}, "task 'q1': candidates = .* offers fewer than two answers"),
        (
            {"classes": ["x", "y"], "candidates": {"q1": ["x", "w"], "q2": ["x", "y"]}},
            "task 'q1': candidates = 'w' is not among the classes; classes are 'x', 'y'",
        ),
        ({"gold": {"q1": "w"}}, "labels, task 'q1': label = 'w' is not a class; classes are 'x', 'y'"),
    ],
)
def test_arguments_that_do_not_fit(arguments, message):
    frame = pd.DataFrame({"task": ["q1", "q1", "q2"], "agent": list("aba"), "answer": list("xyx")})
    with pytest.raises(TraceError, match=message):
        Traces.from_frame(frame, **arguments)


def test_one_class_needs_the_others_named():
    frame = pd.DataFrame({"task": [1, 2], "agent": ["a", "a"], "answer": ["x", "x"], "gold": ["x", "y"]})
    with pytest.raises(
        TraceError, match=r"classes = \['x'\] are fewer than two classes; pass classes= with every class"
    ):
        Traces.from_frame(frame)
    assert Traces.from_frame(frame, classes=["x", "y"]).gold.tolist() == [0, 1]


def test_an_answer_with_a_status_makes_no_class():
    frame = pd.DataFrame(
        {"task": [1, 1, 1], "agent": list("abc"), "answer": ["x", "y", "Sorry, I"], "status": ["ok", None, "truncated"]}
    )
    found = Traces.from_frame(frame)
    assert found.classes == ("x", "y")
    assert found.moves_table.answer.tolist() == [0, 1, -1]
    elsewhere = pd.DataFrame(
        {"task": [1, 1, 2], "agent": list("aba"), "answer": ["x", "z", "z"], "status": [None, "failed", None]}
    )
    found = Traces.from_frame(elsewhere, candidates={1: ["x", "y"], 2: ["y", "z"]})
    assert found.moves_table.answer.tolist() == [0, -1, 2]
