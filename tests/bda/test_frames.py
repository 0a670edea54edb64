"""Long tables: every kind of label and column, what a row may leave out, and the way back."""

import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bda import TraceError, Traces
from bda.labels import offered
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import MEANT, assert_same, meanings, move, traces


def votes(labels, **columns):
    """Two tasks, three agents; labels of q1's three and q2's one vote."""
    return pd.DataFrame({"task": ["q1", "q1", "q1", "q2"], "agent": list("abca"), "answer": labels} | columns)


def answers(found):
    return [found.classes[c] if c >= 0 else None for c in found.moves_table.answer]


LABELS = {
    "str": (["x", "y", "x", "y"], ("x", "y")),
    "object": (pd.Series(["x", "y", "x", "y"], dtype=object), ("x", "y")),
    "int": ([2, 10, 2, 10], (2, 10)),
    "int8": (np.array([2, 10, 2, 10], np.int8), (2, 10)),
    "float": ([2.0, 10.0, 2.0, 10.0], (2, 10)),
    "Int64": (pd.array([2, 10, 2, 10], "Int64"), (2, 10)),
    "bool": ([True, False, True, False], (False, True)),
    "boolean": (pd.array([True, False, True, False], "boolean"), (False, True)),
    "string": (pd.array(["x", "y", "x", "y"], "string"), ("x", "y")),
    "category": (pd.Categorical(["x", "y", "x", "y"]), ("x", "y")),
    "category of int": (pd.Categorical([2, 10, 2, 10]), (2, 10)),
    "mixed": (pd.Series([2, "x", 2, "x"], dtype=object), (2, "x")),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind):
    labels, classes = LABELS[kind]
    found = Traces.from_frame(votes(labels))
    assert found.classes == classes
    assert [type(c) for c in found.classes] == [type(c) for c in classes]
    assert answers(found) == list(labels)
    assert found.n_candidates.tolist() == [2, 2]


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("labels", [["x", "y", "x"], [2, 10, 2], [True, False, True], [2.0, 10.0, 2.0]])
def test_a_missing_answer_is_no_class(labels, nothing):
    found = Traces.from_frame(votes(pd.Series([*labels, nothing], dtype=object)))
    assert len(found.classes) == 2
    assert answers(found) == [*labels, None]
    assert found.protocol_report().locations()["problem"].tolist() == ["unreadable"]
    assert len(found) == 2


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "float64", "category", "string"])
def test_a_missing_answer_in_columns_of_pandas(dtype):
    values = ["2", "10", "2", None] if dtype == "string" else [2, 10, 2, None]
    found = Traces.from_frame(votes(pd.Series(values, dtype=dtype)))
    assert found.classes == (("10", "2") if dtype == "string" else (2, 10))
    assert answers(found)[3] is None


@pytest.mark.parametrize("agent", ["agent", "worker"])
@pytest.mark.parametrize("answer", ["answer", "label"])
@pytest.mark.parametrize("form", ["frame", "mapping", "records", "to_pandas"])
def test_what_a_long_table_may_be(agent, answer, form):
    frame = votes(list("xyxy")).rename(columns={"agent": agent, "answer": answer})

    class Foreign:
        def to_pandas(self):
            return frame

    forms = {
        "frame": frame,
        "mapping": frame.to_dict("list"),
        "records": frame.to_dict("records"),
        "to_pandas": Foreign(),
    }
    assert_same(Traces.from_frame(forms[form]), Traces.from_frame(votes(list("xyxy"))))


