"""Arms against the worked cases: posterior, every agent's evidence, counts and prior counts, to 1e-10."""

import json
from pathlib import Path

import numpy as np
import pytest

from bda import Confusion, OneCoin, PerAgent, Traces
from tests.bda.cases import close, fitted, probabilities

CASES = json.loads((Path(__file__).parents[1] / "golden" / "bda.json").read_text())["cases"]


def of_kind(kind):
    return [pytest.param(case, id=case["task"]["task"]) for case in CASES if case["kind"] == kind]


def test_all_kinds_are_there():
    assert len(CASES) == sum(len(of_kind(kind)) for kind in ("one_coin", "per_agent", "confusion")) == 42


@pytest.mark.parametrize("case", of_kind("one_coin"))
def test_one_coin(case):
    arm = OneCoin(case["alpha"], case["beta"], case["tau"], case["challenge"], case["class_prior"], view=case["view"])
    assert probabilities(arm, [case["task"]]) == [close(case["posterior"])]
    parts = arm._contributions(Traces.from_records([case["task"]])).agents
    evidence = {agent: (case["tau"] * row).tolist() for agent, row in parts.items()}
    # Evidence of one agent enters the posterior up to a constant, but is stated in full.
    assert evidence == {agent: close(row) for agent, row in case["evidence"].items()}


@pytest.mark.parametrize("case", of_kind("per_agent"))
def test_per_agent(case):
    arm = PerAgent(
        case["alpha"],
        case["beta"],
        case["kappa"],
        case["tau"],
        case["challenge"],
        view=case["view"],
        fit_view=case["view"],
    )
    fitted(arm, case["calibration"])
    record = zip(arm.reliability_.right.tolist(), arm.reliability_.wrong.tolist(), strict=True)
    assert dict(zip(arm.agents_, map(list, record), strict=True)) == case["right_wrong"]
    alpha, beta = arm._prior_counts(len(arm.agents_), np.arange(len(arm.agents_)))
    counts = zip(alpha.tolist(), beta.tolist(), strict=True)
    assert dict(zip(arm.agents_, map(list, counts), strict=True)) == {a: close(p) for a, p in case["prior"].items()}
    assert probabilities(arm, [case["task"]]) == [close(case["posterior"])]


@pytest.mark.parametrize("case", of_kind("confusion"))
def test_confusion(case):
    arm = Confusion(case["prior_strength"], case["prior_accuracy"], case["tau"], case["challenge"], case["likelihood"])
    fitted(arm, case["calibration"])
    k = len(case["classes"])
    assert arm.classes_.tolist() == case["classes"]
    table = np.zeros((len(arm.agents_), k, k))
    table[:, arm.gold_classes_] = arm.counts_
    assert dict(zip(arm.agents_, table.tolist(), strict=True)) == case["counts"]
    assert probabilities(arm, [case["task"]]) == [close(case["posterior"])]
