"""What every move endorses or rejects: worked cases, and messy traces beside the oracle."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import Traces
from bda.resolution import IRREGULARITIES
from tests.bda import oracle
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import meanings, move, problems, task, traces

NONE = ("none", None)
A, B, C = (("endorse", answer) for answer in "ABC")
NOT_A, NOT_B, NOT_C = (("reject", answer) for answer in "ABC")

CASES = {
    "a proposal endorses its answer": (["ada 0 propose A"], [A], []),
    "a concession endorses the standing answer": (["ada 0 propose A", "bo 1 concede ada"], [A, A], []),
    "a challenge rejects the standing answer": (["ada 0 propose A", "bo 1 challenge ada"], [A, NOT_A], []),
    "an explicit challenge needs no standing answer": (
        ["ada 0 abstain", "bo 1 challenge ada C"],
        [NONE, NOT_C],
        [],
    ),
    "an explicit challenge goes before the standing answer": (
        ["ada 0 propose A", "bo 1 challenge ada C"],
        [A, NOT_C],
        [(1, "challenge_of_another_answer")],
    ),
    "an explicit challenge of the standing answer is regular": (
        ["ada 0 propose A", "bo 1 challenge ada A"],
        [A, NOT_A],
        [],
    ),
    "the standing answer goes before an explicit concession": (
        ["ada 0 propose A", "bo 1 concede ada C"],
        [A, A],
        [(1, "inconsistent_concession")],
    ),
    "a concession that states the standing answer is regular": (
        ["ada 0 propose A", "bo 1 concede ada A"],
        [A, A],
        [],
    ),
    "an explicit concession without a standing answer": (
        ["ada 0 abstain", "bo 1 concede ada C"],
        [NONE, C],
        [],
    ),
    "a frozen concession holds its answer": (
        ["ada 0 propose A", move("bo 1 concede ada C", frozen=True)],
        [A, C],
        [(1, "inconsistent_concession")],
    ),
    "a frozen concession without an answer follows": (
        ["ada 0 propose A", move("bo 1 concede ada", frozen=True)],
        [A, A],
        [],
    ),
    "moves of one round do not see each other": (
        ["ada 0 propose A", "bo 0 concede ada", "cy 0 challenge ada"],
        [A, NONE, NONE],
        [(1, "target_without_answer"), (2, "target_without_answer")],
    ),
    "rounds count, not the order of the file": (
        ["bo 1 challenge ada", "ada 1 propose B", "ada 0 propose A", "bo 2 challenge ada"],
        [NOT_A, B, A, NOT_B],
        [],
    ),
    "agents that concede to each other at once swap answers": (
        ["ada 0 propose A", "bo 0 propose B", "ada 1 concede bo", "bo 1 concede ada", "cy 2 challenge ada"],
        [A, B, B, A, NOT_B],
        [],
    ),
    "a concession sets a standing answer": (
        ["ada 0 propose A", "bo 1 concede ada", "cy 2 concede bo"],
        [A, A, A],
        [],
    ),
    "a challenge sets none": (
        ["ada 0 propose A", "bo 1 challenge ada", "cy 2 concede bo"],
        [A, NOT_A, NONE],
        [(2, "target_without_answer")],
    ),
    "an agent's own moves of a round keep file order": (
        ["ada 0 propose A", "ada 0 propose B", "bo 1 concede ada"],
        [A, B, B],
        [(1, "several_moves_in_a_round")],
    ),
    "an agent does not see its own earlier move of the round": (
        ["ada 0 propose A", "bo 1 propose B", "bo 1 concede ada", "ada 2 challenge bo"],
        [A, B, A, NOT_A],
        [(2, "several_moves_in_a_round")],
    ),
    "an agent cannot target itself": (
        ["ada 0 propose A", "ada 1 challenge ada", "ada 2 concede ada B", "bo 3 concede ada"],
        [A, NONE, NONE, A],
        [(1, "self_target"), (2, "self_target")],
    ),
    "a target on a proposal is ignored": (
        ["ada 0 propose A", move("bo 1 propose B", target="ada"), move("cy 1 propose C", target="cy")],
        [A, B, C],
        [(1, "target_on_proposal"), (2, "target_on_proposal")],
    ),
    "no target at all": (
        ["ada 0 propose A", "bo 1 concede - C", "cy 1 challenge - A", "dee 1 concede"],
        [A, C, NOT_A, NONE],
        [(1, "no_target"), (2, "no_target"), (3, "no_target")],
    ),
    "a target that never moves on the task": (
        ["bo 1 concede eve", "cy 1 challenge eve A"],
        [NONE, NOT_A],
        [(0, "target_without_answer"), (0, "target_not_in_trace"), (1, "target_not_in_trace")],
    ),
    "an abstention says nothing, whatever it states": (
        ["ada 0 abstain", "bo 0 abstain A", "cy 1 concede bo"],
        [NONE, NONE, NONE],
        [(1, "answer_on_abstention"), (2, "target_without_answer")],
    ),
    "a null proposal is unreadable and erases nothing": (
        ["ada 0 propose A", "ada 1 propose -", "bo 2 concede ada"],
        [A, NONE, A],
        [(1, "unreadable")],
    ),
    "a status other than ok carries no information": (
        [
            move("ada 0 propose A", status="failed"),
            move("bo 0 propose A", status="truncated"),
            move("cy 0 propose A", status="unreadable"),
            move("dee 0 propose A", status="ok"),
            move("ada 1 concede dee", status="failed"),
            move("bo 1 challenge dee B", status="truncated"),
            "cy 2 concede ada",
        ],
        [NONE, NONE, NONE, A, NONE, NONE, NONE],
        [
            (0, "failed"),
            (1, "truncated"),
            (2, "unreadable"),
            (4, "failed"),
            (5, "truncated"),
            (6, "target_without_answer"),
        ],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_worked_case(name):
    moves, expected, irregular = CASES[name]
    found = traces(*moves)
    assert meanings(found) == expected
    assert problems(found) == irregular


@pytest.mark.parametrize("name", CASES)
def test_a_worked_case_against_the_oracle(name):
    moves, expected, _ = CASES[name]
    full = [{"target": None} | (move(m) if isinstance(m, str) else m) for m in moves]
    assert [(m["kind"], m["answer"]) for m in oracle.resolve(task(*full))] == expected


@given(st.integers(0, 10**9))
def test_messy_traces_against_the_oracle(seed):
    tasks = messier_tasks(random.Random(seed), 8)
    found = Traces.from_records(tasks)
    resolved = [m for one in tasks for m in oracle.resolve(one)]
    assert meanings(found) == [(m["kind"], m["answer"]) for m in resolved]
    statuses = [("ok", "failed", "truncated", "unreadable")[s] for s in found.moves_table.status]
    assert statuses == [m["status"] for m in resolved]
    inconsistent = found.moves_table.irregular & IRREGULARITIES["inconsistent_concession"] > 0
    assert inconsistent.tolist() == [m["inconsistent"] for m in resolved]


@given(st.integers(0, 10**9))
def test_standing_answers_against_the_oracle(seed):
    tasks = messier_tasks(random.Random(seed), 8)
    last = Traces.from_records(tasks).last_vote()
    expected = {(one["task"], a): answer for one in tasks for a, answer in oracle.standing_after(one).items()}
    frame = last.to_frame()
    found = dict(zip(zip(frame["task"], frame["agent"], strict=True), frame["answer"], strict=True))
    assert found == expected
    assert len(frame) == len(expected)


@given(st.integers(0, 10**9))
def test_the_order_of_tasks_and_of_different_agents_does_not_matter(seed):
    rng = random.Random(seed)
    tasks = messier_tasks(rng, 6)
    moved = [{**one, "moves": interleaved(rng, one["moves"])} for one in rng.sample(tasks, len(tasks))]
    assert sorted_meanings(Traces.from_records(moved)) == sorted_meanings(Traces.from_records(tasks))


def interleaved(rng, moves):
    """Shuffle moves, but keep the order of an agent's own moves of one round."""
    order = list(range(len(moves)))
    rng.shuffle(order)
    slots = {}
    for position in order:
        slots.setdefault((moves[position]["agent"], moves[position]["round"]), []).append(position)
    own = {key: iter(sorted(positions)) for key, positions in slots.items()}
    return [moves[next(own[moves[position]["agent"], moves[position]["round"]])] for position in order]


def sorted_meanings(found):
    frame = found.to_frame()
    columns = ["task", "agent", "round", "type", "answer", "target", "status", "endorses", "rejects", "gold"]
    rows = zip(*(frame[column].map(str) for column in columns), found.moves_table.irregular, strict=True)
    return sorted(rows), found.agent_names, found.classes
