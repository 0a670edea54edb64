"""Traces as CSV, long and wide: everything comes back as text, and what a table cannot hold is refused."""

import os
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bda import TraceError, Traces, TraceWarning
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import MEANT, assert_same, move, task, traces


@settings(max_examples=10)
@given(st.integers(0, 10**9))
def test_a_long_table_comes_back(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("csv")
    found = Traces.from_records(messier_tasks(random.Random(seed), 8))
    found.write_csv(folder / "traces.csv.gz")
    read = Traces.read_csv(folder / "traces.csv.gz")
    assert_same(read, found.agents(read.agent_names), MEANT)
    assert set(found.agent_names) - set(read.agent_names) <= set(_silent(found))
    for view in (found.last_vote(), found.moves(["concede", "challenge"])):
        view.write_csv(str(folder / "traces.csv"))
        read = Traces.read_csv(str(folder / "traces.csv"))
        assert_same(read, view.agents(read.agent_names), MEANT)
    assert sorted(os.listdir(folder)) == ["traces.csv", "traces.csv.gz"]


def _silent(found):
    table = found.moves_table
    spoken = {*table.agent.tolist(), *table.target.tolist()}
    return [name for i, name in enumerate(found.agent_names) if i not in spoken]


SMALL = {
    "one class is answered": Traces.from_records([task("ada 0 propose A", gold="A")]),
    "numbers": Traces.from_records(
        [task(name="7", candidates="01", gold="0"), task("0 0 concede 0 0", candidates="01")]
    ),
    "any script": Traces.from_records([task("é 0 propose 答", candidates="答え", name='a,"b"\nc')]),
    "meta": Traces.from_records([task(meta={"group": "g", "tags": [1, None]}), task("ada 0 propose A", name="q2")]),
    "confidence": traces(move("ada 0 propose A", confidence=0.1), "bo 0 propose B"),
    "every state": traces(
        "ada 0 propose -", move("bo 0 propose A", status="failed"), "cy 1 abstain", "di 1 challenge ada B",
        move("ed 2 concede bo C", frozen=True),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_what_is_special_comes_back(tmp_path, name):
    SMALL[name].write_csv(tmp_path / "small.csv")
    assert_same(Traces.read_csv(tmp_path / "small.csv"), SMALL[name])


def test_columns_that_say_nothing_are_left_out(tmp_path):
    Traces.from_votes([[0, 0], [1, 0]], tasks=["a", "b"]).write_csv(tmp_path / "votes.csv")
    assert (tmp_path / "votes.csv").read_text().splitlines()[:2] == ["task,agent,answer,candidates", 'a,0,0,"[0,1]"']
    traces("ada 0 propose A", "ada 1 propose B", gold="B").write_csv(tmp_path / "more.csv")
    assert (tmp_path / "more.csv").read_text() == (
        'task,agent,round,answer,gold,candidates\nq1,ada,0,A,B,"[""A"",""B"",""C""]"\nq1,ada,1,B,B,\n'
    )


def test_the_same_traces_are_the_same_bytes(tmp_path):
    found = Traces.from_records(messier_tasks(random.Random(3), 4))
    for wide in (False, True):
        names = ["a.csv.gz", "b.csv.gz"]
        for name in names:
            found.write_csv(tmp_path / name, wide=wide)
        assert len({(tmp_path / name).read_bytes() for name in names}) == 1


def test_a_wide_table_holds_last_votes(tmp_path):
    found = Traces.from_records(
        [
            task("ada 0 propose A", "bo 0 propose B", "ada 1 concede bo", name="q1", gold="B"),
            task("bo 0 propose -", "ada 0 propose C", name="q2"),
        ]
    )
    found.write_csv(tmp_path / "wide.csv", wide=True)
    assert (tmp_path / "wide.csv").read_text() == "task,ada,bo,gold\nq1,B,B,B\nq2,C,,\n"
    read = Traces.read_csv(tmp_path / "wide.csv")
    votes = found.last_vote()
    assert read.to_frame()[["task", "agent", "answer"]].equals(votes.to_frame()[["task", "agent", "answer"]])
    assert [read.classes[c] if c >= 0 else None for c in read.gold] == ["B", None]
    assert read.classes == ("B", "C")


@settings(max_examples=10)
@given(st.integers(0, 10**9))
def test_votes_of_a_wide_table_come_back(tmp_path_factory, seed):
    rng = np.random.default_rng(seed)
    votes = rng.integers(-1, 3, (9, 4))
    votes[0, :3] = [0, 1, 2]
    found = Traces.from_votes(votes, classes=["a", "b", "c"], agents=["w1", "w2", "w3", "w4"], tasks=list("tuvwxyz01"))
    path = tmp_path_factory.mktemp("csv") / "wide.csv"
    found.write_csv(path, wide=True)
    assert_same(Traces.read_csv(path), found)


def test_a_class_that_only_gold_names_is_said(tmp_path):
    (tmp_path / "wide.csv").write_text("task,ada,bo,gold\nq1,x,y,z\n")
    with pytest.warns(TraceWarning, match=r"wide\.csv: only gold names the classes 'z'; no answer does"):
        assert Traces.read_csv(tmp_path / "wide.csv").classes == ("x", "y", "z")
    (tmp_path / "gold.csv").write_text("task,label\nq1,w\n")
    (tmp_path / "plain.csv").write_text("task,ada,bo\nq1,x,y\n")
    with pytest.warns(TraceWarning, match="only gold names the classes 'w'"):
        assert Traces.read_csv(tmp_path / "plain.csv", gold=tmp_path / "gold.csv").gold.tolist() == [0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task\nq1\n", r"wide\.csv: columns = \['task'\] lack one that is needed; add 'agent' and 'answer', or one"),
        ("task,ada,bo\nq1,x,y\n,y,x\n", r"wide\.csv:3: task = None is missing"),
        (
            "task,ada,bo\nq1,x,y\nq1,y,x\n",
            r"wide\.csv:3: task = 'q1' stands already in line 2; give every task one row",
        ),
        ("task,agnt,anser\nq1,ada,x\nq1,bo,y\n", r"wide\.csv:3: task = 'q1' stands already in line 2; .* a long table"),
        ("task,ada,ada\nq1,x,y\n", r"wide\.csv:1: column = 'ada' stands twice"),
        ("task,ada,bo\nq1,x,\n", r"wide\.csv: answers = \['x'\] are fewer than two classes"),
        ("task,ada,bo\nq1,x\n", r"wide\.csv:2: row = 'q1,x' has 2 fields, the header 3"),
    ],
)
def test_a_wide_table_that_cannot_be_read(tmp_path, text, message):
    (tmp_path / "wide.csv").write_text(text)
    with pytest.raises(TraceError, match=message):
        Traces.read_csv(tmp_path / "wide.csv")


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("found", "message"),
    [
        (Traces.from_votes([[0, 1]])[[0, 0]], "task = 0 stands 2 times; write the traces that the sample"),
        (Traces.from_votes([[0, 1]], agents=["1", 1]), "agents = .* cannot be told from .* in a table of text"),
        (Traces.from_votes([[0, 1], [1, 1]], tasks=["1", 1]), "tasks = .* cannot be told from"),
        (Traces.from_votes([["half\ud800", "x"]]), r"votes\.csv: name = .* is not Unicode text"),
    ],
)
def test_what_a_table_cannot_hold_is_not_written(tmp_path, found, message, wide):
    with pytest.raises(TraceError, match=message):
        found.write_csv(tmp_path / "votes.csv", wide=wide)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["task", "gold", "round", " ada", "ada\n"])
def test_an_agent_that_cannot_head_a_column(tmp_path, name):
    found = Traces.from_votes([["x", "y"]], agents=[name, "bo"])
    with pytest.raises(TraceError, match=r"cannot head a column of votes; write a long table"):
        found.write_csv(tmp_path / "votes.csv", wide=True)
    found.write_csv(tmp_path / "votes.csv")
    assert name in Traces.read_csv(tmp_path / "votes.csv").agent_names
