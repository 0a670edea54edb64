"""The confusion arm against the oracle: rows, both likelihoods, all readings, C.5, C.7, classes that fit never saw."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import Confusion, TraceError, Traces, TraceWarning
from bda.confusion import confusion_terms
from tests.bda import oracle
from tests.bda.cases import CLASSES, VIEWS, close, fitted, messy, probabilities

READINGS = ("composite", "set", "ignore")
LIKELIHOODS = ("plugin", "marginal")
PRIORS = st.sampled_from([None, dict(zip(CLASSES, (1, 2, 3, 4, 5, 6, 7, 8), strict=True))])


@given(
    st.integers(0, 2**32), st.sampled_from([0.5, 5.0]), st.sampled_from([0.25, 0.6, 0.9]), st.sampled_from([1.0, 2.5]),
    st.sampled_from(READINGS), st.sampled_from(LIKELIHOODS), st.sampled_from(VIEWS), st.sampled_from(VIEWS), PRIORS,
)  # fmt: skip
def test_equals_the_oracle_on_messy_traces(seed, strength, rho, tau, challenge, likelihood, view, fit_view, prior):
    calibration, tasks = messy(seed, n=3)
    arm = fitted(Confusion(strength, rho, tau, challenge, likelihood, prior, view, fit_view), calibration)
    expected = []
    for task in tasks:
        evidence = oracle.confusion_evidence(
            task, calibration, CLASSES, strength, rho, challenge, likelihood, view, fit_view
        )
        expected.append(oracle.posterior(task, evidence, tau, prior))
    assert probabilities(arm, tasks) == [close(p) for p in expected]


@pytest.mark.parametrize("challenge", READINGS)
def test_counts_are_those_of_the_oracle(challenge):
    calibration, _ = messy(21, n_labelled=30)
    arm = fitted(Confusion(challenge=challenge), calibration)
    classes = arm.classes_.tolist()
    expected = oracle.confusion_counts(calibration, classes, challenge)
    table = np.zeros((len(arm.agents_), len(classes), len(classes)))
    table[:, arm.gold_classes_] = arm.counts_
    ours = dict(zip(arm.agents_, table.tolist(), strict=True))
    assert ours == {a: [[C[t][c] for c in classes] for t in classes] for a, C in expected.items()}


def test_a_rejection_counts_in_every_rival_cell():
    task = {"task": 1, "candidates": ["a", "b", "c"], "gold": "b", "moves": [
        {"agent": "x", "round": 0, "type": "challenge", "target": "y", "answer": "a"}]}  # fmt: skip
    assert fitted(Confusion(), [task]).counts_[0].tolist() == [[0, 1, 1]]
    assert fitted(Confusion(challenge="set"), [task]).counts_[0].tolist() == [[0, 0, 0]]
    with pytest.raises(TraceError, match="challenge = 'exact' is not an option; use composite, set, ignore"):
        fitted(Confusion(challenge="exact"), [task])


# C.5, C.7


@pytest.mark.parametrize("challenge", READINGS)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_uniform_errors_and_equal_candidates_reduce_to_the_one_coin_plug_in_rule(challenge, k):
    """C.5: then log p(k) = sum over moves of ln theta if consistent with k, else ln((1-theta)/(K-1))."""
    classes = list(CLASSES[:k])
    calibration = [
        {"task": f"{agent}{truth}{said}{i}", "candidates": classes, "gold": truth, "moves": [
            {"agent": agent, "round": 0, "type": "propose", "answer": said}]}
        for agent, right in (("ada", 6), ("bo", 1))
        for truth, said in itertools.product(classes, classes)
        for i in range(right if truth == said else 2)
    ]  # fmt: skip
    strength, rho = 3.0, 0.7
    arm = fitted(Confusion(strength, rho, challenge=challenge), calibration)
    theta = {
        agent: (right + strength * rho) / (right + 2 * (k - 1) + strength) for agent, right in (("ada", 6), ("bo", 1))
    }
    rng = random.Random(k)
    for task in (oracle.random_task(rng, candidates=classes, agents=("ada", "bo")) for _ in range(10)):
        moves = oracle.informative(task, "all", challenge)
        plug_in = [
            math.prod(plug_in_probability(m, truth, theta[m["agent"]], k, challenge) for m in moves)
            for truth in classes
        ]
        p = dict(zip(task["candidates"], probabilities(arm, [task])[0], strict=True))
        assert [p[c] for c in classes] == close([value / sum(plug_in) for value in plug_in])


def plug_in_probability(move, truth, theta, k, challenge):
    """P(move | truth) at a known theta; P(reject a | k) = 1 - pi[k, a] under "set"."""
    said = theta if move["answer"] == truth else (1 - theta) / (k - 1)
    if move["kind"] == "endorse":
        return said
    if challenge == "set":
        return 1 - said
    return (1 - theta) / (k - 1) if move["answer"] == truth else theta


@pytest.mark.parametrize("strength", [0.5, 5.0, 40.0])
def test_rows_stay_near_their_maximum_likelihood(strength):
    """C.7: total variation to the MLE is at most lambda / (N_ik + lambda)."""
    calibration, _ = messy(8, n_labelled=60)
    arm = fitted(Confusion(strength), calibration)
    rows = arm.counts_.reshape(-1, len(arm.classes_))
    smoothed = arm.confusion_[:, arm.gold_classes_].reshape(rows.shape)
    n = rows.sum(axis=1)
    assert (n > 0).sum() > 20
    distance = np.abs(smoothed[n > 0] - rows[n > 0] / n[n > 0, None]).sum(axis=1) / 2
    assert (distance <= strength / (n[n > 0] + strength) + 1e-12).all()


def test_rows_of_a_subset_of_candidates_are_renormalised():
    """base and counts run over the task's candidates: a class not on offer takes no share."""
    calibration = [
        {"task": i, "candidates": ["a", "b", "c"], "gold": "a", "moves": [
            {"agent": "x", "round": 0, "type": "propose", "answer": said}]}
        for i, said in enumerate("aabccc")
    ]  # fmt: skip
    arm = fitted(Confusion(5.0, 0.6), calibration)
    asked = {
        "task": "q",
        "candidates": ["b", "a"],
        "moves": [{"agent": "x", "round": 0, "type": "propose", "answer": "a"}],
    }
    row_a, row_b = (2 + 5 * 0.6) / (2 + 1 + 5), (5 * 0.4) / 5  # pi[a,a] and pi[b,a] over {a, b}
    assert probabilities(arm, [asked]) == [close([row_b / (row_a + row_b), row_a / (row_a + row_b)])]


