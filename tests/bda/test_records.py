"""What the JSON form takes: names of every type, fields left out, fields that are not read, repeated votes."""

import json

import numpy as np
import pytest

from bda import TraceError, Traces, TraceWarning
from tests.bda.small_traces import assert_same, meanings, move, task, traces


def test_what_may_be_left_out():
    least = Traces.from_records([{"task": "q1", "candidates": ["A", "B"]}])
    assert (len(least), len(least.moves_table), least.gold.tolist(), least.meta) == (1, 0, [-1], None)
    bare = traces({"agent": "ada", "type": "propose", "answer": "A"})
    nulls = dict.fromkeys(("target", "confidence", "status", "frozen"))
    assert_same(
        traces({"agent": "ada", "type": "propose", "answer": "A", "round": 0, **nulls}, gold=None, meta=None), bare
    )
    assert bare.moves_table.confidence is None


def test_an_answer_with_a_status_may_be_anything():
    for answer in ("D", "", 5, 1.5, ["A"], {"A": 1}, "A"):
        found = traces(move("ada 0 propose -", answer=answer, status="unreadable"))
        assert meanings(found) == [("none", None)]
        assert found.classes == ("A", "B", "C")


@pytest.mark.parametrize("candidates", [["yes", "no"], [10, 2], [True, False], ["b", 3, 1, "a"]])
def test_names_keep_their_type(tmp_path, candidates):
    records = [
        task({"agent": c, "type": "propose", "answer": c}, name=c, candidates=candidates, gold=c) for c in candidates
    ]
    found = Traces.from_records(records)
    assert found.classes == found.agent_names == tuple(sorted(candidates, key=lambda c: (type(c).__name__, c)))
    assert found.task_ids.tolist() == candidates
    assert [found.classes[g] for g in found.gold] == candidates
    found.write_jsonl(tmp_path / "names.jsonl")
    assert_same(Traces.read_jsonl(tmp_path / "names.jsonl"), found)


@pytest.mark.parametrize("integer", [np.int8, np.uint8, np.int64, np.uint64])
@pytest.mark.parametrize("number", [np.float16, np.float32, np.float64])
def test_numpy_values_become_plain(integer, number):
    said = {"agent": np.str_("ada"), "round": integer(1), "type": "propose", "answer": integer(3)}
    said |= {"confidence": number(0.5), "frozen": np.bool_(False)}
    found = traces(said, name=integer(7), candidates=np.array([3, 4], integer))
    assert (found.task_ids[0], found.agent_names, found.classes) == (7, ("ada",), (3, 4))
    assert {type(found.task_ids[0]), type(found.classes[0]), type(found.agent_names[0])} == {int, str}
    assert found.moves_table.confidence.tolist() == [0.5]
    assert meanings(found) == [("endorse", 3)]


def test_a_whole_float_is_an_integer():
    said = {"agent": 1.0, "type": "propose", "answer": 3.0}
    found = traces(said, name=7.0, candidates=[3, 4.0], gold=4.0)
    assert (found.task_ids[0], found.agent_names, found.classes, found.gold.tolist()) == (7, (1,), (3, 4), [1])


def test_a_field_that_is_not_read_is_named_once_with_its_count(tmp_path):
    records = [
        task(move("ada 0 propose A", note="x"), move("bo 0 propose A", note="y"), name=n, source="web") for n in "qr"
    ]
    path = tmp_path / "council.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    with pytest.warns(TraceWarning) as caught:
        found = Traces.read_jsonl(path)
    assert [str(w.message) for w in caught] == [f"{path}: fields not read: 'note' (4 times), 'source' (2 times)"]
    assert caught[0].filename == __file__
    assert_same(found, Traces.from_records([task("ada 0 propose A", "bo 0 propose A", name=n) for n in "qr"]))


def test_votes_of_one_agent_in_one_round():
    twice = ["ada 0 propose A", "ada 0 propose B", "ada 1 propose A", "bo 0 propose C", "ada 0 propose A"]
    record = task(*twice)
    assert len(Traces.from_records([record]).moves_table) == 5
    last = Traces.from_records([record], duplicates="last")
    assert meanings(last) == [("endorse", "A"), ("endorse", "C"), ("endorse", "A")]
    assert last.moves_table.round.tolist() == [1, 0, 0]
    with pytest.raises(
        TraceError, match=r"task 'q1': agent = 'ada' votes more than once in round 0; pass duplicates='keep'"
    ):
        Traces.from_records([record], duplicates="error")
    with pytest.raises(TraceError, match="duplicates = 'first' is not a policy; use keep, last, error"):
        Traces.from_records([record], duplicates="first")


def test_a_move_without_an_answer_is_no_duplicate_vote():
    for retry in (
        ["ada 0 propose A", "ada 0 propose -"],
        [move("ada 0 propose -", status="failed"), "ada 0 propose A"],
    ):
        record = task(*retry, "ada 0 abstain", "ada 0 challenge bo B")
        for policy in ("last", "error"):
            assert_same(Traces.from_records([record], duplicates=policy), Traces.from_records([record]))


def test_records_are_left_as_they_are():
    record = task("ada 0 propose A", gold="A", meta={"group": "g"})
    before = json.dumps(record)
    found = Traces.from_records([record])
    assert json.dumps(record) == before
    record["meta"]["group"] = "other"
    assert found.meta[0]["group"] == "g"
    assert len(Traces.from_records(iter([record]))) == 1
    with pytest.raises(TraceError, match=r"records\[0\]: task = 'task' is not an object"):
        Traces.from_records(record)
