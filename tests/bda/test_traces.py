"""Traces as one thing: picking tasks, what cannot be changed, copies, and errors that say what was asked for."""

import copy
import pickle
import random
from dataclasses import FrozenInstanceError, fields

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bda
from bda import OneCoin, TraceError, Traces
from bda.errors import shown
from bda.evidence import count_evidence
from bda.labels import offered
from bda.trace_files import record
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import ARRAYS, assert_same, task

N = 7
COUNCIL = Traces.from_records(messier_tasks(random.Random(3), N))


def records(traces):
    return [record(traces, n) for n in range(len(traces))]


EVERY = records(COUNCIL)
INDEX = {
    "an integer": (2, [2]),
    "a negative integer": (-1, [6]),
    "a NumPy integer": (np.int32(4), [4]),
    "an unsigned integer": (np.uint8(4), [4]),
    "a slice": (slice(1, 4), [1, 2, 3]),
    "a slice with a step": (slice(None, None, -2), [6, 4, 2, 0]),
    "a slice that is too long": (slice(5, 99), [5, 6]),
    "a list": ([3, 0], [3, 0]),
    "a tuple": ((3, 0), [3, 0]),
    "a range": (range(2, 5), [2, 3, 4]),
    "an array": (np.array([6, -7, 1], np.int8), [6, 0, 1]),
    "repeats": ([1, 1, 4, 1], [1, 1, 4, 1]),
    "a mask": (np.arange(N) % 3 == 0, [0, 3, 6]),
    "a list of truth values": ([True, False] * 3 + [True], [0, 2, 4, 6]),
    "a Series": (pd.Series([5, 2], index=[9, 8]), [5, 2]),
    "a Series of truth values": (pd.Series(np.arange(N) > 4), [5, 6]),
    "nothing": ([], []),
    "an empty array": (np.zeros(0), []),
    "an empty mask": (np.zeros(N, bool), []),
    "everything": (slice(None), list(range(N))),
    "what scikit-learn writes": (([2, 4], ...), [2, 4]),
}


@pytest.mark.parametrize("kind", INDEX)
def test_indexing(kind):
    index, expected = INDEX[kind]
    found = COUNCIL[index]
    assert records(found) == [EVERY[n] for n in expected]
    assert len(found) == len(expected)
    assert found.task_ids.tolist() == [EVERY[n]["task"] for n in expected]
    assert found.n_candidates.tolist() == [len(EVERY[n]["candidates"]) for n in expected]
    assert (found.classes, found.agent_names, found.shape) == (COUNCIL.classes, COUNCIL.agent_names, (len(expected),))
    assert not found.is_view
    if kind != "what scikit-learn writes":
        assert_same(COUNCIL.tasks(index), found)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (7, "position 7 is out of range for 7 tasks"),
        (-8, "position -8 is out of range for 7 tasks"),
        ([0, 99], "position 99 is out of range"),
        (np.ones(6, bool), r"the mask has shape \(6,\) but there are 7 tasks"),
        (True, r"the mask has shape \(\) but"),
        (np.ones((7, 1), bool), r"the mask has shape \(7, 1\)"),
        ([[0, 1], [2, 3]], r"in one dimension, not by an array of shape \(2, 2\)"),
        ("t3", r"not by 't3'; position\(name\) finds a name"),
        (["t1", "t2"], "not by"),
        (1.0, "not by 1.0"),
        (None, "not by None"),
    ],
)
def test_an_index_that_is_none(index, message):
    with pytest.raises(IndexError, match=message):
        COUNCIL[index]


@given(st.integers(0, 10**9), st.lists(st.integers(-5, 4), max_size=8))
def test_picking_tasks_is_the_same_before_and_after_reading(seed, index):
    tasks = messier_tasks(random.Random(seed), 5)
    found = Traces.from_records(tasks)[index]
    names = found.agent_names
    for place, n in enumerate(index):
        alone = Traces.from_records([tasks[n]])
        assert record(found, place) == record(alone, 0) == record(Traces.from_records(tasks), n % 5)
        one = found[place].agents([name for name in names if name in alone.agent_names]).moves_table
        assert one.kind.tolist() == alone.moves_table.kind.tolist()
        answers = [[t.classes[c] for c in m.resolved if c >= 0] for t, m in ((found, one), (alone, alone.moves_table))]
        assert answers[0] == answers[1]


def test_iteration_gives_one_task_at_a_time():
    assert [records(one)[0] for one in COUNCIL] == EVERY


def test_selections_of_selections():
    assert records(COUNCIL[[5, 2, 2, 0]][[3, 1]]) == [EVERY[0], EVERY[2]]
    assert len(COUNCIL[[]][[]]) == 0
    assert records(COUNCIL.round0()[[4]]) == records(COUNCIL[[4]].round0())


def test_evidence_is_counted_anew_for_every_selection():
    every = count_evidence(COUNCIL)
    part = count_evidence(COUNCIL[[4, 1]])
    assert count_evidence(COUNCIL) is every
    assert every.n_tasks == N
    assert part.n_tasks == 2
    assert part.endorsed.sum() == every.endorsed[np.isin(every.task, [4, 1])].sum()


def test_position():
    assert [COUNCIL.position(name) for name in COUNCIL.task_ids] == list(range(N))
    assert COUNCIL[[3, 3, 1]].position("t3") == 0
    for missing in ("t9", 3, ["t1"]):
        with pytest.raises(KeyError, match=r"there is no task .*; tasks are named like 't0', 't1', 't2'"):
            COUNCIL.position(missing)


