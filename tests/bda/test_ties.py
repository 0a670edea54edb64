"""Ties: within 1e-9 in log probability, drawn by seed and task name, never by the order of anything (D.6)."""

import random

import numpy as np
import pytest

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, Traces, WeightedVote
from bda.ties import decide, keyed_uniform

ARMS = [Plurality(), BestMember(), WeightedVote(), OneCoin(), PerAgent(), Confusion()]


def named(arms):
    return [pytest.param(arm, id=type(arm).__name__) for arm in arms]


def tied_tasks(n=200, candidates="abc"):
    """Tasks on which nobody says anything: all candidates are tied."""
    return [{"task": f"q{i}", "candidates": list(candidates), "moves": []} for i in range(n)]


def chosen(traces, seed=0):
    names = Plurality(random_state=seed).predict(traces).tolist()
    return dict(zip(traces.task_ids.tolist(), names, strict=True))


def test_the_draw_does_not_depend_on_the_order_of_tasks_candidates_or_moves():
    rng = random.Random(0)
    tasks = [
        {**t, "moves": [{"agent": a, "round": 0, "type": "propose", "answer": c} for a, c in (("x", "a"), ("y", "c"))]}
        for t in tied_tasks()
    ]
    expected = chosen(Traces.from_records(tasks))
    assert set(expected.values()) == {"a", "c"}
    for _ in range(5):
        turned = [
            {
                **t,
                "candidates": rng.sample(t["candidates"], 3),
                "moves": rng.sample(t["moves"], 2),
            }
            for t in rng.sample(tasks, len(tasks))
        ]
        assert chosen(Traces.from_records(turned)) == expected
        part = Traces.from_records(turned)[: len(turned) // 3]
        assert chosen(part).items() <= expected.items()


def test_the_draw_does_not_depend_on_which_other_classes_exist():
    narrow = Traces.from_records(tied_tasks(candidates="bc"))
    wide = Traces.from_records([*tied_tasks(candidates="bc"), {"task": "z", "candidates": ["a", "d"], "moves": []}])
    assert chosen(narrow).items() <= chosen(wide).items()


def test_the_draw_favours_no_class_and_changes_with_the_seed():
    traces = Traces.from_records(tied_tasks(3000))
    first, second = chosen(traces, 0), chosen(traces, 1)
    for found in (first, second):
        counts = np.unique(list(found.values()), return_counts=True)[1]
        assert (np.abs(counts - 1000) < 4 * np.sqrt(3000 * 2 / 9)).all()
    agreement = np.mean([first[t] == second[t] for t in first])
    assert abs(agreement - 1 / 3) < 0.04


def test_every_arm_draws_alike():
    traces = Traces.from_records(tied_tasks(40))
    known = Traces.from_votes([["a", "b"]], classes=["a", "b", "c"], agents=["x", "y"])
    expected = Plurality(random_state=4).predict(traces).tolist()
    for arm in ARMS:
        fresh = type(arm)(random_state=4).fit(known, ["a"])
        assert fresh.predict(traces).tolist() == expected
        assert fresh.decide(traces).tied.tolist() == [3] * 40


def test_the_number_tied_is_reported():
    traces = Traces.from_votes([[0, 0, 1, 1], [0, 0, 0, 1], [0, 1, 2, -1], [-1] * 4], classes=3)
    assert Plurality().decide(traces).tied.tolist() == [2, 1, 3, 3]
    assert OneCoin().decide(traces).tied.tolist() == [2, 1, 3, 3]


def test_a_tie_is_within_1e_9_of_the_maximum():
    traces = Traces.from_records(tied_tasks(1, "ab"))
    for gap, tied in ((0.0, 2), (0.9e-9, 2), (1.1e-9, 1)):
        for log_proba in (np.array([-1.0, -1.0 - gap]), np.array([-1.0 - gap, -1.0])):
            found = decide(traces, log_proba, 0)
            assert found.tied.tolist() == [tied]
            if tied == 1:
                assert found.candidate.tolist() == [log_proba.argmax()]


def test_the_order_in_which_evidence_is_added_makes_no_winner():
    """Sums of the same weights in another order differ in the last digit; the tie stays a tie."""
    rng = np.random.default_rng(0)
    weights = {f"a{i}": int(r) for i, r in enumerate(rng.integers(1, 20, size=7))}
    pairs = [(f"{side}{a}", answer) for a in weights for side, answer in (("l", "x"), ("r", "y"))]
    calibration = [
        {"task": i, "candidates": ["x", "y"], "gold": "x", "moves": [
            {"agent": agent, "round": 0, "type": "propose", "answer": "x" if i < weights[agent[1:]] else "y"}
            for agent, _ in pairs]} for i in range(20)
    ]  # fmt: skip
    moves = [{"agent": agent, "round": 0, "type": "propose", "answer": answer} for agent, answer in pairs]
    task = {"task": "q", "candidates": ["x", "y"], "moves": moves}
    for arm in (PerAgent(), WeightedVote()):
        fitted = arm.fit(Traces.from_records(calibration))
        assert fitted.decide(Traces.from_records([task])).tied.tolist() == [2]


def test_numpy_seeds_and_plain_seeds_draw_alike():
    traces = Traces.from_records(tied_tasks(50))
    log_proba = Plurality().log_proba(traces)
    assert (decide(traces, log_proba, np.int64(3)).candidate == decide(traces, log_proba, 3).candidate).all()
    assert chosen(traces, np.int32(3)) == chosen(traces, 3)


def test_the_key_is_typed_and_the_draw_is_fixed_for_good():
    """The values are those of the first release: a change would change every drawn tie of every report."""
    assert keyed_uniform(0, "q17") == 0.03816625496157244
    assert keyed_uniform(0, "1") != keyed_uniform(0, 1) != keyed_uniform(0, True)
    assert keyed_uniform("a", "b") != keyed_uniform("ab")
    draws = np.array([keyed_uniform(0, n) for n in range(4000)])
    assert (draws >= 0).all()
    assert (draws < 1).all()
    assert np.abs(np.histogram(draws, 10, (0, 1))[0] - 400).max() < 4 * np.sqrt(360)


def test_many_ties_take_linear_time():
    import time

    traces = Traces.from_votes(np.full((30_000, 1), -1), classes=2)
    start = time.process_time()
    found = decide(traces, np.full(60_000, np.log(0.5)), 0)
    assert time.process_time() - start < 5
    assert (found.tied == 2).all()