def test_every_column():
    full = pd.DataFrame(
        {
            "task": ["q1"] * 5,
            "agent": ["ada", "bo", "bo", "cy", "dee"],
            "answer": ["A", None, "B", None, "nonsense"],
            "round": [0, 0, 1, 1, 1],
            "type": ["propose", "propose", "concede", "challenge", None],
            "target": [None, None, "ada", "ada", None],
            "status": [None, "failed", "ok", None, "unreadable"],
            "frozen": [None, None, True, False, None],
            "confidence": [0.5, None, None, 1, None],
            "gold": [None, "C", None, None, None],
            "candidates": ['["A", "B", "C"]', None, None, None, None],
            "meta": [None, '{"group": "g"}', None, None, None],
            "endorses": ["A", None, "B", None, None],
        }
    )
    expected = traces(
        move("ada 0 propose A", confidence=0.5),
        move("bo 0 propose -", status="failed"),
        move("bo 1 concede ada B", frozen=True),
        move("cy 1 challenge ada", confidence=1),
        move("dee 1 propose -", status="unreadable"),
        gold="C",
        meta={"group": "g"},
    )
    assert_same(Traces.from_frame(full), expected)
    as_text = full.map(lambda value: None if value is None or value != value else str(value))
    assert_same(Traces.from_frame(as_text), expected)
    assert_same(Traces.from_frame(full.set_index(full.index[::-1] + 100)), expected)


def test_rows_in_any_order_of_tasks():
    frame = votes(list("xyxy"))
    mixed = Traces.from_frame(frame.iloc[[3, 0, 1, 2]])
    assert mixed.task_ids.tolist() == ["q2", "q1"]
    assert_same(mixed[[1, 0]], Traces.from_frame(frame))
    assert_same(Traces.from_frame(frame.iloc[[0, 3, 1, 2]]), Traces.from_frame(frame))


def test_classes_wider_than_what_was_seen():
    frame = votes(list("xyxy"))
    wide = Traces.from_frame(frame, classes=["z", "y", "x"])
    assert wide.classes == ("z", "y", "x")
    assert answers(wide) == list("xyxy")
    assert offered(wide, 0) == ["z", "y", "x"]
    category = frame.assign(answer=pd.Categorical(frame["answer"], ["z", "y", "x"]))
    assert_same(Traces.from_frame(category), wide)
    assert Traces.from_frame(category, classes=["x", "y"]).classes == ("x", "y")
    assert Traces.from_frame(votes([0, 1, 0, 1]), classes=4).classes == (0, 1, 2, 3)
    assert Traces.from_frame(votes([0, 1, 0, 1]), classes=np.array([1, 0, 2])).classes == (1, 0, 2)


def test_candidates_that_differ_between_tasks():
    frame = votes(list("xyxy"))
    found = Traces.from_frame(frame, candidates={"q1": ["y", "x"], "q2": ("y", "z", "w"), "q3": ["u"]})
    assert [offered(found, 0), offered(found, 1)] == [["y", "x"], ["y", "z", "w"]]
    assert found.classes == ("w", "x", "y", "z")
    lists = [["y", "x"], None, np.array(["y", "x"], object), ["y", "z", "w"]]
    column = frame.assign(candidates=pd.Series(lists, dtype=object))
    assert_same(Traces.from_frame(column), found)
    ordered = Traces.from_frame(column, classes=["z", "y", "x", "w"])
    assert ordered.classes == ("z", "y", "x", "w")
    assert offered(ordered, 1) == ["y", "z", "w"]


def test_a_row_may_name_a_task_alone():
    frame = pd.concat([votes(list("xyxy")), pd.DataFrame({"task": ["q0"], "gold": ["x"]})], ignore_index=True)
    found = Traces.from_frame(frame)
    assert found.task_ids.tolist() == ["q1", "q2", "q0"]
    assert (len(found.moves_table), found.gold.tolist()) == (4, [-1, -1, 0])


@pytest.mark.parametrize("empty", [votes(list("xyxy")).iloc[:0], pd.DataFrame({"task": [], "agent": [], "answer": []})])
def test_an_empty_table_is_an_empty_result(empty):
    found = Traces.from_frame(empty)
    assert (len(found), found.agent_names, found.classes, len(found.moves_table)) == (0, (), (), 0)
    assert Traces.from_frame(empty, classes=["x", "y"]).classes == ("x", "y")