def test_rows_of_confusion_sum_to_one():
    arm = fitted(Confusion(), messy(9, n_labelled=25)[0])
    np.testing.assert_allclose(arm.confusion_.sum(axis=2), 1, rtol=0, atol=1e-12)
    assert arm.confusion_.shape == (len(arm.agents_), len(arm.classes_), len(arm.classes_))


@pytest.mark.parametrize("challenge", ["set", "ignore"])
def test_marginal_evidence_of_all_answers_sums_to_one(challenge):
    calibration, _ = messy(12, n_labelled=20)
    arm = fitted(Confusion(challenge=challenge, likelihood="marginal"), calibration)
    total = np.zeros(3)
    for pair in itertools.product("ABC", repeat=2):
        task = {"task": "t", "candidates": ["A", "B", "C"], "moves": [
            {"agent": "ada", "round": r, "type": "propose", "answer": a} for r, a in enumerate(pair)]}  # fmt: skip
        total += np.exp(arm._contributions(Traces.from_records([task])).agents["ada"])
    assert total.tolist() == close([1, 1, 1])


# Classes that data do not cover


def test_a_gold_class_that_nobody_ever_says_gets_only_its_prior():
    """A class that is gold but never voted must not swallow tasks without a vote for it."""
    traces = Traces.from_votes([["x", "y"], ["x", "x"], ["y", "y"], ["x", "x"]], classes=["x", "y", "z"])
    arm = Confusion().fit(traces, ["z", "x", "y", None])
    p = arm.predict_proba(traces)
    assert np.isfinite(p).all()
    assert (p[1:, 2] < 0.3).all()
    assert arm.predict(traces[[1, 2, 3]]).tolist() == ["x", "y", "x"]


