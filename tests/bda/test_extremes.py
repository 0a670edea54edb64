"""Crowds of 500, a million moves, prior counts from 1e-3 to 1e6: finite, and right to the digits mpmath gives."""

import math
import time

import mpmath
import numpy as np
import pandas as pd
import pytest

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, TraceError, Traces, WeightedVote
from bda.beta_integrals import log_beta_ratio, log_evidence, log_rising
from bda.confusion import confusion_terms
from bda.posteriors import log_posterior

ARMS = [Plurality(), BestMember(), WeightedVote(), OneCoin(), PerAgent(), Confusion()]
MP = mpmath.mp.clone()
MP.dps = 60

COUNTS = (1e-3, 1.0, 7.3, 1e6)


def named(arms):
    return [pytest.param(arm, id=type(arm).__name__) for arm in arms]


def exact_rising(a, n):
    return MP.loggamma(MP.mpf(a) + MP.mpf(n)) - MP.loggamma(MP.mpf(a))


def exact_evidence(k, e, endorsed, x, rejected, alpha, beta, challenge):
    """Return the log of the integral in 60 digits."""

    def ratio(right, wrong):
        return (
            exact_rising(alpha, right)
            + exact_rising(beta, wrong)
            - exact_rising(MP.mpf(alpha) + MP.mpf(beta), right + wrong)
        )

    wrong, missed = endorsed - e + x, rejected - x
    spread = MP.log(k - 1)
    if challenge == "set":
        terms = [
            MP.binomial(missed, j) * MP.mpf(k - 2) ** (missed - j) * MP.exp(ratio(e + j, wrong))
            for j in range(missed + 1)
        ]
        return MP.log(MP.fsum(terms)) - (wrong + 2 * missed) * spread
    others = endorsed - e + (missed if challenge == "exact" else x)
    return ratio(e + missed, wrong) - others * spread


# The special functions


@pytest.mark.parametrize("a", [1e-8, 1e-3, 0.5, 1.0, 2.0, 7.999, 8.0, 123.4, 1e6, 1e12])
@pytest.mark.parametrize("n", [1, 2, 9, 1_000, 10**6, 10**12, 0.3])
def test_log_rising_against_60_digits(a, n):
    value, expected = float(log_rising(a, n)), exact_rising(a, n)
    assert abs(value - expected) <= 4e-15 * abs(expected) + 1e-15


def test_no_moves_are_exactly_no_evidence():
    assert (log_rising(np.array([1e-8, 1.0, 1e12]), 0) == 0).all()
    counts = np.array(COUNTS)
    assert (log_beta_ratio(counts[:, None], counts, 0, 0) == 0).all()


@pytest.mark.parametrize("alpha", COUNTS)
@pytest.mark.parametrize("beta", COUNTS)
def test_evidence_against_60_digits(alpha, beta):
    cases = [
        (2, 1, 1, 0, 0), (3, 1, 2, 0, 0), (4, 0, 3, 2, 5), (10, 7, 7, 0, 40), (3, 1_000, 1_500, 0, 0),
        (5, 0, 10**6, 0, 0), (5, 10**6, 10**6, 0, 3), (2, 3, 5, 4, 9),
    ]  # fmt: skip
    for k, e, endorsed, x, rejected in cases:
        for challenge in ("composite", "set", "exact"):
            value = float(log_evidence(k, e, endorsed, x, rejected, alpha, beta, challenge))
            expected = exact_evidence(k, e, endorsed, x, rejected, alpha, beta, challenge)
            assert abs(value - expected) <= 1e-13 * abs(expected) + 1e-12, (k, e, endorsed, x, rejected, challenge)


@pytest.mark.parametrize("rejected", [100, 500])
def test_long_sums_of_set_challenges_against_60_digits(rejected):
    for k, x in ((3, 0), (6, 40)):
        value = float(log_evidence(k, 3, 5, x, rejected, 2.0, 1.0, "set"))
        expected = exact_evidence(k, 3, 5, x, rejected, 2.0, 1.0, "set")
        assert abs(value - expected) <= 1e-13 * abs(expected)