def test_subset():
    metas = [{"half": "a", "size": 1}, {"half": "b", "size": 1}, {"half": "a"}, {}, {"half": None, "size": 10}]
    found = Traces.from_records([task(name=i, meta=meta) for i, meta in enumerate(metas)])
    assert found.subset(half="a").task_ids.tolist() == [0, 2]
    assert found.subset(size=1).task_ids.tolist() == found.subset(size="1").task_ids.tolist() == [0, 1]
    assert found.subset(half="a", size=1).task_ids.tolist() == [0]
    assert len(found.subset()) == 5
    with pytest.raises(TraceError, match=r"meta\.half = 'c' matches no task; values there are 'a', 'b'"):
        found.subset(half="c")
    with pytest.raises(TraceError, match=r"meta\.size = 10 matches no task; values there are '1'$"):
        found.subset(half="a", size=10)
    with pytest.raises(TraceError, match=r"meta\.topic = 'x' matches no task; no task has meta\.topic"):
        found.subset(topic="x")
    with pytest.raises(TraceError, match=r"no task has meta\.half"):
        Traces.from_votes([[0, 1]]).subset(half="a")


def test_nothing_can_be_changed():
    every = [(COUNCIL, name) for name in ARRAYS] + [(COUNCIL.moves_table, f.name) for f in fields(COUNCIL.moves_table)]
    for owner, name in every:
        column = getattr(owner, name)
        if column is not None:
            assert not column.flags.writeable, name
            with pytest.raises(ValueError, match="read-only"):
                column[:1] = 0
    for owner in (COUNCIL, COUNCIL.moves_table):
        for field in fields(owner):
            with pytest.raises(FrozenInstanceError):
                setattr(owner, field.name, None)
    with pytest.raises(FrozenInstanceError):
        COUNCIL.note = "mine"
    with pytest.raises(TypeError):
        COUNCIL.meta[0]["group"] = "other"


@pytest.mark.parametrize(
    "selection",
    [lambda t: t, lambda t: t[[2, 0]], lambda t: t.last_vote(), lambda t: t.moves("challenge"), lambda t: t[[]]],
)
@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy"])
def test_copies_are_the_same_and_as_unchangeable(selection, way):
    traces = selection(COUNCIL)
    count_evidence(traces)
    ways = {"pickle": lambda t: pickle.loads(pickle.dumps(t)), "copy": copy.copy, "deepcopy": copy.deepcopy}
    found = ways[way](traces)
    assert type(found) is Traces
    assert_same(found, traces)
    assert found.is_view == traces.is_view
    for name in ARRAYS:
        assert not getattr(found, name).flags.writeable
    assert not found.moves_table.answer.flags.writeable
    if len(found):
        with pytest.raises(TypeError):
            found.meta[0]["group"] = "other"
    assert records(found) == records(traces)


def test_traces_go_to_other_processes():
    halves = joblib.Parallel(n_jobs=2)(joblib.delayed(predict)(half) for half in (COUNCIL[:3], COUNCIL[3:]))
    np.testing.assert_array_equal(np.concatenate(halves), predict(COUNCIL))


def predict(traces):
    return OneCoin().predict_proba(traces)


@pytest.mark.parametrize("way", [pickle.loads, copy.copy, copy.deepcopy])
def test_an_error_keeps_its_parts(way):
    fault = TraceError("is bad", where="a.jsonl:3", field="type", value=[1], remedy="mend it")
    found = way(pickle.dumps(fault)) if way is pickle.loads else way(fault)
    assert str(found) == str(fault) == "a.jsonl:3: type = [1] is bad; mend it"
    assert vars(found) == vars(fault)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(5), "5"),
        (np.float32(0.5), "0.5"),
        (np.bool_(True), "True"),
        (np.str_("a"), "'a'"),
        ([np.int64(5), (np.float64(1.5), None)], "[5, (1.5, None)]"),
        ({np.int64(1): np.int64(2)}, "{1: 2}"),
        (np.array([[1, 2]]), "[[1, 2]]"),
        (pd.Index(["a", 1]), "['a', 1]"),
        (pd.Series([1.5]), "[1.5]"),
        (None, "None"),
        ("x" * 200, "'" + "x" * 76 + "..."),
    ],
)
def test_values_in_messages_are_plain(value, text):
    assert shown(value) == text
    assert f"field = {text} is bad" in str(TraceError("is bad", field="field", value=value))


def test_what_traces_say_of_themselves():
    votes = Traces.from_votes([[0, 1], [1, -1]], gold=[0, None])
    assert repr(votes) == "Traces(2 tasks, 2 agents, 2 classes, 3 moves, 1 labelled)"
    assert bda.Traces is Traces
    assert votes != Traces.from_votes([[0, 1], [1, -1]], gold=[0, None])
    assert len({votes, votes}) == 1


def test_names_do_not_depend_on_the_order_of_a_file():
    tasks = messier_tasks(random.Random(1), 12)
    forward, backward = Traces.from_records(tasks), Traces.from_records(tasks[::-1])
    assert (forward.classes, forward.agent_names) == (backward.classes, backward.agent_names)
    assert_same(backward[::-1], forward)
    assert [offered(forward, n) for n in range(12)] == [one["candidates"] for one in tasks]
