"""The one-coin arms against the oracle, and every fact about them that can be worked out by hand."""

import itertools
import math
import random
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import EvidenceWarning, OneCoin, PerAgent, Plurality, TraceError, Traces, TraceWarning
from bda.beta_integrals import log_evidence
from tests.bda import oracle
from tests.bda.cases import CLASSES, READINGS, VIEWS, close, fitted, messy, probabilities, seen_as

COUNTS = st.sampled_from([(0.5, 0.5), (2.0, 1.0), (3.0, 20.0), (7.0, 2.5)])
TAUS = st.sampled_from([0.5, 1.0, 3.0])
PRIORS = st.sampled_from([None, dict(zip(CLASSES, (1, 2, 3, 4, 5, 6, 7, 8), strict=True))])


def votes(*names, agents=None):
    """One task, one endorsement an agent."""
    return Traces.from_votes([list(names)], classes=list(CLASSES[:4]), agents=agents)


def repeated(answer, n, k, agent="ada"):
    """One agent that endorses the same answer n times, once a round."""
    moves = [{"agent": agent, "round": r, "type": "propose", "answer": answer} for r in range(n)]
    candidates = [*CLASSES, *(f"I{i}" for i in range(k))][:k]
    return {"task": f"{answer}{n}", "candidates": candidates, "moves": moves}


def log_odds(p, first=0, second=1):
    return math.log(p[first] / p[second])


# Against the oracle


@given(st.integers(0, 2**32), COUNTS, TAUS, st.sampled_from(READINGS), st.sampled_from(VIEWS), PRIORS)
def test_one_coin_equals_the_oracle_on_messy_traces(seed, counts, tau, challenge, view, prior):
    _, tasks = messy(seed, n=3, n_labelled=0)
    arm = OneCoin(*counts, tau, challenge, prior, view=view)
    expected = [oracle.posterior(t, oracle.one_coin_evidence(t, *counts, challenge, view), tau, prior) for t in tasks]
    assert probabilities(arm, tasks) == [close(p) for p in expected]


@given(
    st.integers(0, 2**32), COUNTS, st.sampled_from([0.0, 4.0, 60.0]), TAUS, st.sampled_from(READINGS),
    st.sampled_from(VIEWS), st.sampled_from(VIEWS), PRIORS,
)  # fmt: skip
def test_per_agent_equals_the_oracle_on_messy_traces(seed, counts, kappa, tau, challenge, view, fit_view, prior):
    calibration, tasks = messy(seed, n=3)
    arm = fitted(PerAgent(*counts, kappa, tau, challenge, prior, view, fit_view), calibration)
    own = oracle.per_agent_prior(calibration, oracle.agents_of(*tasks), *counts, kappa, challenge, fit_view)
    expected = [oracle.posterior(t, oracle.per_agent_evidence(t, own, challenge, view), tau, prior) for t in tasks]
    assert probabilities(arm, tasks) == [close(p) for p in expected]


@pytest.mark.parametrize("challenge", READINGS)
@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 1.0), (0.5, 3.0)])
def test_evidence_equals_quadrature(challenge, alpha, beta):
    """No closed form on the other side: the moves' probabilities are integrated over theta."""
    said = [("propose", "A"), ("propose", "A"), ("propose", "B"), ("challenge", "C"), ("challenge", "A")]
    moves = [{"agent": "ada", "round": r, "type": kind, "answer": a} for r, (kind, a) in enumerate(said)]
    moves = [move | ({"target": "bo"} if move["type"] == "challenge" else {}) for move in moves]
    task = {"task": "t", "candidates": ["A", "B", "C"], "moves": moves}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        parts = OneCoin(alpha, beta, challenge=challenge)._contributions(Traces.from_records([task]))
    expected = oracle.one_coin_evidence_quad(task, Fraction(alpha), Fraction(beta), challenge)
    assert parts.agents["ada"].tolist() == close(expected["ada"])


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_what_it_shows(view):
    """Deciding on a view equals deciding on all of a trace that holds only what the view shows."""
    for seed in range(5):
        _, tasks = messy(seed, n=6, n_labelled=0)
        assert probabilities(OneCoin(view=view), tasks) == [
            close(p) for p in probabilities(OneCoin(), [seen_as(t, view) for t in tasks])
        ]