def test_small_differences_of_large_counts_survive():
    """ln B(1e6 + 1, 1e6) - ln B(1e6, 1e6): a difference of lgammas would keep six digits."""
    assert float(log_beta_ratio(1e6, 1e6, 1, 0)) == pytest.approx(math.log(0.5), rel=1e-15)
    value = float(log_beta_ratio(1e6, 1e6, 1, 0) - log_beta_ratio(1e6, 1e6, 0, 1))
    assert abs(value) < 1e-15


# Crowds and floods


@pytest.mark.parametrize("arm", named(ARMS))
def test_500_agents_on_one_task(arm):
    rng = np.random.default_rng(0)
    gold = rng.integers(4, size=30)
    votes = np.where(rng.random((30, 500)) < 0.6, gold[:, None], rng.integers(4, size=(30, 500)))
    traces = Traces.from_votes(votes, classes=4)
    arm.fit(traces, gold)
    log_p = arm.log_proba(traces)
    p = arm.predict_proba(traces)
    assert not np.isnan(log_p).any()
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    if not isinstance(arm, BestMember):  # one agent in a crowd is right as often as it is
        assert (arm.predict(traces) == gold).all()


@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 1.0), (1e-3, 1e-3), (1e6, 1e-3), (1e6, 1e6)])
def test_500_agents_against_60_digits(alpha, beta):
    votes = np.repeat([0, 1, 2], [170, 167, 163])[None, :]
    arm = OneCoin(alpha, beta, temperature=50.0)
    log_p = arm.log_proba(Traces.from_votes(votes, classes=3))
    weight = MP.log(MP.mpf(alpha) * 2 / MP.mpf(beta)) / 50
    assert log_p[0] - log_p[1] == pytest.approx(float(3 * weight), rel=1e-11, abs=1e-11)
    assert log_p[1] - log_p[2] == pytest.approx(float(4 * weight), rel=1e-11, abs=1e-11)


