"""C.6: what may not matter does not matter, for every arm."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, Traces, WeightedVote
from tests.bda import oracle
from tests.bda.cases import close, fitted, messy, probabilities

PRIOR = dict(zip("ABCDEFGH", (1, 2, 3, 4, 5, 6, 7, 8), strict=True))
ARMS = [
    pytest.param(lambda prior: Plurality(), id="Plurality"),
    pytest.param(lambda prior: BestMember(), id="BestMember"),
    pytest.param(lambda prior: WeightedVote(), id="WeightedVote"),
    *(
        pytest.param(lambda prior, c=c: OneCoin(challenge=c, class_prior=prior), id=f"OneCoin-{c}")
        for c in ("composite", "set", "exact", "ignore")
    ),
    pytest.param(lambda prior: PerAgent(challenge="set", temperature=2.0, class_prior=prior), id="PerAgent"),
    pytest.param(lambda prior: Confusion(class_prior=prior), id="Confusion"),
    pytest.param(
        lambda prior: Confusion(challenge="set", likelihood="marginal", class_prior=prior), id="Confusion-set"
    ),
]
SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=4)  # a seed is eleven labelled tasks and four more


def by_name(make, calibration, tasks, prior=PRIOR):
    """From task and candidate to probability, after a fit."""
    arm = fitted(make(prior), calibration)
    return {
        task["task"]: dict(zip(task["candidates"], p, strict=True))
        for task, p in zip(tasks, probabilities(arm, tasks), strict=True)
    }


def same(found, expected):
    assert found.keys() == expected.keys()
    for task, p in expected.items():
        assert found[task] == close(p, 1e-9)


def mixed_within_rounds(rng, task):
    """Reorder moves of different agents within a round; an agent's own moves keep their order."""
    moves = task["moves"]
    groups = {}
    for move in moves:
        groups.setdefault((move["round"], move["agent"]), []).append(move)
    slots = sorted(((key[0], rng.random(), key) for key, group in groups.items() for _ in group), key=lambda s: s[:2])
    queues = {key: iter(group) for key, group in groups.items()}
    return {**task, "moves": [next(queues[key]) for _, _, key in slots]}


@pytest.mark.parametrize("make", ARMS)
@FEW
@given(seed=SEEDS)
def test_confidences_change_nothing(make, seed):
    calibration, tasks = messy(seed)
    rng = random.Random(seed)

    def rewritten(group):
        return [{**t, "moves": [{**m, "confidence": rng.random()} for m in t["moves"]]} for t in group]

    def without(group):
        return [{**t, "moves": [{k: v for k, v in m.items() if k != "confidence"} for m in t["moves"]]} for t in group]

    expected = by_name(make, calibration, tasks)
    assert by_name(make, rewritten(calibration), rewritten(tasks)) == expected
    assert by_name(make, without(calibration), without(tasks)) == expected


@pytest.mark.parametrize("make", ARMS)
@FEW
@given(seed=SEEDS)
def test_the_order_of_moves_of_a_round_changes_nothing(make, seed):
    calibration, tasks = messy(seed)
    rng = random.Random(seed)
    expected = by_name(make, calibration, tasks)
    mixed = [[mixed_within_rounds(rng, t) for t in group] for group in (calibration, tasks)]
    same(by_name(make, *mixed), expected)


@pytest.mark.parametrize("make", ARMS)
@FEW
@given(seed=SEEDS)
def test_the_order_of_tasks_and_candidates_changes_nothing(make, seed):
    calibration, tasks = messy(seed)
    rng = random.Random(seed)
    expected = by_name(make, calibration, tasks)
    turned = [
        [{**t, "candidates": rng.sample(t["candidates"], len(t["candidates"]))} for t in rng.sample(group, len(group))]
        for group in (calibration, tasks)
    ]
    same(by_name(make, *turned), expected)


@pytest.mark.parametrize("make", ARMS)
@FEW
@given(seed=SEEDS)
def test_names_of_agents_change_nothing(make, seed):
    """Renaming permutes the agents' columns, since agents stand in the order of their names."""
    calibration, tasks = messy(seed)
    if make(PRIOR).__class__ is BestMember:  # a tie between agents is drawn by name
        tasks = [t for t in tasks if _one_best(calibration, t)]
    names = [*oracle.agents_of(*calibration, *tasks), "ada", "bayes", "cox", "dawid", "skene"]
    new = {old: f"z{n}" for n, old in enumerate(random.Random(seed).sample(sorted(set(names)), len(set(names))))}

    def renamed(group):
        keys = ("agent", "target")
        return [
            {**t, "moves": [{**m, **{k: new[m[k]] for k in keys if m.get(k) is not None}} for m in t["moves"]]}
            for t in group
        ]

    expected = by_name(make, calibration, tasks)
    same(by_name(make, renamed(calibration), renamed(tasks)), expected)


def _one_best(calibration, task):
    return len(oracle.best_member(task, calibration, 2, 1, 20)) == 1


@pytest.mark.parametrize("make", ARMS)
@FEW
@given(seed=SEEDS)
def test_names_of_classes_change_nothing(make, seed):
    """Classes are permuted together with everything that names them: answers, gold, candidates, the class prior."""
    calibration, tasks = messy(seed)
    letters = list("ABCDEFGH")
    new = dict(zip(letters, random.Random(seed).sample(letters, len(letters)), strict=True))

    def renamed(group):
        return [
            {
                **t,
                "candidates": [new[c] for c in t["candidates"]],
                "gold": new.get(t["gold"]),
                "moves": [{**m, **({"answer": new[m["answer"]]} if m.get("answer") else {})} for m in t["moves"]],
            }
            for t in group
        ]

    expected = {
        task: {new[c]: value for c, value in p.items()} for task, p in by_name(make, calibration, tasks).items()
    }
    prior = {new[c]: weight for c, weight in PRIOR.items()}
    same(by_name(make, renamed(calibration), renamed(tasks), prior), expected)


@pytest.mark.parametrize("make", ARMS)
def test_one_task_alone_or_among_others_is_the_same(make):
    calibration, tasks = messy(2, n=12)
    arm = fitted(make(PRIOR), calibration)
    traces = Traces.from_records(tasks)
    together = probabilities(arm, traces)
    for n in range(len(traces)):
        assert probabilities(arm, traces[n]) == [close(together[n], 1e-12)]
    turned = probabilities(arm, traces[np.arange(12)[::-1]])
    assert turned[::-1] == [close(p, 1e-12) for p in together]


@pytest.mark.parametrize("make", ARMS)
def test_gold_inside_changes_no_prediction(make):
    calibration, tasks = messy(3, n=10)
    arm = fitted(make(PRIOR), calibration)
    blind = [{**t, "gold": None} for t in tasks]
    assert probabilities(arm, blind) == probabilities(arm, tasks)