def test_fit_on_all_moves_and_decide_on_round_0():
    calibration, tasks = messy(7, n=8)
    arm = fitted(PerAgent(fit_view="all", view="round0"), calibration)
    record = oracle.right_wrong(calibration)
    assert dict(zip(arm.agents_, arm.reliability_.right.tolist(), strict=True)) == {
        a: r for a, (r, _) in record.items()
    }
    first = [seen_as(t, "round0") for t in tasks]
    whole = fitted(PerAgent(), calibration)
    assert probabilities(arm, tasks) == [close(p) for p in probabilities(whole, first)]
    assert probabilities(arm, tasks) != [close(p) for p in probabilities(whole, tasks)]


# One endorsement an agent: a weighted vote


@pytest.mark.parametrize("k", [2, 3, 4, 7])
def test_single_endorsements_are_a_weighted_vote(k):
    """log p(k) is the sum of ln(alpha_i (K-1) / beta_i) over the agents that endorse k, up to a constant."""
    calibration = [
        {"task": f"c{i}", "candidates": list(CLASSES[:k]), "gold": "A", "moves": [
            {"agent": a, "round": 0, "type": "propose", "answer": "A" if i < right else "B"}
            for a, right in (("ada", 9), ("bo", 5), ("cy", 1))
        ]} for i in range(10)
    ]  # fmt: skip
    arm = fitted(PerAgent(2.0, 1.0, kappa=20.0), calibration)
    weight = {
        a: math.log((2 + 20 * r) * (k - 1) / (1 + 20 * (1 - r))) for a, r in (("ada", 0.9), ("bo", 0.5), ("cy", 0.1))
    }
    assert arm.profile_["weight"].tolist() == close([weight[a] for a in ("ada", "bo", "cy")])
    for said in list(itertools.product(CLASSES[:k], repeat=3))[:: max(1, k**3 // 40)]:
        moves = [
            {"agent": a, "round": 0, "type": "propose", "answer": c}
            for a, c in zip(("ada", "bo", "cy"), said, strict=True)
        ]
        score = [sum(weight[m["agent"]] for m in moves if m["answer"] == c) for c in CLASSES[:k]]
        expected = np.exp(score) / np.exp(score).sum()
        assert probabilities(arm, [{"task": "t", "candidates": list(CLASSES[:k]), "moves": moves}]) == [
            close(expected.tolist())
        ]


@pytest.mark.parametrize("k", [2, 3, 5])
def test_an_agent_below_chance_counts_against_what_it_says(k):
    below, at_chance = OneCoin(1.0, k - 0.5), OneCoin(1.0, k - 1.0)
    p = probabilities(below, [repeated("A", 1, k)])[0]
    assert p[0] < p[1]
    assert probabilities(at_chance, [repeated("A", 1, k)])[0] == close([1 / k] * k)


def test_equal_positive_weights_are_plurality():
    rng = np.random.default_rng(0)
    traces = Traces.from_votes(rng.integers(-1, 4, size=(300, 6)), classes=4)
    ours, counted = OneCoin(2.0, 1.0), Plurality()
    best = [set(np.flatnonzero(np.isclose(row, row.max()))) for row in ours.predict_proba(traces)]
    most = [set(np.flatnonzero(np.isclose(row, row.max()))) for row in counted.predict_proba(traces)]
    assert best == most
    assert (ours.predict(traces) == counted.predict(traces)).all()


@pytest.mark.parametrize("k", [2, 3, 4, 10, 50])
def test_the_default_prior_believes_what_is_said_at_every_k(k):
    for n in (1, 6):
        p = probabilities(OneCoin(), [repeated("A", n, k), {**repeated("B", 1, k), "task": "b"}])
        assert p[0][0] > 1.3 / k
        assert p[1].index(max(p[1])) == 1


def test_one_agent_is_believed_as_far_as_its_prior_reliability():
    assert probabilities(OneCoin(3.0, 1.0), [repeated("A", 1, 2)]) == [close([0.75, 0.25])]


def test_two_agents_that_always_disagree_leave_the_prior():
    traces = Traces.from_votes([[0, 1], [1, 0]] * 10)
    assert (OneCoin().predict_proba(traces) == 0.5).all()
    learnt = PerAgent().fit(traces, [0, 1] * 10).predict_proba(traces)
    assert np.isfinite(learnt).all()
    assert (learnt[::2, 0] > 0.9).all()


def test_a_single_vote_moves_the_posterior():
    traces = Traces.from_votes(np.where(np.eye(50, 200, dtype=bool), 1, -1), classes=3)
    assert (OneCoin().predict_proba(traces)[:, 1] > 0.5).all()


# Repeats


@pytest.mark.parametrize(("n", "weight"), [(1, -0.80), (6, -2.16), (15, 0.05)])
def test_repeats_from_below_chance_turn_positive(n, weight):
    with warnings.catch_warnings():
        warnings.simplefilter("error" if n < 15 else "ignore", EvidenceWarning)
        p = np.exp(OneCoin(3.0, 20.0).log_proba(Traces.from_records([repeated("A", n, 4)])))
    assert round(log_odds(p), 2) == weight


@pytest.mark.parametrize("k", [2, 3, 4, 9])
@pytest.mark.parametrize(("alpha", "beta"), [(3.0, 20.0), (2.0, 1.0), (0.5, 0.5)])
def test_n_equal_endorsements_weigh_what_the_formula_says(k, alpha, beta):
    """ln B(alpha+n, beta) - ln B(alpha, beta+n) + n ln(K-1)."""

    def ln_beta(a, b):
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

    for n in (1, 2, 7, 40):
        expected = ln_beta(alpha + n, beta) - ln_beta(alpha, beta + n) + n * math.log(k - 1)
        p = probabilities(OneCoin(alpha, beta, temperature=4.0), [repeated("A", n, k)])[0]
        assert 4 * log_odds(p) == close(expected, 1e-9)
        assert 4 * log_odds(p) == close(oracle.repeated_weight(alpha, beta, k, n), 1e-9)


def test_a_trace_beyond_the_turning_n_warns_and_last_vote_is_the_remedy():
    arm = OneCoin(3.0, 20.0)
    arm.predict_proba(Traces.from_records([repeated("A", 14, 4)]))
    beyond = Traces.from_records([repeated("B", 3, 4), repeated("A", 15, 4)])
    with pytest.warns(
        EvidenceWarning, match=r"'ada', below chance, endorses one answer 15 times on task 'A15': from 15.*last_vote"
    ):
        turned = arm.predict_proba(beyond)[1]
    assert turned.argmax() == 0
    assert arm.set_params(view="last_vote").predict_proba(beyond)[1].argmin() == 0


def test_the_warning_does_not_depend_on_the_order_of_tasks():
    tasks = [repeated("A", 3, 4), repeated("A", 15, 4), repeated("B", 15, 3)]
    for order in itertools.permutations(tasks):
        with pytest.warns(EvidenceWarning, match="below chance"):
            OneCoin(3.0, 20.0).predict(Traces.from_records(order))


def test_repeats_above_chance_and_at_two_candidates_never_warn():
    OneCoin(2.0, 1.0).predict(Traces.from_records([repeated("A", 500, 4)]))
    OneCoin(3.0, 20.0).predict(Traces.from_records([repeated("A", 500, 2)]))


def test_repeats_of_one_agent_are_not_several_agents():
    """Five repeats of one agent weigh more than one vote of it but less than five agents."""
    five = log_odds(probabilities(OneCoin(), [repeated("A", 5, 3)])[0])
    agents = Traces.from_votes([["A"] * 5], classes=["A", "B", "C"])
    assert log_odds(probabilities(OneCoin(), [repeated("A", 1, 3)])[0]) < five
    assert five == close(oracle.repeated_weight(2, 1, 3, 5))
    assert log_odds(probabilities(OneCoin(), agents)[0]) == close(5 * math.log(2 * 2 / 1))


# Symmetric prior, ceiling


@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
@pytest.mark.parametrize("challenge", READINGS)
def test_symmetric_prior_at_two_candidates_keeps_the_class_prior(alpha, challenge):
    rng = random.Random(1)
    tasks = [oracle.random_task(rng, f"t{i}", candidates="AB") for i in range(20)]
    for prior, expected in ((None, [0.5, 0.5]), ({"A": 3, "B": 1}, [0.75, 0.25])):
        arm = OneCoin(alpha, alpha, 1.0, challenge, prior)
        for task, p in zip(tasks, probabilities(arm, tasks), strict=True):
            assert dict(zip(task["candidates"], p, strict=True)) == close(dict(zip("AB", expected, strict=True)))


@pytest.mark.parametrize("k", [3, 4, 8])
@pytest.mark.parametrize("alpha", [0.5, 1.0, 4.0])
def test_symmetric_prior_at_more_candidates_concentrates(k, alpha):
    tops = [probabilities(OneCoin(alpha, alpha), [repeated("A", n, k)])[0][0] for n in (1, 4, 16, 64)]
    assert tops == sorted(tops)
    assert tops[-1] > 1 - 1e-9
    crowd = [
        probabilities(OneCoin(alpha, alpha), Traces.from_votes([[0] * n], classes=k))[0][0] for n in (1, 4, 16, 64)
    ]
    assert crowd == sorted(crowd)
    assert crowd[-1] > 1 - 1e-9


@pytest.mark.parametrize("p", [0.6, 0.9, 0.25])
def test_ceiling_of_one_agent_at_two_candidates(p):
    """Log odds tend to (alpha-beta) ln(p/(1-p)) / tau plus the prior log odds, however many moves."""
    councils = [(n, Traces.from_frame(_frame(round(n * p), n - round(n * p)))) for n in (100, 2_000, 40_000)]
    for alpha, beta, tau in ((4.0, 1.0, 1.0), (3.0, 2.0, 2.0), (1.0, 2.5, 1.0)):
        limit = (alpha - beta) * math.log(p / (1 - p)) / tau + math.log(3)
        arm = OneCoin(alpha, beta, tau, class_prior={"A": 3, "B": 1})
        gaps = [abs(log_odds(probabilities(arm, council)[0]) - limit) for _, council in councils]
        assert all(gap < 100 / n for gap, (n, _) in zip(gaps, councils, strict=True))
        assert gaps[0] > gaps[1] > gaps[2]


def _frame(right, wrong):
    return pd.DataFrame({"task": "q", "agent": "ada", "answer": ["A"] * right + ["B"] * wrong})


@pytest.mark.parametrize(("alpha", "beta"), [(4.0, 1.0), (3.0, 2.0), (0.5, 2.0)])
def test_no_ceiling_without_a_single_inconsistent_move(alpha, beta):
    """p = 1: (alpha-beta) ln n + lnGamma(beta) - lnGamma(alpha)."""
    for n, near in ((1_000, 1e-1), (1_000_000, 1e-4)):
        values = log_evidence(2, np.array([n, 0]), n, 0, 0, alpha, beta, "composite")
        expected = (alpha - beta) * math.log(n) + math.lgamma(beta) - math.lgamma(alpha)
        assert values[0] - values[1] == pytest.approx(expected, abs=near)


@pytest.mark.parametrize("theta", [0.6, 0.75])
@pytest.mark.parametrize("council", ["agents", "moves"])
def test_map_error_falls_exponentially(theta, council):
    """C.3: K = 2, theta > 1/2, alpha > beta; n agents with one move each, or one agent with n moves."""
    sizes, errors = (9, 25, 49, 81), []
    for n in sizes:
        right = np.arange(n + 1)
        if council == "agents":
            traces = Traces.from_votes([[0] * r + [1] * (n - r) for r in right])
        else:
            moves = [["A"] * r + ["B"] * (n - r) for r in right]
            traces = Traces.from_records(
                [{"task": r, "candidates": ["A", "B"], "moves": [
                    {"agent": "ada", "round": i, "type": "propose", "answer": a} for i, a in enumerate(m)]}
                 for r, m in enumerate(moves)]
            )  # fmt: skip
        p_right = np.array([p[0] for p in probabilities(OneCoin(3.0, 2.0), traces)])
        chance = np.array([math.comb(n, int(r)) * theta**r * (1 - theta) ** (n - r) for r in right])
        errors.append(float(chance[p_right < 0.5].sum()))
    rate = 2 * math.sqrt(theta * (1 - theta))
    assert all(error <= rate**n for error, n in zip(errors, sizes, strict=True))
    slopes = np.diff(np.log(errors)) / np.diff(sizes)
    assert (slopes < math.log(rate)).all()  # at least this fast, and no faster than with the 1/sqrt(n) of Stirling
    assert (slopes > math.log(rate) - 0.06).all()


# Readings


@pytest.mark.parametrize("seed", range(10))
def test_readings_agree_at_two_candidates(seed):
    task = oracle.random_task(random.Random(seed), candidates="AB")
    first, *others = (probabilities(OneCoin(4.0, 1.5, challenge=c), [task])[0] for c in ("composite", "set", "exact"))
    for other in others:
        assert other == close(first)


def test_exact_warns_where_a_challenge_supports_what_it_rejects():
    """alpha / (alpha + beta) < (K-1)/K; at K = 3 the border is 2/3."""
    task = {"task": "t", "candidates": ["A", "B", "C"], "moves": [
        {"agent": "ada", "round": 0, "type": "challenge", "target": "bo", "answer": "A"}]}  # fmt: skip
    traces = Traces.from_records([task])
    with pytest.warns(EvidenceWarning, match=r"'ada' has mean reliability below \(K-1\)/K"):
        supported = OneCoin(1.9, 1.0, challenge="exact").predict_proba(traces)[0]
    assert supported[0] > supported[1]
    assert OneCoin(2.0, 1.0, challenge="exact").predict_proba(traces)[0].tolist() == close([1 / 3] * 3)
    rejected = OneCoin(2.1, 1.0, challenge="exact").predict_proba(traces)[0]
    assert rejected[0] < rejected[1]
    for other in ("set", "composite"):
        p = OneCoin(1.9, 1.0, challenge=other).predict_proba(traces)[0]
        assert p[0] < p[1]
    OneCoin(1.9, 1.0, challenge="exact").predict(votes("A", "B"))  # no challenge, nothing to warn of


def test_ignore_drops_challenges_from_the_record_too():
    calibration, tasks = messy(11, n=5)
    stripped = [
        [{**t, "moves": [m for m in seen_as(t, "all")["moves"] if m["type"] == "propose"]} for t in group]
        for group in (calibration, tasks)
    ]
    arm, plain = fitted(PerAgent(challenge="ignore"), calibration), fitted(PerAgent(), stripped[0])
    known = dict(zip(arm.agents_, arm.reliability_.right.tolist(), strict=True))
    assert {a: known[a] for a in plain.agents_} == dict(
        zip(plain.agents_, plain.reliability_.right.tolist(), strict=True)
    )
    assert sum(known.values()) < fitted(PerAgent(), calibration).reliability_.right.sum()
    assert probabilities(arm, tasks) == [close(p) for p in probabilities(plain, stripped[1])]


# Class prior and temperature


def test_class_prior_is_renormalised_over_candidates_and_never_tempered():
    tasks = [
        {"task": 1, "candidates": ["A", "B"], "moves": []},
        {"task": 2, "candidates": ["C", "A", "B"], "moves": []},
        {"task": 3, "candidates": ["A", "B"], "moves": [{"agent": "x", "round": 0, "type": "propose", "answer": "A"}]},
    ]
    arm = OneCoin(3.0, 1.0, temperature=2.0, class_prior={"A": 1, "B": 4, "C": 5, "Z": 90})
    p = probabilities(arm, tasks)
    assert p[0] == close([0.2, 0.8])
    assert p[1] == close([0.5, 0.1, 0.4])
    assert p[2][0] / p[2][1] == close(math.sqrt(3) / 4)


def test_class_prior_may_exclude_a_candidate_but_not_all():
    traces = Traces.from_votes([["a", "a", "b"]], tasks=["q7"])
    assert OneCoin(class_prior={"a": 0, "b": 2}).predict_proba(traces).tolist() == [[0.0, 1.0]]
    with pytest.raises(TraceError, match=r"task 'q7'.*gives no weight to any candidate.*positive weight"):
        OneCoin(class_prior={"a": 0, "b": 0}).predict_proba(traces)


def test_class_prior_weights_need_no_common_scale():
    traces = Traces.from_votes([["a", "b"]], classes=["a", "b", "c"])
    p = OneCoin(class_prior={"a": 1e-300, "b": 3e-300, "c": 0}).predict_proba(traces)
    assert p.tolist() == [close([0.25, 0.75, 0.0])]
    p = OneCoin(class_prior={"a": 1e308, "b": 1e308, "c": 1e308}).predict_proba(
        Traces.from_votes([[-1]], classes=["a", "b", "c"])
    )
    assert p.tolist() == [close([1 / 3] * 3)]


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "0.5", None, True])
def test_a_bad_class_prior_is_named(weight):
    with pytest.raises(TraceError, match=r"class_prior = .* is not a prior weight of class 'b'.*map every class"):
        OneCoin(class_prior={"a": 1, "b": weight}).predict(Traces.from_votes([["a", "b"]]))
    with pytest.raises(TraceError, match=r"class_prior = .* is not a mapping"):
        OneCoin(class_prior=[0.5, 0.5]).predict(Traces.from_votes([["a", "b"]]))


