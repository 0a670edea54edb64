"""The overview against plain recomputation on messy councils."""

import math
import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from bda import Traces
from bda.overview import overview
from tests.bda import oracle


@pytest.fixture(scope="module", params=range(4))
def council(request):
    rng = random.Random(request.param)
    tasks = oracle.random_tasks(rng, 25)
    return tasks, overview(Traces.from_records(tasks))


def last_votes(tasks):
    return {task["task"]: oracle.standing_after(task) for task in tasks}


def test_counts(council):
    tasks, found = council
    moves = [move for task in tasks for move in task["moves"]]
    assert found.n_tasks == len(tasks)
    assert found.n_labelled == sum(task.get("gold") is not None for task in tasks)
    assert found.n_moves == len(moves)
    assert found.n_rounds == max(move["round"] for move in moves) + 1
    assert {k: n for k, n in found.moves.items() if n} == Counter(move["type"] for move in moves)
    assert found.candidates == Counter(len(task["candidates"]) for task in tasks)
    gold = Counter(task["gold"] for task in tasks if task.get("gold") is not None)
    assert {name: n for name, n in found.gold.items() if n} == gold


def test_coverage_and_accuracy(council):
    tasks, found = council
    votes = last_votes(tasks)
    for row in found.agents.itertuples():
        said = [(t, votes[t["task"]][row.agent]) for t in tasks if votes[t["task"]].get(row.agent) is not None]
        scored = [(t["gold"], vote) for t, vote in said if t.get("gold") is not None]
        asked = sum(any(m["agent"] == row.agent for m in t["moves"]) for t in tasks)
        assert (row.committed, row.scored, row.asked) == (len(said), len(scored), asked)
        assert row.not_asked == len(tasks) - asked
        assert row.coverage == pytest.approx(len(said) / len(tasks))
        right = sum(gold == vote for gold, vote in scored)
        assert math.isnan(row.accuracy) if not scored else row.accuracy == pytest.approx(right / len(scored))


def test_agreement(council):
    tasks, found = council
    votes = last_votes(tasks)
    names = found.agents["agent"].tolist()
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        both = [(v[a], v[b]) for v in votes.values() if v.get(a) is not None and v.get(b) is not None]
        assert found.common[i, j] == found.common[j, i] == len(both)
        if both:
            assert found.agreement[i, j] == pytest.approx(sum(x == y for x, y in both) / len(both))
        else:
            assert np.isnan(found.agreement[i, j])
    pairs = found.pairs()
    assert len(pairs) == sum(found.common[i, j] > 0 for i, j in combinations(range(len(names)), 2))
    assert pairs["agreement"].is_monotonic_decreasing


def test_problems_are_located(council):
    _, found = council
    assert found.problems == Counter(found.locations["problem"])


def test_no_gold_no_votes_no_meta():
    found = overview(Traces.from_votes([[-1, -1]], classes=2))
    assert math.isnan(found.plurality_accuracy)
    assert math.isnan(found.unanimity.share_wrong)
    assert (found.n_moves, found.n_rounds, found.meta_keys) == (0, 0, ())
    assert found.pairs().empty


def test_groups_and_meta():
    records = [
        {"task": f"q{i}", "candidates": ["a", "b"], "meta": {"group": i // 2, "source": "x"}, "moves": []}
        for i in range(6)
    ]
    found = overview(Traces.from_records(records))
    assert (found.n_groups, found.meta_keys) == (3, ("group", "source"))