def test_repeated_votes():
    frame = votes(list("xyyx")).assign(agent=["a", "a", "a", "a"])
    assert meanings(Traces.from_frame(frame)) == [("endorse", c) for c in "xyyx"]
    assert meanings(Traces.from_frame(frame, duplicates="last")) == [("endorse", c) for c in "yx"]
    with pytest.raises(TraceError, match="task 'q1': agent = 'a' votes more than once in round 0"):
        Traces.from_frame(frame, duplicates="error")


def test_gold_in_a_column_and_apart():
    frame = votes(list("xyxy"), gold=["x", None, "x", ""])
    assert Traces.from_frame(frame).gold.tolist() == [0, -1]
    assert Traces.from_frame(frame, gold={"q2": "y"}).gold.tolist() == [-1, 1]
    assert Traces.from_frame(votes([0, 1, 0, 1], gold=[0, -1, 0, -1])).gold.tolist() == [0, -1]
    assert Traces.from_frame(votes([-1, 1, -1, 1], gold=[-1, -1, -1, 1])).gold.tolist() == [0, 1]


def test_the_frame_is_left_as_it_is():
    frame = votes(list("xyxy"), confidence=[0.1, 0.2, 0.3, 0.4], round=[0, 0, 0, 0])
    before = frame.copy(deep=True)
    found = Traces.from_frame(frame)
    frame.loc[0, ["confidence", "round"]] = [9, 9]
    assert found.moves_table.confidence[0] == 0.1
    assert found.moves_table.round[0] == 0
    frame.loc[0, ["confidence", "round"]] = [0.1, 0]
    pd.testing.assert_frame_equal(frame, before)


def rebuilt(found):
    """Return traces from their own frame, with what a frame does not hold given beside it."""
    names, gold = found.task_ids, [None if g < 0 else found.classes[g] for g in found.gold]
    candidates = {name: offered(found, n) for n, name in enumerate(names)}
    rows = pd.concat([pd.DataFrame({"task": names, "gold": gold}, dtype=object), found.to_frame().astype(object)])
    return Traces.from_frame(rows, candidates=candidates, classes=found.classes)


@settings(max_examples=8)
@given(st.integers(0, 10**9))
def test_to_frame_and_back(seed):
    found = Traces.from_records(messier_tasks(random.Random(seed), 8))
    bare = replace(found, meta=None)  # a frame holds no meta
    assert_same(rebuilt(found), bare)
    for view in (bare.last_vote(), bare.moves(["concede", "challenge"]), bare.agents(bare.agent_names[:2])):
        table = view.moves_table
        movers = [view.agent_names[code] for code in np.unique(table.agent)]
        assert_same(rebuilt(view).agents(movers), view.agents(movers), MEANT)


def test_the_columns_of_to_frame():
    frame = traces("ada 0 propose A", move("bo 1 challenge ada", confidence=0.5), gold="B").to_frame()
    assert frame.astype(object).where(frame.notna(), None).to_dict("list") == {
        "task": ["q1", "q1"],
        "agent": ["ada", "bo"],
        "round": [0, 1],
        "type": ["propose", "challenge"],
        "answer": ["A", None],
        "target": [None, "ada"],
        "status": ["ok", "ok"],
        "frozen": [False, False],
        "gold": ["B", "B"],
        "confidence": [None, 0.5],
        "endorses": ["A", None],
        "rejects": [None, "A"],
    }


def test_the_frame_of_a_view_states_what_it_means():
    found = traces("ada 0 propose A", "bo 1 concede ada", "cy 1 challenge ada", "dee 1 concede ada C")
    assert found.to_frame()["answer"].isna().tolist() == [False, True, True, False]
    view = found.moves(["concede", "challenge"]).to_frame()
    assert view["answer"].tolist() == ["A", "A", "A"]
    assert view["frozen"].tolist() == [True, False, True]