def test_mixed_k_gives_each_task_its_own_spread():
    tasks = [repeated("A", 1, k) for k in (2, 3, 6)]
    tasks = [{**t, "task": i} for i, t in enumerate(tasks)]
    assert probabilities(OneCoin(2.0, 1.0), tasks) == [close([2 / 3] + [1 / 3 / (k - 1)] * (k - 1)) for k in (2, 3, 6)]


# Per agent


def test_kappa_zero_is_the_shared_model():
    calibration, tasks = messy(5, n=10)
    for challenge in READINGS:
        ours = fitted(PerAgent(3.0, 2.0, kappa=0.0, challenge=challenge), calibration)
        assert probabilities(ours, tasks) == probabilities(OneCoin(3.0, 2.0, challenge=challenge), tasks)


def test_kappa_is_not_scaled_by_the_number_of_moves():
    few, many = (Traces.from_votes([[0]] * n, classes=2, agents=["ada"]) for n in (1, 100))
    arms = [PerAgent(kappa=20.0).fit(t, [0] * len(t)) for t in (few, many)]
    assert arms[0].profile_["weight"].item() == arms[1].profile_["weight"].item() == close(math.log(22))


def test_an_agent_unseen_in_fit_keeps_the_prior_mean_with_strength_kappa():
    arm = PerAgent(3.0, 1.0, kappa=4.0).fit(Traces.from_votes([[0, 1]] * 2, agents=["ada", "bo"]), [0, 0])
    p = arm.predict_proba(Traces.from_votes([[-1, 0, 0]], classes=2, agents=["bo", "new", "old"]))
    assert p[0, 0] / p[0, 1] == close(3.0**2)


