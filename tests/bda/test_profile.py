"""profile_ against the oracle: mean, interval, P(below chance), chance, weight, turning n."""

import math

import numpy as np
import pandas as pd
import pytest

from bda import BestMember, Confusion, NotFittedError, OneCoin, PerAgent, Plurality, Traces, WeightedVote
from bda.reliability import turning_n
from tests.bda import oracle
from tests.bda.cases import close, fitted, messy

COLUMNS = [
    "agent", "right", "wrong", "mean", "low", "high", "chance", "p_below_chance", "weight", "n_candidates", "turning_n",
]  # fmt: skip


def missing_as_none(value):
    return None if pd.isna(value) else value


@pytest.mark.parametrize(
    ("challenge", "view", "alpha", "beta", "kappa"),
    [
        ("composite", "all", 2.0, 1.0, 20.0),
        ("composite", "all", 3.0, 20.0, 5.0),
        ("composite", "round0", 2.0, 1.0, 20.0),
        ("set", "last_vote", 3.0, 20.0, 5.0),
        ("ignore", "all", 2.0, 1.0, 0.0),
    ],
)
def test_per_agent_profile_equals_the_oracle(challenge, view, alpha, beta, kappa):
    calibration, _ = messy(4, n_labelled=25)
    frame = fitted(PerAgent(alpha, beta, kappa, challenge=challenge, fit_view=view), calibration).profile_
    assert frame.columns.tolist() == COLUMNS
    assert frame["agent"].tolist() == oracle.agents_of(*calibration)
    k = frame["n_candidates"].iloc[0]
    for _, row in frame.iterrows():
        expected = oracle.profile(calibration, row["agent"], alpha, beta, kappa, int(k), challenge, view)
        assert row["mean"] == close(expected["mean"])
        assert (row["low"], row["high"]) == close(expected["interval"], 1e-9)
        assert missing_as_none(row["chance"]) == close(expected["chance"])
        assert missing_as_none(row["p_below_chance"]) == close(expected["below_chance"], 1e-9)
        assert row["weight"] == close(expected["weight"])
        assert missing_as_none(row["turning_n"]) == expected["turning"]
    assert frame["turning_n"].notna().any() == (alpha == 3.0)


def test_the_profile_is_the_posterior_of_the_counts_not_of_kappa():
    """Mean and interval come from Beta(alpha + n+, beta + n-) whatever kappa; only the weight uses kappa."""
    calibration, _ = messy(4, n_labelled=25)
    few, many = (fitted(PerAgent(kappa=kappa), calibration).profile_ for kappa in (1.0, 60.0))
    same = ["right", "wrong", "mean", "low", "high", "chance", "p_below_chance"]
    pd.testing.assert_frame_equal(few[same], many[same])
    assert (few["weight"] != many["weight"]).any()


def test_counts_chance_and_k_by_hand():
    records = [
        {"task": 1, "candidates": ["a", "b"], "gold": "a", "moves": [
            {"agent": "x", "round": 0, "type": "propose", "answer": "a"},
            {"agent": "y", "round": 1, "type": "challenge", "target": "x"}]},
        *({"task": n, "candidates": ["a", "b", "c", "d"], "gold": "b", "moves": [
            {"agent": "x", "round": 0, "type": "propose", "answer": "a"},
            {"agent": "y", "round": 1, "type": "challenge", "target": "x"}]} for n in (2, 3)),
    ]  # fmt: skip
    frame = fitted(PerAgent(2.0, 1.0, kappa=6.0), records).profile_.set_index("agent")
    assert frame.loc["x", ["right", "wrong"]].tolist() == [1, 2]
    assert frame.loc["y", ["right", "wrong"]].tolist() == [2, 1]
    assert frame["chance"].to_dict() == close({"x": (1 / 2 + 1 / 4 + 1 / 4) / 3, "y": (1 / 2 + 3 / 4 + 3 / 4) / 3})
    assert frame["n_candidates"].tolist() == [4, 4]  # the commonest K among labelled tasks
    assert frame.loc["x", "weight"] == close(math.log((2 + 6 / 3) * 3 / (1 + 6 * 2 / 3)))


def test_an_agent_without_a_label_shows_its_prior():
    traces = Traces.from_votes([[0, -1], [1, 0]], agents=["ada", "bo"])
    frame = PerAgent(2.0, 1.0).fit(traces, {0: 0}).profile_.set_index("agent")
    assert frame["mean"]["bo"] == close(2 / 3)
    assert frame["low"]["bo"] == close(math.sqrt(0.025))  # Beta(2, 1) has distribution function t^2
    assert frame[["chance", "p_below_chance"]].isna().all(axis=1).tolist() == [False, True]


