"""Plurality, best member and weighted vote against the oracle, and what users of other tools tripped over."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, TraceError, Traces, WeightedVote
from tests.bda import oracle
from tests.bda.cases import VIEWS, close, fitted, messy, probabilities, seen_as

COUNTS = st.sampled_from([(2.0, 1.0, 20.0), (0.5, 3.0, 4.0), (3.0, 2.0, 0.0)])
ALL = [Plurality(), BestMember(), WeightedVote(), OneCoin(), PerAgent(), Confusion()]


def named(arms):
    return [pytest.param(arm, id=type(arm).__name__) for arm in arms]


# Against the oracle


@given(st.integers(0, 2**32), st.sampled_from(VIEWS))
def test_plurality_equals_the_oracle(seed, view):
    _, tasks = messy(seed, n_labelled=0)
    assert probabilities(Plurality(view=view), tasks) == [close(oracle.plurality(seen_as(t, view))) for t in tasks]


@given(st.integers(0, 2**32), COUNTS, st.sampled_from(VIEWS), st.sampled_from(VIEWS))
def test_weighted_vote_equals_the_oracle(seed, counts, view, fit_view):
    calibration, tasks = messy(seed)
    arm = fitted(WeightedVote(*counts, view, fit_view), calibration)
    known = [seen_as(t, fit_view) for t in calibration]
    expected = [oracle.weighted_vote(seen_as(t, view), known, *counts) for t in tasks]
    assert probabilities(arm, tasks) == [close(p) for p in expected]


@given(st.integers(0, 2**32), COUNTS, st.sampled_from(VIEWS), st.sampled_from(VIEWS))
def test_best_member_equals_the_oracle(seed, counts, view, fit_view):
    """The oracle lists one distribution for every agent that shares the highest reliability."""
    calibration, tasks = messy(seed)
    arm = fitted(BestMember(*counts, view, fit_view), calibration)
    known = [seen_as(t, fit_view) for t in calibration]
    for task, p in zip(tasks, probabilities(arm, tasks), strict=True):
        assert any(p == close(q) for q in oracle.best_member(seen_as(task, view), known, *counts))


# By hand


def test_plurality_is_shares_and_uniform_without_a_vote():
    traces = Traces.from_votes([[0, 0, 1, 2], [-1, 2, 2, -1], [-1, -1, -1, -1]], classes=3)
    assert Plurality().predict_proba(traces).tolist() == [[0.5, 0.25, 0.25], [0, 0, 1], close([1 / 3] * 3)]


def test_plurality_counts_last_votes_not_moves():
    moves = [("ada", 0, "A"), ("bo", 0, "B"), ("ada", 1, "A"), ("ada", 2, "A"), ("cy", 0, "B"), ("cy", 1, "A")]
    task = {"task": 1, "candidates": ["A", "B"], "moves": [
        {"agent": a, "round": r, "type": "propose", "answer": c} for a, r, c in moves]}  # fmt: skip
    assert probabilities(Plurality(), [task]) == [close([2 / 3, 1 / 3])]
    assert probabilities(Plurality(view="round0"), [task]) == [close([1 / 3, 2 / 3])]


@pytest.fixture
def ranked():
    """Ada is right 9 times of 10, bo 7, cy 2; K = 3."""
    votes = [[0 if i < right else 1 for right in (9, 7, 2)] for i in range(10)]
    return Traces.from_votes(votes, agents=["ada", "bo", "cy"], classes=3).with_gold([0] * 10)


def test_best_member_falls_back_to_the_next_best_that_voted(ranked):
    arm = BestMember(2.0, 1.0, kappa=20.0).fit(ranked)
    asked = Traces.from_votes([[1, 0, 2], [-1, 0, 2], [-1, -1, 2], [-1, -1, -1]], agents=["ada", "bo", "cy"], classes=3)
    theta = [(2 + 20 * r) / 23 for r in (0.9, 0.7, 0.2)]
    expected = np.full((4, 3), 1 / 3)
    for row, answer, own in ((0, 1, theta[0]), (1, 0, theta[1]), (2, 2, theta[2])):
        expected[row] = (1 - own) / 2
        expected[row, answer] = own
    np.testing.assert_allclose(arm.predict_proba(asked), expected, rtol=0, atol=1e-12)


def test_best_member_breaks_ties_between_agents_by_a_seeded_draw():
    traces = Traces.from_votes([[0, 0, 0, 1]] * 5, agents=list("abcd")).with_gold([0] * 5)
    asked = Traces.from_votes([[0, 1, 1, 1]], agents=list("abcd"))
    chosen = {seed: int(BestMember(random_state=seed).fit(traces).predict(asked)[0]) for seed in range(60)}
    share = np.mean([answer == 0 for answer in chosen.values()])
    assert 0.15 < share < 0.55  # one agent of three says 0
    # The draw belongs to the agent's name: their order changes nothing.
    turned = Traces.from_votes([[0, 0, 0, 1]] * 5, agents=list("cbad")).with_gold([0] * 5)
    again = Traces.from_votes([[1, 1, 0, 1]], agents=list("cbad"))
    for seed, answer in chosen.items():
        assert int(BestMember(random_state=seed).fit(turned).predict(again)[0]) == answer


def test_weighted_vote_is_a_softmax_of_log_odds(ranked):
    arm = WeightedVote(2.0, 1.0, kappa=20.0).fit(ranked)
    weight = [math.log((2 + 20 * r) * 2 / (1 + 20 * (1 - r))) for r in (0.9, 0.7, 0.2)]
    assert arm.profile_["weight"].tolist() == close(weight)
    asked = Traces.from_votes([[0, 1, 2]], agents=["ada", "bo", "cy"], classes=3)
    expected = np.exp(weight) / np.exp(weight).sum()
    assert arm.predict_proba(asked)[0].tolist() == close(expected.tolist())


def test_weighted_vote_and_per_agent_agree_on_one_vote_an_agent(ranked):
    """With one endorsement an agent the per-agent posterior is this vote."""
    rng = np.random.default_rng(0)
    asked = Traces.from_votes(rng.integers(-1, 3, size=(50, 3)), agents=["ada", "bo", "cy"], classes=3)
    np.testing.assert_allclose(
        WeightedVote().fit(ranked).predict_proba(asked), PerAgent().fit(ranked).predict_proba(asked), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("arm", named([BestMember(1e17, 1e-3), WeightedVote(1e17, 1e-3), WeightedVote(1e-3, 1e17)]))
def test_reliabilities_that_round_to_0_or_1_stay_finite(arm):
    """1 - theta is not what is left of theta but beta / (alpha + beta)."""
    traces = Traces.from_votes([[0, 1], [0, 0]]).with_gold([0, 0])
    p = arm.fit(traces).predict_proba(traces)
    assert np.isfinite(p).all()
    assert p.sum(axis=1).tolist() == close([1, 1])


# Complaints of users of other aggregators, for every arm


@pytest.mark.parametrize("arm", named(ALL))
def test_a_missing_vote_is_never_a_class(arm):
    wide = pd.DataFrame({"x": ["a", None, "b"], "y": [np.nan, np.nan, "b"], "z": ["a", None, "a"]})
    p = arm.fit(wide, ["a", "b", "b"]).predict_proba(wide)
    assert arm.classes_.tolist() == ["a", "b"]
    assert np.isfinite(p).all()
    assert p[1].tolist() == close([0.5, 0.5])  # nobody voted: the prior, and no label out of nowhere


@pytest.mark.parametrize("arm", named(ALL))
def test_an_agent_that_never_votes_changes_nothing(arm):
    votes = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]])
    silent = np.column_stack([votes, np.full(4, np.nan)])
    gold = [0, 1, 0, 1]
    p = arm.fit(votes, gold).predict_proba(votes)
    q = arm.fit(silent, gold).predict_proba(silent)
    np.testing.assert_allclose(p, q, rtol=0, atol=1e-12)
    assert len(arm.agents_) == 4


@pytest.mark.parametrize("arm", named(ALL))
def test_six_agreeing_agents_are_believed(arm):
    """At every K and with hardly a label: no label switching, no prior that prefers the off-diagonal."""
    for k in (2, 3, 9):
        traces = Traces.from_votes([[0] * 6, [1] * 6, [k - 1] * 6], classes=k)
        assert arm.fit(traces, [0, None, None]).predict(traces).tolist() == [0, 1, k - 1]


@pytest.mark.parametrize("arm", named(ALL))
def test_no_tasks_no_answers(arm):
    traces = Traces.from_votes([[0, 1], [1, 1]]).with_gold([0, 1])
    nothing = arm.fit(traces).predict_proba(traces[[]])
    assert nothing.shape == (0, 2)
    assert arm.predict(traces[[]]).tolist() == []
    assert len(arm.predict_candidates(traces[[]])) == 0
    assert arm.decide(traces[[]]).tied.tolist() == []


@pytest.mark.parametrize("arm", named(ALL))
def test_a_council_of_one_and_a_task_without_moves(arm):
    traces = Traces.from_votes([[0], [1], [-1]], classes=3, agents=["only"])
    p = arm.fit(traces, [0, 1, None]).predict_proba(traces)
    assert np.isfinite(p).all()
    assert p[2].tolist() == close([1 / 3] * 3)
    assert p.argmax(axis=1)[:2].tolist() == [0, 1]
    if not isinstance(arm, Plurality):
        assert p[0, 0] < 1  # one vote is not a certainty


@pytest.mark.parametrize("arm", named(ALL))
def test_a_council_that_says_nothing_at_all(arm):
    records = [{"task": i, "candidates": ["a", "b"], "gold": "a", "moves": []} for i in range(3)]
    traces = Traces.from_records(records)
    assert arm.fit(traces).predict_proba(traces).tolist() == [close([0.5, 0.5])] * 3


@pytest.mark.parametrize("arm", named(ALL))
def test_categories_booleans_and_integers_are_labels(arm):
    frames = {
        "category": pd.Categorical(["u", "v", "u", "v", "v", "v"], categories=["v", "u", "w"]),
        "boolean": [True, False, True, False, False, False],
        "integer": [7, 3, 7, 3, 3, 3],
        "string": ["u", "v", "u", "v", "v", "v"],
    }
    seen = {}
    for kind, labels in frames.items():
        long = pd.DataFrame({"task": [1, 1, 1, 2, 2, 2], "worker": list("abcabc"), "label": labels})
        gold = {1: labels[0], 2: labels[1]}
        p = arm.fit(long, gold).predict_proba(long)
        names = arm.classes_.tolist()
        assert {type(name) for name in names} == {type(v) for v in list(labels)}
        assert arm.predict(long).tolist() == [labels[0], labels[1]]
        seen[kind] = p[:, names.index(labels[0])]
    for p in (seen["boolean"], seen["integer"]):
        np.testing.assert_allclose(p, seen["string"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("arm", named(ALL))
def test_classes_may_be_wider_than_what_was_seen(arm):
    narrow, wide = (Traces.from_votes([["a", "b"], ["b", "b"]], classes=c) for c in (["a", "b"], ["a", "b", "c", "d"]))
    assert arm.fit(narrow, ["a", "b"]).predict_proba(narrow).shape == (2, 2)
    p = arm.fit(wide, ["a", "b"]).predict_proba(wide)
    assert p.shape == (2, 4)
    assert p[1].argmax() == 1


@pytest.mark.parametrize("arm", named(ALL))
def test_one_label_suffices(arm):
    traces = Traces.from_votes([[0, 1, 1], [1, 1, 0], [0, 0, 0]])
    assert np.isfinite(arm.fit(traces, {1: 1}).predict_proba(traces)).all()
    assert arm.n_labels_ == 1


@pytest.mark.parametrize("arm", named([BestMember(), WeightedVote(), PerAgent(), Confusion()]))
def test_without_a_label_the_arm_names_what_to_use(arm):
    with pytest.raises(
        TraceError, match=rf"none of the 2 tasks has a label, and {type(arm).__name__}.*OneCoin, Plurality"
    ):
        arm.fit([[0, 1], [1, 1]])


@pytest.mark.parametrize("arm", named([Plurality(), OneCoin()]))
def test_an_arm_that_needs_no_label_takes_none(arm):
    assert arm.fit([[0, 1], [1, 1]]).n_labels_ == 0
    assert type(arm)().predict([[0, 1], [1, 1]])[1] == 1
