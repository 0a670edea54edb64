"""The protocol report beside counts in plain Python."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import Traces
from bda.resolution import IRREGULARITIES, TYPES
from tests.bda import oracle
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import move, task, traces

STATES = ("failed", "truncated", "unreadable")


def problems_of(one):
    """List (number of the move, move, its problems) of a task, by the words of the specification."""
    resolved, seen, found = oracle.resolve(one), Counter(), []
    everyone = {m["agent"] for m in one["moves"]}
    for number, m in enumerate(resolved):
        endorsed_before = {e["agent"] for e in resolved if e["kind"] == "endorse" and e["round"] < m["round"]}
        answer, target = one["moves"][number].get("answer"), one["moves"][number].get("target")
        names = {m["status"]} & set(STATES)
        seen[m["agent"], m["round"]] += 1
        if seen[m["agent"], m["round"]] > 1:
            names.add("several_moves_in_a_round")
        if m["type"] == "propose" and target is not None:
            names.add("target_on_proposal")
        if m["type"] == "abstain" and answer is not None:
            names.add("answer_on_abstention")
        if m["type"] in ("concede", "challenge") and m["status"] == "ok":
            if target == m["agent"]:
                names.add("self_target")
            elif target is None:
                names.add("no_target")
            else:
                if target not in everyone:
                    names.add("target_not_in_trace")
                if target not in endorsed_before and answer is None:
                    names.add("target_without_answer")
                standing = oracle.standing_after(
                    {**one, "moves": [e for e in one["moves"] if e["round"] < m["round"]]}
                ).get(target)
                if None not in (answer, standing) and answer != standing:
                    concedes = m["type"] == "concede"
                    names.add("inconsistent_concession" if concedes else "challenge_of_another_answer")
        found.append((number, m, names))
    return found


@given(st.integers(0, 10**9))
def test_every_problem_is_located_as_the_specification_says(seed):
    tasks = messier_tasks(random.Random(seed), 6)
    located = Traces.from_records(tasks).protocol_report().locations()
    rows = [tuple(row) for row in located.itertuples(index=False)]
    expected = [
        (one["task"], m["agent"], m["round"], number, m["type"], name)
        for one in tasks
        for number, m, names in problems_of(one)
        for name in names
    ]
    assert list(located.columns) == ["task", "agent", "round", "move", "type", "problem"]
    assert sorted(rows) == sorted(expected)
    places = [(tasks.index(next(t for t in tasks if t["task"] == row[0])), row[3]) for row in rows]
    assert places == sorted(places)


@given(st.integers(0, 10**9))
def test_counts_per_agent_and_round(seed):
    tasks = messier_tasks(random.Random(seed), 6)
    counts = {}
    for one in tasks:
        for _, m, names in problems_of(one):
            row = counts.setdefault((m["agent"], m["round"]), Counter())
            row.update([*names, "moves", m["type"]], informative=m["kind"] != "none")
    frame = Traces.from_records(tasks).protocol_report().to_frame()
    assert list(zip(frame["agent"], frame["round"], strict=True)) == sorted(counts)
    names = ["moves", *TYPES, "informative", *STATES, *IRREGULARITIES]
    assert list(frame.columns) == ["agent", "round", *names]
    for row in frame.to_dict("records"):
        expected = counts[row["agent"], row["round"]]
        assert {name: row[name] for name in names} == {name: expected[name] for name in names}


@given(st.integers(0, 10**9))
def test_states_per_agent(seed):
    tasks = messier_tasks(random.Random(seed), 6)
    found = Traces.from_records(tasks)
    rows = found.protocol_report().states().set_index("agent")
    assert tuple(rows.index) == found.agent_names
    assert list(rows.columns) == ["tasks", "not_asked", *STATES]
    for agent, row in rows.iterrows():
        asked = sum(any(m["agent"] == agent for m in one["moves"]) for one in tasks)
        statuses = Counter(m["status"] for one in tasks for m in oracle.resolve(one) if m["agent"] == agent)
        assert row["tasks"] == asked
        assert row["not_asked"] == len(tasks) - asked
        assert [row[state] for state in STATES] == [statuses[state] for state in STATES]


def test_an_agent_that_is_only_addressed_was_never_asked():
    states = traces("ada 0 propose A", "ada 1 challenge eve B").protocol_report().states()
    assert states.values.tolist() == [["ada", 1, 0, 0, 0, 0], ["eve", 0, 1, 0, 0, 0]]


def test_the_four_states_are_told_apart():
    found = traces(
        move("ada 0 propose -", status="failed"),
        move("bo 0 propose -", status="truncated"),
        move("cy 0 propose -", status="unreadable"),
        "dee 0 propose -",
        "eve 1 concede fay",
        "gil 0 abstain",
    )
    states = found.protocol_report().states().set_index("agent")
    assert {agent: tuple(row) for agent, row in states.iterrows()} == {
        "ada": (1, 0, 1, 0, 0),
        "bo": (1, 0, 0, 1, 0),
        "cy": (1, 0, 0, 0, 1),
        "dee": (1, 0, 0, 0, 1),
        "eve": (1, 0, 0, 0, 0),
        "fay": (0, 1, 0, 0, 0),
        "gil": (1, 0, 0, 0, 0),
    }


def test_names_of_several_types_are_counted_in_their_order():
    records = [task({"agent": name, "type": "propose", "answer": "A"}) for name in ("b", 2, 10, "a")]
    records = [{**record, "task": i} for i, record in enumerate(records)]
    report = Traces.from_records(records).protocol_report()
    assert report.to_frame()["agent"].tolist() == [2, 10, "a", "b"]
    assert report.states()["agent"].tolist() == [2, 10, "a", "b"]


@pytest.mark.parametrize("found", [traces(), Traces.from_records([])], ids=["no moves", "no tasks"])
def test_nothing_to_report(found):
    report = found.protocol_report()
    assert [len(report.to_frame()), len(report.states()), len(report.locations())] == [0, 0, 0]


def test_a_view_reports_what_it_keeps():
    found = traces("ada 0 propose A", "bo 0 propose -", "bo 1 concede ada C", "cy 1 challenge cy")
    later = found.moves(("concede", "challenge")).protocol_report()
    assert later.locations()["problem"].tolist() == ["inconsistent_concession", "self_target"]
    assert later.states()["not_asked"].tolist() == [1, 0, 0]