def test_an_agent_without_a_labelled_move_has_the_prior():
    traces = Traces.from_votes([[0, -1], [1, -1], [0, 0]], agents=["ada", "bo"])
    arm = PerAgent(3.0, 1.0).fit(traces, [0, 1, None])
    assert arm.reliability_.right.tolist() == [2, 0]
    assert np.isnan(arm.reliability_.chance[1])
    alpha, beta = arm._prior_counts(2, np.arange(2))
    assert alpha[1] / beta[1] == close(3.0)


def test_agents_that_fit_met_none_of_are_said():
    """Names lost on the way, a frame on one side and an array on the other, would silently give everyone the prior."""
    arm = PerAgent().fit(Traces.from_votes([[0, 1]] * 3, agents=["ada", "bo"]), [0, 0, 0])
    with pytest.warns(TraceWarning, match=r"none of these agents \(such as 0\) was met in fit \(such as 'ada'\)"):
        arm.predict(np.array([[0, 1]]))
    arm.predict(Traces.from_votes([[0, 1]], agents=["ada", "new"]))
    OneCoin().fit(Traces.from_votes([[0, 1]], agents=["ada", "bo"])).predict(np.array([[0, 1]]))


# Parameters


@pytest.mark.parametrize("name", ["alpha", "beta", "temperature"])
@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "2", None, True, 1j])
def test_a_bad_parameter_is_named(name, value):
    with pytest.raises(TraceError, match=rf"^{name} = .*use a number above 0"):
        OneCoin(**{name: value}).predict([[0, 1]])


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf"), "2", None, False])
def test_a_bad_kappa_is_named(value):
    with pytest.raises(TraceError, match=r"^kappa = .*use a number from 0 on"):
        PerAgent(kappa=value).fit([[0, 1]], [0])


@pytest.mark.parametrize(
    ("name", "value"), [("challenge", "loose"), ("view", "round1"), ("fit_view", 0), ("challenge", None)]
)
def test_a_bad_option_is_named_with_the_good_ones(name, value):
    with pytest.raises(TraceError, match=rf"^{name} = .* is not (an option; use composite|a view; use all)"):
        OneCoin(**{name: value}).predict([[0, 1]])


@pytest.mark.parametrize("value", [None, 1.5, "0", True])
def test_a_bad_seed_is_named(value):
    with pytest.raises(TraceError, match=r"^random_state = .* is not an integer"):
        OneCoin(random_state=value).predict([[0, 1]])


def test_numpy_numbers_are_numbers():
    ours = OneCoin(np.float32(2), np.int64(1), np.float64(1.5), random_state=np.int32(3))
    assert ours.predict_proba([[0, 0, 1]]).tolist() == OneCoin(2, 1, 1.5).predict_proba([[0, 0, 1]]).tolist()