def test_a_class_unseen_in_fit_has_its_prior_row():
    arm = Confusion(5.0, 0.6).fit(Traces.from_votes([["a", "b"], ["b", "b"]], agents=["x", "y"]), ["a", "b"])
    traces = Traces.from_records([{"task": 1, "candidates": ["a", "new"], "moves": [
        {"agent": "x", "round": 0, "type": "propose", "answer": "new"}]}])  # fmt: skip
    row_a, row_new = 2.0 / 6, 0.6
    expected = [row_a / (row_a + row_new), row_new / (row_a + row_new)]
    frame = arm.predict_candidates(traces)
    assert dict(zip(frame["candidate"], frame["probability"], strict=True)) == close(
        dict(zip(["a", "new"], expected, strict=True))
    )
    assert arm.predict(traces).tolist() == ["new"]


def test_classes_that_fit_met_none_of_are_said():
    """Classes 1, 2 in fit and "1", "2" afterwards would silently use no record at all."""
    arm = Confusion().fit([[1, 2], [2, 2]], [1, 2])
    for other in ([["1", "2"]], [["b", "a"]]):
        with pytest.warns(
            TraceWarning, match="none of these candidates .* was a class in fit .*name classes as in fit"
        ):
            arm.predict(Traces.from_votes(other))


def test_too_many_cells_name_the_sizes_and_a_remedy():
    n = 1_300
    traces = Traces.from_votes(np.arange(n)[:, None] * np.ones((1, 250), int), classes=n)
    with pytest.raises(TraceError, match=r"250 agents x 1,300 gold classes x 1,300 classes; use PerAgent"):
        Confusion().fit(traces, np.arange(n))


def test_1200_agents_and_56_classes_take_no_squared_memory():
    rng = np.random.default_rng(0)
    gold = rng.integers(56, size=6)
    votes = np.where(rng.random((6, 1200)) < 0.1, gold[:, None], rng.integers(56, size=(6, 1200)))
    traces = Traces.from_votes(votes, classes=56)
    p = Confusion().fit(traces, gold).predict_proba(traces)
    assert np.isfinite(p).all()
    assert (p.argmax(axis=1) == gold).all()


# Numbers


def test_nearly_certain_rows_keep_their_digits():
    """1 - pi of a cell that holds nearly all: total minus cell would lose it."""
    counts = np.array([[[1e12, 0.0], [0.0, 5.0]]])
    x, nothing = np.array([[1.0, 0.0]]), np.zeros((1, 2))
    value = confusion_terms(counts, nothing, x, 1e-6, 0.6, "set", "plugin")[0, 0]
    assert value == pytest.approx(math.log(4e-7 / (1e12 + 1e-6)), rel=1e-14)


@pytest.mark.parametrize(("name", "value"), [("prior_accuracy", 1.0), ("prior_accuracy", 0.0), ("prior_accuracy", "x")])
def test_a_bad_prior_accuracy_is_named(name, value):
    with pytest.raises(TraceError, match=r"^prior_accuracy = .*use a number above 0, below 1"):
        Confusion(**{name: value}).fit([[0, 1]], [0])


def test_an_unfitted_arm_says_so():
    for use in (lambda a: a.predict([[0, 1]]), lambda a: a.profile_, lambda a: a.confusion_):
        with pytest.raises(ValueError, match=r"this Confusion is not fitted; call fit\(traces, labels\) first"):
            use(Confusion())