@pytest.mark.parametrize("kind", [OneCoin, PerAgent, BestMember, WeightedVote, Confusion])
def test_every_arm_with_reliabilities_has_a_profile(kind):
    calibration, _ = messy(6, n_labelled=20)
    arm = fitted(kind(), calibration)
    frame = arm.profile_
    assert frame.columns.tolist() == COLUMNS
    assert frame["right"].tolist() == arm.reliability_.right.tolist()
    numbers = frame[["mean", "low", "high", "weight"]]
    assert np.isfinite(numbers).all(axis=None)
    assert {str(t) for t in numbers.dtypes} == {"float64"}
    assert ((frame["low"] < frame["mean"]) & (frame["mean"] < frame["high"])).all()


def test_one_coin_profile_has_the_shared_weight_and_each_agents_record():
    calibration, _ = messy(6, n_labelled=20)
    shared, own = fitted(OneCoin(3.0, 1.0), calibration).profile_, fitted(PerAgent(3.0, 1.0), calibration).profile_
    assert shared["mean"].tolist() == own["mean"].tolist()
    assert set(shared["weight"]) == {math.log(3 * (shared["n_candidates"].iloc[0] - 1))}


def test_confusion_profile_by_hand():
    """Posterior Beta(lambda rho + n+, lambda (1-rho) + n-); weight: mean log ratio of the named class to the others."""
    traces = Traces.from_votes([[0], [0], [1]], agents=["ada"])
    arm = Confusion(5.0, 0.6).fit(traces, [0, 1, 1])
    row = arm.profile_.iloc[0]
    assert row["mean"] == close((3 + 2) / (5 + 3))
    (aa, ab), (ba, bb) = [4 / 6, 2 / 6], [3 / 7, 4 / 7]
    assert arm.confusion_.tolist() == [[close([aa, ab]), close([ba, bb])]]
    assert row["weight"] == close((math.log(aa / ba) + math.log(bb / ab)) / 2)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_confusion_weight_is_the_mean_over_the_whole_matrix(seed):
    """profile_ never builds the agents x K x K table, most of whose rows are the prior."""
    arm = fitted(Confusion(3.0, 0.7), messy(seed, n_labelled=6)[0])
    log_pi, k = np.log(arm.confusion_), len(arm.classes_)
    assert len(arm.gold_classes_) < k
    expected = [np.mean([row[j, j] - row[t, j] for j in range(k) for t in range(k) if t != j]) for row in log_pi]
    assert arm.profile_["weight"].tolist() == close(expected)


def test_confusion_profile_of_many_classes_stays_small():
    n = 20_000
    traces = Traces.from_votes([[0, 1], [n - 1, 5]], classes=n).with_gold([0, 1])
    weight = Confusion(5.0, 0.6).fit(traces).profile_["weight"]
    assert weight.tolist() == pytest.approx([np.log(0.6) - np.log(0.4 / (n - 1))] * 2, rel=1e-3)


def test_plurality_has_no_profile():
    assert not hasattr(Plurality(), "profile_")


@pytest.mark.parametrize("kind", [OneCoin, PerAgent, BestMember, WeightedVote, Confusion])
def test_a_profile_before_a_fit_says_to_fit(kind):
    with pytest.raises(NotFittedError, match=rf"this {kind.__name__} is not fitted; call fit"):
        kind().profile_  # noqa: B018
    assert not hasattr(kind(), "profile_")


# The turning n


def test_turning_n_of_the_worked_case():
    assert turning_n(3.0, 20.0, 4) == 15
    assert turning_n(3.0, 20.0, 2) is None


@pytest.mark.parametrize("k", [2, 3, 4, 7, 10])
def test_turning_n_equals_exact_fractions(k):
    for alpha in (0.5, 1.0, 2.0, 3.0):
        for beta in (0.5, 2.0, 8.0, 20.0, 61.0):
            assert turning_n(alpha, beta, k) == oracle.turning(alpha, beta, k)


def test_weights_of_exactly_zero_are_not_positive():
    """K = 3, Beta(1, 2): one endorsement weighs ln(1 * 2 / 2) = 0. K = 7, Beta(1, 8): two weigh ln(72 / 72) = 0."""
    assert turning_n(1.0, 2.0, 3) is None
    assert turning_n(1.0, 8.0, 7) == oracle.turning(1, 8, 7) == 3


def test_turning_n_far_out():
    n = turning_n(1e-3, 1e5, 3)
    assert n > 1e5

    def weight(m):
        return math.lgamma(1e-3 + m) - math.lgamma(1e-3) - math.lgamma(1e5 + m) + math.lgamma(1e5) + m * math.log(2)

    assert weight(n) > 0 >= weight(n - 1)
