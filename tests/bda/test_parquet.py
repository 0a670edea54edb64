"""Traces as a Parquet table: everything comes back, and other people's tables are read too."""

import json
import os
import random
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bda import TraceError, Traces
from bda.parquet import KEY
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import MEANT, assert_same, move, task, traces


@settings(max_examples=10)
@given(st.integers(0, 10**9))
def test_what_is_written_comes_back(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("parquet")
    found = Traces.from_records(messier_tasks(random.Random(seed), 8))
    found.write_parquet(folder / "traces.parquet")
    assert_same(Traces.read_parquet(folder / "traces.parquet"), found)
    for view in (found.last_vote(), found.moves(["concede", "challenge"]), found.agents(found.agent_names[:2])):
        view.write_parquet(str(folder / "traces.parquet"))
        read = Traces.read_parquet(str(folder / "traces.parquet"))
        assert_same(read.agents(view.agent_names), view, MEANT)
    assert os.listdir(folder) == ["traces.parquet"]


SMALL = {
    "votes": Traces.from_votes([["x", "y", None], [None, None, None]], classes=["z", "y", "x"], gold=["z", None]),
    "no agents": Traces.from_votes(np.zeros((2, 0)), classes=["b", "a"]),
    "no tasks": Traces.from_votes(np.zeros((0, 2)), classes=3),
    "nothing": Traces.from_records([]),
    "an agent that is silent": Traces.from_votes([[0, np.nan], [1, np.nan]]),
    "an agent that is only addressed": traces("ada 0 challenge eve A"),
    "truth values": Traces.from_votes([[True, False], [None, False]], tasks=[True, False], agents=[False, True]),
    "large numbers": Traces.from_votes(
        [[2**60 + 1, 2**60 + 3], [None, 2**60 + 1], [None, None]], tasks=[2**62 + 1, 5, 7], agents=[2**61 + 1, 3]
    ),
    "any script": Traces.from_votes([["答え", "a\nb"], ['"', "答え"]], tasks=["ä", "🙂"], agents=["é", "è"]),
    "numbers that are text": Traces.from_votes([["1", "2"]], tasks=["1"], agents=["True", "nan"]),
    "meta": Traces.from_records([task(meta={"group": "g", "tags": [1, None]}), task(name="q2")]),
    "confidence": traces(move("ada 0 propose A", confidence=0.1), "bo 0 propose B"),
    "half a surrogate pair in meta": Traces.from_records([task(meta={"reply": "cut \ud83d"})]),
    "gold alone": Traces.from_records([task(gold="B")]),
}


@pytest.mark.parametrize("name", SMALL)
def test_what_rows_alone_could_not_say(tmp_path, name):
    SMALL[name].write_parquet(tmp_path / "small.parquet")
    assert_same(Traces.read_parquet(tmp_path / "small.parquet"), SMALL[name])


def test_a_table_of_somebody_else(tmp_path):
    frame = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": [0, 1, None]})
    frame.to_parquet(tmp_path / "votes.parquet")
    assert_same(Traces.read_parquet(tmp_path / "votes.parquet"), Traces.from_frame(frame))
    lists = frame.assign(candidates=[[0, 1, 5], [0, 1, 5], [1, 0]], meta=[{"group": "g"}] * 3, label=[0, 1, 1])
    lists.to_parquet(tmp_path / "lists.parquet")
    found = Traces.read_parquet(tmp_path / "lists.parquet")
    assert (found.n_candidates.tolist(), found.classes, dict(found.meta[1])) == ([3, 2], (0, 1, 5), {"group": "g"})


def test_a_fault_names_its_row(tmp_path):
    pd.DataFrame({"task": [1, 1], "agent": ["a", "b"], "answer": ["x", "y"], "type": ["propose", "vote"]}).to_parquet(
        tmp_path / "votes.parquet"
    )
    with pytest.raises(TraceError, match=r"row 1: type = 'vote' is not one of propose, concede, challenge, abstain"):
        Traces.read_parquet(tmp_path / "votes.parquet")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"x" * 99, b"PAR1" + b"x" * 99 + b"PAR1"])
def test_what_is_no_parquet(tmp_path, content):
    (tmp_path / "bad.parquet").write_bytes(content)
    with pytest.raises(TraceError, match=r"bad\.parquet: is not a whole Parquet file: .*; copy the file again"):
        Traces.read_parquet(tmp_path / "bad.parquet")


def test_a_cut_file(tmp_path):
    path = tmp_path / "cut.parquet"
    Traces.from_votes(np.eye(200, dtype=int)).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(TraceError, match=r"cut\.parquet: is not a whole Parquet file"):
        Traces.read_parquet(path)
    with pytest.raises(FileNotFoundError, match=r"none\.parquet"):
        Traces.read_parquet(tmp_path / "none.parquet")


def test_a_schema_of_the_future(tmp_path):
    path = tmp_path / "new.parquet"
    SMALL["votes"].write_parquet(path)
    table = pq.read_table(path)
    assert json.loads(table.schema.metadata[KEY])["schema"] == 1
    pq.write_table(table.replace_schema_metadata({KEY: b'{"schema": 2}'}), path)
    with pytest.raises(
        TraceError, match=r"new\.parquet: schema = 2 is not a known schema; this version reads schema 1; upgrade"
    ):
        Traces.read_parquet(path)


@pytest.mark.parametrize("text", [b"{", b"[1]", b"\xff", b"7"])
def test_metadata_that_was_spoilt(tmp_path, text):
    path = tmp_path / "spoilt.parquet"
    SMALL["votes"].write_parquet(path)
    pq.write_table(pq.read_table(path).replace_schema_metadata({KEY: text}), path)
    with pytest.raises(TraceError, match=r"spoilt\.parquet: metadata = b.* is not what write_parquet writes"):
        Traces.read_parquet(path)


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (
            Traces.from_votes([[0, 1]], agents=["ada", 7]),
            "cannot be written as Parquet: .*; give tasks, agents and classes",
        ),
        (Traces.from_votes([["x", 1]]), "cannot be written as Parquet"),
        (Traces.from_votes([[0, 2**70]]), "cannot be written as Parquet"),
        (Traces.from_votes([["x", "cut \ud83d"]]), "cannot be written as Parquet"),
        (
            Traces.from_votes([[0, 1], [1, 1]])[[1, 1]],
            "task = 1 stands 2 times; write the traces that the sample was drawn from",
        ),
        (replace(SMALL["meta"], meta=({"group": {1}}, {})), r"task 'q1': meta = .* cannot be written as JSON"),
    ],
)
def test_what_cannot_be_written_leaves_the_old_file_alone(tmp_path, found, message):
    path = tmp_path / "old.parquet"
    path.write_bytes(b"old")
    with pytest.raises(TraceError, match=message):
        found.write_parquet(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["old.parquet"]


def test_pyarrow_is_named_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for use in (SMALL["votes"].write_parquet, Traces.read_parquet):
        with pytest.raises(ImportError, match=r"Parquet needs pyarrow: pip install 'steelyard\[parquet\]'"):
            use(tmp_path / "votes.parquet")