@pytest.fixture(scope="module")
def flood():
    """One agent with a million moves on one task, a second with two."""
    n = 10**6
    answers = np.repeat(["A", "B", "C"], [n // 2, n // 4, n // 4])
    frame = pd.DataFrame({"task": "q", "agent": "loud", "answer": answers})
    quiet = pd.DataFrame({"task": "q", "agent": "calm", "answer": ["B", "B"]})
    return Traces.from_frame(pd.concat([frame, quiet]), gold={"q": "B"})


@pytest.mark.parametrize(("alpha", "beta"), [(2.0, 1.0), (1e-3, 1e6), (1e6, 1e-3), (1e6, 1e6), (1e-3, 1e-3)])
def test_a_million_moves_of_one_agent_against_60_digits(flood, alpha, beta):
    log_p = OneCoin(alpha, beta, temperature=1e6, view="all").log_proba(flood)
    n = 10**6
    loud = [exact_evidence(3, e, n, 0, 0, alpha, beta, "composite") for e in (n // 2, n // 4, n // 4)]
    calm = [exact_evidence(3, e, 2, 0, 0, alpha, beta, "composite") for e in (0, 2, 0)]
    for a, b in ((0, 1), (1, 2)):
        expected = (loud[a] + calm[a] - loud[b] - calm[b]) / 10**6
        assert log_p[a] - log_p[b] == pytest.approx(float(expected), rel=1e-11, abs=1e-15)


@pytest.mark.filterwarnings("ignore:'loud', below chance:bda.EvidenceWarning")
@pytest.mark.parametrize("arm", named(ARMS))
def test_a_million_moves_of_one_agent_stay_finite(arm, flood):
    start = time.process_time()
    p = arm.fit(flood).predict_proba(flood)
    assert time.process_time() - start < 5
    assert np.isfinite(p).all()
    assert p.sum() == pytest.approx(1, abs=1e-12)
    verdict = arm.explain(flood, "q")
    assert all(math.isfinite(part.difference) for part in verdict.parts)


@pytest.mark.parametrize("challenge", ["composite", "set", "exact"])
def test_hundreds_of_challenges_of_one_agent(challenge):
    frame = pd.DataFrame(
        {"task": "q", "agent": "no", "answer": "A", "type": ["challenge"] * 300 + ["propose"], "target": "x"}
    )
    frame.loc[300, "answer"] = "B"
    frame.loc[300, "target"] = None
    log_p = OneCoin(30.0, 1.0, challenge=challenge).log_proba(Traces.from_frame(frame, classes=["A", "B", "C"]))
    expected = [exact_evidence(3, e, 1, x, 300, 30.0, 1.0, challenge) for e, x in ((0, 300), (1, 0), (0, 0))]
    assert log_p[1] - log_p[0] == pytest.approx(float(expected[1] - expected[0]), rel=1e-12)
    assert log_p[1] - log_p[2] == pytest.approx(float(expected[1] - expected[2]), rel=1e-10)


@pytest.mark.parametrize(
    "make", [lambda a, b: PerAgent(a, b), lambda a, b: WeightedVote(a, b), lambda a, b: BestMember(a, b)]
)
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e6])
def test_extreme_prior_counts_stay_finite_and_have_a_profile(make, alpha, beta):
    traces = Traces.from_votes([[0, 1, 0], [1, 1, 0], [2, 1, 2]], classes=3).with_gold([0, 1, 2])
    arm = make(alpha, beta).fit(traces)
    p = arm.predict_proba(traces)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.isfinite(arm.profile_[["mean", "low", "high", "weight"]]).all(axis=None)


@pytest.mark.parametrize("likelihood", ["plugin", "marginal"])
@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e6])
def test_confusion_against_60_digits(likelihood, strength):
    counts = np.array([[[1e6, 3.0, 0.0], [0.0, 2.0, 1e6], [5.0, 0.0, 0.0]]])
    e, x = np.array([[1e5, 0.0, 2.0]]), np.array([[0.0, 3.0, 0.0]])
    found = confusion_terms(counts, e, x, strength, 0.6, "composite", likelihood)[0]
    said = e[0] + x.sum() - x[0]
    for truth in range(3):
        cells = [MP.mpf(counts[0, truth, c]) + MP.mpf(strength) * MP.mpf(0.6 if c == truth else 0.2) for c in range(3)]
        total = MP.fsum(cells)
        if likelihood == "plugin":
            expected = MP.fsum(n * MP.log(c / total) for n, c in zip(said, cells, strict=True))
        else:
            expected = MP.fsum(exact_rising(c, n) for n, c in zip(said, cells, strict=True)) - exact_rising(
                total, said.sum()
            )
        assert float(found[truth]) == pytest.approx(float(expected), rel=1e-11)


def test_log_posterior_far_below_zero():
    """Evidence of -1e7 nats underflows as a probability, not as a logarithm."""
    evidence = np.array([-1e7, -1e7 - 3.0, -1e7 - 4000.0])
    log_p = log_posterior(evidence, 1.0, np.zeros(3), np.zeros(3, int), 1)
    assert log_p == pytest.approx([-math.log1p(math.exp(-3)), -3 - math.log1p(math.exp(-3)), -4000.0486], rel=1e-6)
    assert np.exp(log_p).sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("challenge", ["composite", "set", "exact"])
@pytest.mark.parametrize(("alpha", "beta"), [(1e300, 1.0), (1.0, 1e300), (1e-290, 1e-290), (1e-290, 1e300)])
def test_absurd_prior_counts_are_right_or_refused(challenge, alpha, beta):
    log_p = OneCoin(alpha, beta, challenge=challenge).log_proba(Traces.from_votes([[0, 1, 1]]))
    assert log_p[1] - log_p[0] == pytest.approx(float(MP.log(alpha) - MP.log(beta)), rel=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_float64_cannot_hold_is_an_error_not_a_nan():
    traces = Traces.from_votes([[0, 1, 1]], tasks=["q7"])
    for use in ("predict", "predict_proba", "log_proba", "decide", "predict_candidates"):
        with pytest.raises(TraceError, match=r"task = 'q7' OneCoin\(alpha=5e-324\) has no finite answer; use milder"):
            getattr(OneCoin(alpha=5e-324), use)(traces)
