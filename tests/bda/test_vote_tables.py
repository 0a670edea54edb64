"""Wide tables of votes: every kind of label, every sign of a missing vote, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bda import TraceError, Traces
from tests.bda.small_traces import assert_same
from tests.house.tree import run_python


def cells(found):
    """Return the table that the traces came from, None where nobody voted."""
    table = np.full((len(found), len(found.agent_names)), None)
    moves = found.moves_table
    table[moves.task, moves.agent] = [found.classes[c] for c in moves.answer]
    return table.tolist()


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 6), st.integers(0, 6)), elements=st.integers(-1, 4)))
def test_every_cell_becomes_one_proposal(votes):
    found = Traces.from_votes(votes, classes=5)
    moves = found.moves_table
    np.testing.assert_array_equal([[-1 if c is None else c for c in row] for row in cells(found)], votes.tolist())
    assert len(moves) == (votes >= 0).sum()
    assert {int(x) for name in ("round", "type", "status") for x in getattr(moves, name)} <= {0}
    assert (moves.kind == 1).all()
    assert (moves.resolved == moves.answer).all()
    assert (moves.target == -1).all()
    assert found.task_ids.tolist() == list(range(votes.shape[0]))
    assert found.agent_names == tuple(range(votes.shape[1]))
    assert (found.n_candidates == 5).all()


KINDS = {
    "int": (np.array([[3, 1], [1, -1]]), [[3, 1], [1, None]]),
    "uint8": (np.array([[3, 1], [1, 3]], np.uint8), [[3, 1], [1, 3]]),
    "float": (np.array([[3.0, 1.0], [1.0, np.nan]]), [[3, 1], [1, None]]),
    "float32, -1": (np.array([[3, 1], [-1, np.nan]], np.float32), [[3, 1], [None, None]]),
    "bool": (np.array([[True, False], [False, False]]), [[True, False], [False, False]]),
    "str": (np.array([["x", "y"], ["y", "y"]]), [["x", "y"], ["y", "y"]]),
    "object": (np.array([["x", "y"], [None, np.nan]], object), [["x", "y"], [None, None]]),
    "object, -1": (np.array([["x", "y"], [-1, -1.0]], object), [["x", "y"], [None, None]]),
    "list of str and nan": ([["x", "y"], [float("nan"), None]], [["x", "y"], [None, None]]),
    "list of bool and nan": ([[True, False], [float("nan"), True]], [[True, False], [None, True]]),
    "list of str and int": ([["x", 1], [1, "1"]], [["x", 1], [1, "1"]]),
    "tuples": (((0, 1), (1, -1)), [[0, 1], [1, None]]),
    "masked": (np.ma.masked_array([[3, 1], [1, 7]], [[0, 0], [0, 1]]), [[3, 1], [1, None]]),
    "frame of int": (pd.DataFrame([[3, 1], [1, -1]]), [[3, 1], [1, None]]),
    "frame with a gap": (pd.DataFrame({0: [3, None], 1: [1, 3]}), [[3, 1], [None, 3]]),
    "frame of Int64": (pd.DataFrame({0: [3, None], 1: [1, 3]}, dtype="Int64"), [[3, 1], [None, 3]]),
    "frame of two types": (pd.DataFrame({0: pd.array([3, None], "Int64"), 1: [1, 3]}), [[3, 1], [None, 3]]),
    "frame of boolean": (
        pd.DataFrame({0: [True, None], 1: [False, True]}, dtype="boolean"),
        [[True, False], [None, True]],
    ),
    "frame of str": (pd.DataFrame({0: ["x", None], 1: ["y", "x"]}), [["x", "y"], [None, "x"]]),
    "frame of string": (pd.DataFrame({0: ["x", None], 1: ["y", "x"]}, dtype="string"), [["x", "y"], [None, "x"]]),
    "frame of object": (pd.DataFrame({0: ["x", pd.NA], 1: ["y", pd.NaT]}, dtype=object), [["x", "y"], [None, None]]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_and_gaps_of_every_kind(kind):
    votes, expected = KINDS[kind]
    before = votes.copy() if hasattr(votes, "copy") else votes
    found = Traces.from_votes(votes)
    assert cells(found) == expected
    seen = {c for row in expected for c in row if c is not None}
    assert found.classes == tuple(sorted(seen, key=lambda c: (type(c).__name__, c)))
    assert {type(c) for c in found.classes} == {type(c) for c in seen}
    assert repr(votes) == repr(before)


def test_a_frame_brings_names():
    frame = pd.DataFrame({"ada": ["x", "y"], "bo": [None, "y"]}, index=["q1", "q2"])
    found = Traces.from_votes(frame)
    assert (found.task_ids.tolist(), found.agent_names) == (["q1", "q2"], ("ada", "bo"))
    assert_same(Traces.from_votes(frame.to_numpy(), tasks=["q1", "q2"], agents=["ada", "bo"]), found)
    renamed = Traces.from_votes(frame, tasks=[7, 8], agents=["cy", "ada"])
    assert (renamed.task_ids.tolist(), renamed.agent_names) == ([7, 8], ("ada", "cy"))
    assert cells(renamed) == [[None, "x"], ["y", "y"]]


def test_a_frame_by_way_of_to_pandas():
    class Foreign:
        columns = ("ada", "bo")

        def to_pandas(self):
            return pd.DataFrame({"ada": ["x"], "bo": ["y"]})

    assert Traces.from_votes(Foreign()).agent_names == ("ada", "bo")


def test_categories_are_the_classes():
    kind = pd.CategoricalDtype(["low", "mid", "high"])
    frame = pd.DataFrame({"ada": ["high", None], "bo": ["low", "low"]}, dtype=kind)
    assert Traces.from_votes(frame).classes == ("low", "mid", "high")
    assert cells(Traces.from_votes(frame)) == [["high", "low"], [None, "low"]]
    assert Traces.from_votes(frame, classes=["high", "low"]).classes == ("high", "low")
    other = frame.assign(bo=pd.Categorical(["low", "no"]))
    assert Traces.from_votes(other).classes == ("high", "low", "no")


def test_an_agent_without_votes_and_a_task_without_votes_stay():
    found = Traces.from_votes(pd.DataFrame({"ada": [1, 0, np.nan], "bo": [np.nan] * 3}))
    assert found.agent_names == ("ada", "bo")
    assert len(found) == 3
    assert found.protocol_report().states()["not_asked"].tolist() == [1, 3]
    nobody = Traces.from_votes(np.full((2, 2), np.nan), classes=["x", "y"])
    assert (len(nobody), nobody.agent_names, len(nobody.moves_table)) == (2, (0, 1), 0)


@pytest.mark.parametrize(
    "votes", [np.zeros((0, 3)), np.zeros((0, 3), int), np.zeros((0, 3), object), pd.DataFrame({0: [], 1: [], 2: []})]
)
def test_an_empty_table_is_an_empty_result(votes):
    found = Traces.from_votes(votes)
    assert (len(found), found.agent_names, found.classes) == (0, (0, 1, 2), ())
    assert Traces.from_votes(votes, classes=3).classes == (0, 1, 2)


def test_no_agents():
    found = Traces.from_votes(np.zeros((2, 0)), classes=["x", "y"])
    assert (len(found), found.agent_names) == (2, ())


def test_classes_and_what_votes_say_of_them():
    assert cells(Traces.from_votes([[0, 2, -1]], classes=["low", "mid", "high"])) == [["low", "high", None]]
    assert cells(Traces.from_votes([["high", "low", -1]], classes=["low", "mid", "high"])) == [["high", "low", None]]
    assert cells(Traces.from_votes([[5, 7, -1]], classes=[7, 6, 5])) == [[5, 7, None]]
    assert Traces.from_votes([[5, 7]], classes=[7, 6, 5]).classes == (7, 6, 5)
    assert cells(Traces.from_votes([[True, False]], classes=2)) == [[1, 0]]
    assert Traces.from_votes([[0, 1]], classes=np.int64(3)).classes == (0, 1, 2)


def test_minus_one_is_a_label_where_the_classes_say_so():
    signs = np.array([[-1.0, 1.0, np.nan], [1.0, -1.0, 0.0]])
    assert cells(Traces.from_votes(signs, classes=[-1, 0, 1])) == [[-1, 1, None], [1, -1, 0]]
    with pytest.raises(TraceError, match=r"classes = \[1\] are fewer than two classes; .*-1 is a missing vote unless"):
        Traces.from_votes([[-1, 1], [1, -1]])


@pytest.mark.parametrize(
    "gold", [{1: "y"}, [None, "y"], pd.Series([np.nan, "y"]), pd.DataFrame({"task": [1], "label": ["y"]})]
)
def test_gold(gold):
    assert Traces.from_votes([["x", "y"], ["x", "x"]], gold=gold).gold.tolist() == [-1, 1]


OUT = "labels are 0..3, -1 or NaN for a missing vote"
NAMED = pd.DataFrame({"ada": [0, 1], "bo": [0, 5]}, index=["q1", "q2"])
REFUSED = [
    ([[0, 1], [0, 5]], {"classes": 4}, rf"^votes\[1, 1\] is 5 but there are 4 classes; {OUT}$"),
    (np.array([[0, 1], [0, 5]]), {"classes": 4}, r"^votes\[1, 1\] is 5 but"),
    (np.array([[0, 1], [0, 5.0]]), {"classes": 4}, r"^votes\[1, 1\] is 5.0 but"),
    (np.array([[0, -2]]), {"classes": 4}, r"^votes\[0, 1\] is -2 but"),
    (NAMED, {"classes": 4}, r"^task 'q2', agent 'bo': votes\[1, 1\] is 5 but there are 4 classes"),
    ([[0, 3]], {"classes": ["x", "y"]}, r"^votes\[0, 1\] is 3 but there are 2 classes; labels are 0..1, -1 or NaN"),
    ([["x", "Y"]], {"classes": ["x", "y"]}, r"votes\[0, 1\] is 'Y' but there are 2 classes; labels are 'x', 'y', -1"),
    ([[-1, 2]], {"classes": [-1, 1]}, r"is 2 but there are 2 classes; labels are -1, 1, NaN for a missing vote$"),
    ([[0, 20]], {"classes": range(5, 20)}, r"labels are 5, 6, 7, 8, 9, 10, 11, 12, \.\.\., -1 or NaN"),
    ([[0, 1], [1, 1.5]], {}, r"^votes\[1, 1\] = 1.5 is not a whole number; names are"),
    (np.array([[0, 1], [1, 1.5]]), {}, r"^votes\[1, 1\] = 1.5 is not a whole number"),
    (np.array([[0, np.inf]]), {}, r"^votes\[0, 1\] = inf is not a whole number"),
    ([[0, ""]], {}, r"^votes\[0, 1\] = '' is empty"),
    ([["x", ["y"]]], {}, r"^votes\[0, 1\] = \['y'\] is a list, not a name"),
    ([["x", "y"], [b"x", "y"]], {}, r"^votes\[1, 0\] = b'x' is a bytes, not a name"),
    ([[True, 0], [5, 1]], {}, r"^votes\[1, 1\] = 1 and a truth value equal to it cannot be told apart"),
    (np.array([["x", np.nan]]), {}, r"^votes\[0, 1\] = 'nan' is text that NumPy made of a missing vote; pass a list"),
    (np.array([["x", -1]]), {}, r"^votes\[0, 1\] = '-1' is text that NumPy made"),
    ([1, 0], {}, r"^votes.shape = \(2,\) is not a table of tasks by agents; pass a two-dimensional array; a long"),
    ([], {}, r"^votes.shape = \(0,\) is not a table"),
    (5, {}, r"^votes.shape = \(\) is not a table"),
    ([[0, 1], [1]], {}, r"^votes.shape = \(2,\) is not a table"),
    (np.zeros((2, 2, 2)), {}, r"^votes.shape = \(2, 2, 2\) is not a table"),
    (pd.Series([0, 1]), {}, r"^votes.shape = \(2,\) is not a table"),
    (np.array([["2020-01-01"]], "datetime64[ns]"), {}, r"^votes.dtype = 'datetime64\[ns\]' cannot hold labels"),
    (np.array([[1j]]), {}, r"^votes.dtype = 'complex128' cannot hold labels"),
    ([[0, 0], [0, 0]], {}, r"^classes = \[0\] are fewer than two classes; pass classes= with every class there is"),
    (np.full((2, 2), np.nan), {}, r"^classes = \[\] are fewer than two classes"),
    ([[0, 0]], {"classes": 1}, r"^classes = \[0\] are fewer than two classes"),
    ([["x", "y"]], {"classes": ["x", "y", "x"]}, "^classes = 'x' stands twice"),
    ([["x", "y"]], {"classes": "xy"}, "^classes = 'xy' is not a list of names"),
    ([[0, 1]], {"tasks": ["q1", "q2"]}, r"^tasks = \['q1', 'q2'\] are 2 names for 1 rows; give each task one name"),
    ([[0, 1]], {"agents": ["ada"]}, r"^agents = \['ada'\] are 1 names for 2 columns"),
    ([[0, 1]], {"agents": ["ada", "ada"]}, "^agents = 'ada' stands at positions 0 and 1; give each agent a name"),
    ([[0, 1]], {"agents": [1, True]}, "^agents = True stands at positions 0 and 1"),
    ([[0, 1]], {"agents": ["ada", None]}, "^agents = None is missing"),
    (pd.DataFrame([[0, 1]] * 2, index=["q", "q"]), {}, "^tasks = 'q' stands at positions 0 and 1"),
    (pd.DataFrame([[0, 1]], index=[1.5]), {}, "^tasks = 1.5 is not a whole number"),
    (pd.DataFrame({"task": ["q1"], "ada": ["x"]}), {}, r"^columns = \['task', 'ada'\] name a column of tasks"),
    ([["x", "y"]], {"gold": ["z"]}, r"^labels\[0\], task 0: label = 'z' is not a class"),
]  # fmt: skip


@pytest.mark.parametrize(("votes", "arguments", "message"), REFUSED)
def test_what_is_refused(votes, arguments, message):
    with pytest.raises(TraceError, match=message) as caught:
        Traces.from_votes(votes, **arguments)
    assert "np." not in str(caught.value)


def test_the_place_of_a_bad_vote_can_be_read_off_the_error():
    with pytest.raises(TraceError) as caught:
        Traces.from_votes(NAMED, classes=4)
    assert (caught.value.where, caught.value.field, caught.value.value) == ("task 'q2', agent 'bo'", "votes[1, 1]", 5)


def test_an_array_is_read_without_pandas():
    ran = run_python(
        "-c",
        "import sys; sys.modules.update(dict.fromkeys(('pandas', 'jax', 'scipy', 'sklearn')))\n"
        "import numpy as np\nfrom bda import Traces\n"
        "print(Traces.from_votes(np.array([[0, 1.0], [np.nan, 1]]), gold=[0, 1]))\n"
        "print(Traces.from_votes([['x', None, 'y']]))",
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("Traces(") == 2
