"""Real judges (LLMBar): what counting votes gets wrong and weighing voices gets right, and where it does not help."""

from pathlib import Path

import pytest

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, Traces, WeightedVote, compare

JUDGES = Path(__file__).parents[2] / "examples" / "llmbar_judges.jsonl.gz"
# The name has its hyperparameters picked by the inner folds; the arms are taken as they are.
ARMS = {
    "plurality": Plurality(),
    "best-member": BestMember(),
    "weighted-vote": WeightedVote(),
    "one-coin": OneCoin(),
    "per-agent": "per-agent",
    "per-agent-default": PerAgent(),
    "confusion": Confusion(),
}


@pytest.fixture(scope="module")
def judges():
    """Five judges, prompt Vanilla_NoRules, in the original order of the two outputs; ChatGPT-0301 left out."""
    traces = Traces.read_jsonl(JUDGES)
    five = [a for a in traces.agent_names if a.endswith("/Vanilla_NoRules/ab") and not a.startswith("ChatGPT-0301")]
    assert len(five) == 5
    return traces.agents(five)


def means(traces):
    """Means over 20 draws of 25 labels, all other tasks scored."""
    return compare(traces, ARMS, n_labels=25, seeds=range(20), protocol="draw").summary(n_resamples=20)


@pytest.fixture(scope="module")
def neighbor(judges):
    return means(judges.subset(subset="Neighbor"))


@pytest.fixture(scope="module")
def natural(judges):
    return means(judges.subset(subset="Natural"))


@pytest.mark.parametrize(
    ("arm", "metric", "expected"),
    [
        ("plurality", "accuracy", 0.366),
        ("best-member", "accuracy", 0.629),
        ("per-agent", "accuracy", 0.839),
        ("per-agent", "brier", 0.241),
        ("per-agent-default", "accuracy", 0.839),
        ("per-agent-default", "brier", 0.241),
    ],
)
def test_neighbor(neighbor, arm, metric, expected):
    assert abs(neighbor.loc[arm, metric] - expected) <= 0.015


def test_on_neighbor_every_arm_that_can_weigh_negatively_wins(neighbor):
    accuracy = neighbor["accuracy"]
    assert accuracy[["weighted-vote", "per-agent", "confusion"]].min() > 0.8
    assert accuracy[["plurality", "one-coin"]].max() < 0.4  # one weight for all cannot turn


def test_on_natural_the_best_member_wins(natural):
    """Friendly tasks: one strong judge beats any weighing from 25 labels; weighing gains little on counting."""
    assert natural["accuracy"].idxmax() == "best-member"
    assert natural["brier"].idxmin() == "best-member"
    assert natural.loc["best-member", "accuracy"] > natural["accuracy"].drop("best-member").max() + 0.02
    assert natural.loc["per-agent", "accuracy"] - natural.loc["plurality", "accuracy"] < 0.03
    assert natural.loc["plurality", "brier"] < natural.loc["per-agent", "brier"]


def test_judges_below_chance_are_known_from_all_neighbor_labels(judges):
    traces = judges.subset(subset="Neighbor")
    frame = PerAgent().fit(traces).profile_.set_index("agent")
    below = frame.index[frame["p_below_chance"] > 0.99]
    assert {name.partition("/")[0] for name in below} == {"ChatGPT", "LLaMA2"}
    assert (frame.loc[below, "weight"] < 0).all()
    assert frame.loc["GPT-4/Vanilla_NoRules/ab", "weight"] > 0
    assert (frame["chance"] == 0.5).all()
