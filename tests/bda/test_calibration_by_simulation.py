"""C.1: where the model holds, its posteriors are calibrated; where it does not, the same test says so.

A task is drawn as the model says: truth from pi0, a fresh theta ~ Beta(alpha, beta) for every (agent, task), moves
given theta. Then truth ~ posterior, so for every task the score s = ln p(truth) - sum_k p_k ln p_k has mean 0 and a
known variance: its standardised sum is a standard normal, and it is the derivative of the log loss in a temperature,
hence most sensitive to over- and under-confidence. A second statistic compares shares of truth with probabilities in
bins.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from bda import OneCoin, Traces
from tests.bda.cases import CLASSES

N_TASKS, N_AGENTS, N_MOVES = 4_000, 3, 3
ALPHA, BETA = 3.0, 2.0
ENOUGH = 4.0  # standard deviations: one false alarm in 16,000


def simulate(k, kinds, process, class_prior=None, seed=0):
    """Draw traces; `kinds` are the types of an agent's moves, `process` how a challenge is made."""
    rng = np.random.default_rng(seed)
    shape = (N_TASKS, N_AGENTS, N_MOVES)
    size = rng.choice(k, size=N_TASKS)
    weight = np.ones(len(CLASSES)) if class_prior is None else np.array([class_prior[c] for c in CLASSES])
    chance = np.where(np.arange(len(CLASSES)) < size[:, None], weight, 0.0)
    chance /= chance.sum(axis=1, keepdims=True)
    truth = (rng.random(N_TASKS)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    options, true = size[:, None, None], truth[:, None, None]

    def other_than(answer):
        return (answer + rng.integers(1, options, size=shape)) % options

    right = rng.random(shape) < rng.beta(ALPHA, BETA, size=shape[:2])[..., None]
    held = np.where(right, true, other_than(true))
    # exact: a right agent rejects a false answer, a wrong one the truth; set: it rejects what it does not hold
    rejected = np.where(right, other_than(true), true) if process == "exact" else other_than(held)
    proposes = np.isin(rng.choice(kinds, size=shape), "propose")
    frame = pd.DataFrame(
        {
            "task": np.repeat(np.arange(N_TASKS), N_AGENTS * N_MOVES),
            "agent": np.tile(np.repeat(["ada", "bo", "cy"], N_MOVES), N_TASKS),
            "answer": np.array(list(CLASSES))[np.where(proposes, held, rejected).ravel()],
            "type": np.where(proposes, "propose", "challenge").ravel(),
            "target": np.where(proposes, None, "nobody").ravel(),
        }
    )
    return Traces.from_frame(frame, candidates={n: list(CLASSES[:width]) for n, width in enumerate(size)}), truth


def probabilities(traces, challenge, class_prior=None):
    arm = OneCoin(ALPHA, BETA, challenge=challenge, class_prior=class_prior)
    return arm.predict_proba(traces)


def surprise(p, truth):
    """Return the standardised sum of ln p(truth) minus its expectation."""
    log_p = np.log(np.where(p > 0, p, 1.0))
    mean = (p * log_p).sum(axis=1)
    variance = (p * log_p**2).sum(axis=1) - mean**2
    return (log_p[np.arange(len(p)), truth] - mean).sum() / np.sqrt(variance.sum())


def misfit(p, truth, n_bins=10):
    """Return the p-value of a chi-squared comparison in bins of the probability of the likeliest candidate."""
    top = p.argmax(axis=1)
    stated = p[np.arange(len(p)), top]
    edges = np.unique(np.quantile(stated, np.linspace(0, 1, n_bins + 1))[1:-1].round(9))
    bins = np.searchsorted(edges, stated)
    hits, expected, variance, n = (np.bincount(bins, w) for w in (top == truth, stated, stated * (1 - stated), None))
    return chi2.sf(((hits - expected)[n > 0] ** 2 / variance[n > 0]).sum(), (n > 0).sum())


PRIOR = dict(zip(CLASSES, (8, 4, 2, 1, 1, 1, 1, 1), strict=True))
CALIBRATED = [
    pytest.param([2], ["propose"], "set", "composite", None, id="endorsements-K2"),
    pytest.param([2, 3, 5, 8], ["propose"], "set", "composite", None, id="endorsements-mixed-K"),
    pytest.param([2, 4, 6], ["propose"], "set", "composite", PRIOR, id="endorsements-class-prior"),
    pytest.param([2], ["propose", "challenge"], "set", "composite", None, id="challenges-composite-K2"),
    pytest.param([2, 3, 6], ["propose", "challenge"], "set", "set", None, id="challenges-set-mixed-K"),
    pytest.param([4], ["challenge"], "set", "set", PRIOR, id="challenges-set-class-prior"),
    pytest.param([2, 3, 6], ["propose", "challenge"], "exact", "exact", None, id="challenges-exact-mixed-K"),
]


@pytest.mark.parametrize(("k", "kinds", "process", "challenge", "prior"), CALIBRATED)
@pytest.mark.filterwarnings("ignore:challenge='exact':bda.EvidenceWarning")
def test_posteriors_are_calibrated_where_the_model_holds(k, kinds, process, challenge, prior):
    traces, truth = simulate(k, kinds, process, prior)
    p = probabilities(traces, challenge, prior)
    assert abs(surprise(p, truth)) < ENOUGH
    assert misfit(p, truth) > 1e-4


@pytest.mark.parametrize("process", ["set", "exact"])
@pytest.mark.parametrize("kinds", [["challenge"], ["propose", "challenge"]], ids="+".join)
def test_composite_challenges_above_two_candidates_are_not_calibrated(process, kinds):
    """The paper's composite likelihood counts a challenge in full for every rival: no probability model."""
    traces, truth = simulate([4], kinds, process)
    p = probabilities(traces, "composite")
    assert surprise(p, truth) < -3 * ENOUGH  # over-confident
    assert misfit(p, truth) < 1e-12


def test_a_temperature_absorbs_what_composite_over_counts():
    traces, truth = simulate([4], ["propose", "challenge"], "set")
    loss = {
        tau: -np.log(OneCoin(ALPHA, BETA, tau).predict_proba(traces)[np.arange(N_TASKS), truth]).mean()
        for tau in (1.0, 1.5)
    }
    assert loss[1.5] < loss[1.0] - 0.02


@pytest.mark.parametrize("tau", [0.7, 1.5])
def test_a_wrong_temperature_is_noticed(tau):
    traces, truth = simulate([2, 3, 5, 8], ["propose"], "set")
    z = surprise(OneCoin(ALPHA, BETA, tau).predict_proba(traces), truth)
    assert z * (tau - 1) > 0  # too cold: over-confident, too warm: under-confident
    assert abs(z) > ENOUGH


def test_one_reliability_an_agent_and_task_is_needed():
    """Moves of one (agent, task) share their theta: taken as moves of agents of their own, they over-count."""
    traces, truth = simulate([2, 3, 5], ["propose"], "set")
    frame = traces.to_frame()[["task", "agent", "answer"]]
    frame["agent"] += frame.groupby(["task", "agent"]).cumcount().astype(str)
    offered = {t: list(CLASSES[:k]) for t, k in zip(traces.task_ids, traces.n_candidates, strict=True)}
    apart = Traces.from_frame(frame, candidates=offered)
    assert abs(surprise(probabilities(traces, "composite"), truth)) < ENOUGH
    assert surprise(probabilities(apart, "composite"), truth) < -ENOUGH
