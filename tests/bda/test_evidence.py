"""Evidence counts beside the oracle, for every view and reading; collapsed patterns beside a dictionary."""

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bda import PerAgent, TraceError, Traces
from bda.evidence import apply_view, collapse, count_evidence, right_wrong
from bda.labels import candidate_positions
from tests.bda import oracle
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import meanings, traces

READINGS = ("composite", "set", "exact", "ignore")


def as_counts(found, evidence):
    """Return {(task, agent): ({candidate: e}, {candidate: x})} of what is not 0, from sparse cells."""
    table = {}
    for pair, cell, e, x in zip(evidence.cell_pair, evidence.cell_candidate, evidence.e, evidence.x, strict=True):
        key = found.task_ids[evidence.task[pair]], found.agent_names[evidence.agent[pair]]
        name = found.classes[found.candidate_class[cell]]
        assert found.candidate_task[cell] == evidence.task[pair]
        endorsed, rejected = table.setdefault(key, ({}, {}))
        endorsed.update({name: int(e)} if e else {})
        rejected.update({name: int(x)} if x else {})
    return table


def expected_counts(tasks, view, challenge):
    table = {}
    for one in tasks:
        for agent, (e, x) in oracle.counts(one, view, challenge).items():
            table[one["task"], agent] = tuple({k: n for k, n in count.items() if n} for count in (e, x))
    return table


@given(
    st.integers(0, 10**9),
    st.sampled_from(["all", "round0", "last_vote", "concede", "concede+challenge"]),
    st.sampled_from(READINGS),
)
def test_counts_against_the_oracle(seed, view, challenge):
    tasks = messier_tasks(random.Random(seed), 8)
    found = Traces.from_records(tasks)
    evidence = count_evidence(found, challenge, view)
    expected = expected_counts(tasks, view, challenge)
    assert as_counts(found, evidence) == expected
    pairs = [(found.task_ids[t], found.agent_names[a]) for t, a in zip(evidence.task, evidence.agent, strict=True)]
    assert len(pairs) == len(expected)
    assert (np.diff(evidence.task * len(found.agent_names) + evidence.agent) > 0).all()
    assert evidence.endorsed.tolist() == [sum(expected[pair][0].values()) for pair in pairs]
    assert evidence.rejected.tolist() == [sum(expected[pair][1].values()) for pair in pairs]
    sizes = {one["task"]: len(one["candidates"]) for one in tasks}
    assert evidence.k.tolist() == [sizes[name] for name, _ in pairs]
    assert (evidence.n_tasks, evidence.n_agents) == (8, len(found.agent_names))
    assert evidence.n_candidates == sum(sizes.values())


@given(st.integers(0, 10**9))
def test_the_last_vote_of_round_0(seed):
    tasks = messier_tasks(random.Random(seed), 8)
    found = Traces.from_records(tasks)
    early = [{**one, "moves": [m for m in one["moves"] if m["round"] == 0]} for one in tasks]
    assert as_counts(found, count_evidence(found, view="round0", votes=True)) == expected_counts(
        early, "last_vote", "set"
    )


@given(st.integers(0, 10**9), st.sampled_from(READINGS))
def test_right_and_wrong_against_the_oracle(seed, challenge):
    tasks = messier_tasks(random.Random(seed), 10)
    found = Traces.from_records(tasks)
    evidence = count_evidence(found, challenge)
    gold = candidate_positions(found, np.arange(len(found)), found.gold)
    right, wrong = right_wrong(evidence, gold)
    for name, expected in oracle.right_wrong(tasks, challenge).items():
        own = evidence.agent == found.agent_names.index(name)
        assert (right[own].sum(), wrong[own].sum()) == expected
    unlabelled = found.gold[evidence.task] < 0
    assert not right[unlabelled].any()
    assert not wrong[unlabelled].any()


def test_evidence_is_counted_once():
    found = traces("ada 0 propose A", "bo 1 challenge ada")
    assert count_evidence(found) is count_evidence(found, "set")
    assert count_evidence(found, "ignore") is not count_evidence(found)
    assert count_evidence(found, view="round0") is count_evidence(found, view="round0")
    assert len(count_evidence(found, "ignore").task) == 1


@pytest.mark.parametrize("view", ["all", "round0", "last_vote", "propose+concede+challenge"])
@pytest.mark.parametrize("empty", [Traces.from_records([]), traces(), traces("ada 0 abstain")])
def test_no_evidence(empty, view):
    evidence = count_evidence(empty, view=view)
    assert len(evidence.task) == len(evidence.e) == 0
    assert evidence.n_tasks == len(empty)
    right, wrong = right_wrong(evidence, np.full(len(empty), -1))
    assert len(right) == len(wrong) == 0


def test_views_by_name():
    found = traces("ada 0 propose A", "ada 0 propose B", "ada 1 propose C", "bo 1 challenge ada")
    assert apply_view(found, "all") is found
    assert meanings(apply_view(found, "round0")) == [("endorse", "A"), ("endorse", "B")]
    assert meanings(apply_view(found, "last_vote")) == [("endorse", "C")]
    assert meanings(apply_view(found, "challenge")) == [("reject", "B")]
    assert meanings(apply_view(found, "challenge+propose")) == meanings(found)


@pytest.mark.parametrize("view", ["first", "", "propose+", "abstain", "propose+round0", None, 0, ("propose",)])
def test_what_is_no_view(view):
    message = "is not a view; use all, round0, last_vote, or types of moves such as propose+concede"
    with pytest.raises(TraceError, match=message.replace("+", r"\+")):
        count_evidence(traces("ada 0 propose A"), view=view)
    for name in ("view", "fit_view"):
        with pytest.raises(TraceError, match=f"{name} = .*{message}".replace("propose+", r"propose\+")):
            PerAgent(**{name: view}).fit(traces("ada 0 propose A", gold="A"))


@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.sampled_from([0, 1, 2**33, -(2**60)]), st.integers(0, 2**62)), max_size=30
    )
)
@example([(0, 0, 0), (4, 0, 0), (2**31 - 1, 2**31 - 1, 2**31 - 1)])  # a product of spans beyond 64 bits
@example([(-(2**63), 0, 0), (2**63 - 1, 0, 0), (-(2**63), 0, 0)])  # a span beyond 64 bits
def test_collapsed_patterns_against_a_dictionary(rows):
    columns = np.array(rows, np.int64).reshape(len(rows), 3).T
    first, pattern = collapse(*columns)
    seen = {row: i for i, row in reversed(list(enumerate(rows)))}
    assert len(first) == len(seen)
    assert [rows[i] for i in first[pattern]] == rows
    assert sorted(first.tolist()) == sorted(seen.values())
