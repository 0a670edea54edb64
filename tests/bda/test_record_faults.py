"""What an error says about a value that a field of the JSON form does not take."""

import json
import math

import pytest

from bda import TraceError, Traces, TraceWarning
from bda.records import MOVE_FIELDS, TASK_FIELDS
from tests.bda.small_traces import move, task, traces

NAN, INF = math.nan, math.inf
NOT_NAMES = [None, "", 1.5, NAN, INF, [], ["A"], {}, {"A": 1}]

# Of every field, values that it does not take.
BAD_IN_TASK = {
    "task": NOT_NAMES,
    "candidates": [None, "AB", 5, {"A": 1}, [], ["A"]],
    "gold": ["D", "", "a", 5, True, 1.5, NAN, ["A"], {"A": 1}],
    "meta": ["group", 5, True, ["group"], [["group", "q1"]]],
    "moves": [None, "ada", 5, {}, {"agent": "ada"}],
}
BAD_IN_MOVE = {
    "agent": NOT_NAMES,
    "round": [None, -1, 0.0, 1.5, "0", True, NAN, INF, 2**31, [0]],
    "type": [None, "", "prpose", "Propose", 0, True, ["propose"], {}],
    "answer": ["D", "", "a", 5, True, 1.5, NAN, ["A"], {"A": 1}],
    "target": ["", 1.5, NAN, ["ada"], {}],
    "confidence": ["high", "0.5", True, NAN, INF, -INF, [0.5], 10**400],
    "status": ["", "OK", "bad", 0, False, ["ok"], {}],
    "frozen": ["true", "", 0, 1, 0.0, [], {}],
}
NOT_MOVES = [None, 5, "propose", ["ada", 0, "propose", "A"], [["agent", "ada"]]]


def spoilt_tasks():
    """List every field of a task, a move and a list of candidates with each bad value of it, and the task."""
    cases = [(field, bad, {**task(), field: bad}) for field, values in BAD_IN_TASK.items() for bad in values]
    cases += [("candidates", bad, task(candidates=["A", "B", bad])) for bad in [*NOT_NAMES, "A"]]
    for field, values in BAD_IN_MOVE.items():
        for bad in values:
            spoilt = {**move("bo 1 concede ada A"), field: bad}
            cases.append((f"moves[1].{field}", bad, task("ada 0 propose A", spoilt)))
    cases += [("moves[1]", bad, {**task(), "moves": [move("ada 0 propose A"), bad]}) for bad in NOT_MOVES]
    return [pytest.param(*case, id=f"{case[0]} {case[1]!r:.20}") for case in cases]


def test_every_field_is_spoilt():
    assert set(BAD_IN_TASK) == set(TASK_FIELDS)
    assert set(BAD_IN_MOVE) == set(MOVE_FIELDS)


@pytest.mark.parametrize(("field", "bad", "spoilt"), spoilt_tasks())
def test_a_bad_value_is_refused_at_its_place(tmp_path, field, bad, spoilt):
    path = tmp_path / "council.jsonl"
    path.write_text(f"{json.dumps(task(name='fine'))}\n\n{json.dumps(spoilt)}\n")
    readers = {
        f"{path}:3": lambda: Traces.read_jsonl(path),
        "records[2]": lambda: Traces.from_records([task(name="fine"), task(name="too"), spoilt]),
    }
    for place, read in readers.items():
        with pytest.raises(TraceError) as caught:
            read()
        fault = caught.value
        assert fault.where == (place if field == "task" else f"{place}, task 'q1'")
        assert fault.field == field
        assert repr(fault.value) == repr(bad)
        assert fault.problem
        assert fault.remedy
        assert str(fault).startswith(f"{fault.where}: {field} = ")
        assert str(fault).endswith(f" {fault.problem}; {fault.remedy}")
        assert len(str(fault)) < 400


@pytest.mark.parametrize("field", ["task", "candidates"])
def test_a_task_needs_its_name_and_candidates(field):
    lacking = {name: value for name, value in task().items() if name != field}
    with pytest.raises(TraceError, match=rf"records\[0\].*: {field} = None is missing"):
        Traces.from_records([lacking])


@pytest.mark.parametrize("field", ["agent", "type"])
def test_a_move_needs_its_agent_and_type(field):
    lacking = {name: value for name, value in move("ada 0 propose A").items() if name != field}
    with pytest.raises(TraceError, match=rf"moves\[0\]\.{field} = None is"):
        traces(lacking)


def test_two_tasks_of_one_name(tmp_path):
    path = tmp_path / "council.jsonl"
    path.write_text("\n".join(json.dumps(task(name=name)) for name in ("q1", "q2", "q1")))
    with pytest.raises(TraceError, match=r"council\.jsonl:3: task = 'q1' stands already at .*council\.jsonl:1; give"):
        Traces.read_jsonl(path)


@pytest.mark.parametrize("one_kind", ["task", "agent", "candidates"])
def test_true_and_1_are_not_told_apart(one_kind):
    def named(name, other):
        records = [
            task({"agent": name if one_kind == "agent" else "ada", "type": "propose", "answer": "A"}, name="q0")
            for name in (name, other)
        ]
        for record, own in zip(records, (name, other), strict=True):
            record["task"] = own if one_kind == "task" else f"q{own!r}"
            if one_kind == "candidates":
                record["candidates"] = ["A", own]
        return Traces.from_records(records)

    for pair in ((True, 1), (0, False)):
        with pytest.raises(TraceError, match=r"records\[1\]"):
            named(*pair)
    assert len(named(1, "1")) == 2
    assert len(named(True, "True")) == 2


@pytest.mark.parametrize(
    ("candidates", "answer"), [([0, 1], True), ([False, True], 1), ([1, 2], "1"), (["1", "2"], 1), ([1, 2], [1])]
)
@pytest.mark.parametrize("field", ["answer", "gold"])
def test_an_answer_is_found_by_value_and_type(candidates, answer, field):
    record = task(
        {"agent": "ada", "type": "propose", "answer": answer if field == "answer" else None}, candidates=candidates
    )
    record["gold"] = answer if field == "gold" else None
    with pytest.raises(TraceError, match=rf"{field} = .* is not a candidate \({candidates[0]!r}, {candidates[1]!r}\)"):
        Traces.from_records([record])


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("anser", "answer"),
        ("Answer", "answer"),
        ("agents", "agent"),
        ("rounds", "round"),
        ("tagret", "target"),
        ("confidense", "confidence"),
        ("stauts", "status"),
        ("typ", "type"),
    ],
)
def test_a_slip_in_a_field_of_a_move(slip, meant):
    said = move("ada 0 propose A", target="bo", status="ok", confidence=0.5)
    del said[meant]
    with pytest.raises(
        TraceError, match=rf"moves\[0\]: field = '{slip}' is not read \(is '{meant}' meant\?\); correct it, or"
    ):
        traces({**said, slip: "x"})


@pytest.mark.parametrize(
    ("slip", "meant"), [("golds", "gold"), ("metas", "meta"), ("move", "moves"), ("candidate", "candidates")]
)
def test_a_slip_in_a_field_of_a_task(slip, meant):
    record = {name: value for name, value in task().items() if name != meant}
    with pytest.raises(TraceError, match=f"field = '{slip}' is not read \\(is '{meant}' meant"):
        Traces.from_records([{**record, slip: "x"}])


def test_a_field_beside_the_one_it_resembles_is_no_slip():
    with pytest.warns(TraceWarning, match="'agent_id'"):
        traces(move("ada 0 propose A", agent_id=7))
