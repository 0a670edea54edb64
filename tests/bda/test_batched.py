"""The batched grid against a loop that refits every setting on every fold, for every arm."""

import itertools
import random
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bda import BestMember, Confusion, EvidenceWarning, OneCoin, PerAgent, Plurality, TraceError, Traces, WeightedVote
from bda.batched import _padded, one_coin_inputs, out_of_fold_log_proba
from bda.labels import candidate_positions
from tests.bda import oracle


class Shouting(OneCoin):
    """An arm of a user's own: a subclass must not be taken for what it overrides."""

    def _log_proba(self, traces):
        return np.log(1 / traces.n_candidates[traces.candidate_task])


def grid(**axes):
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


PRIOR = dict(zip("ABCDEFGH", range(1, 9), strict=True))
STRENGTHS = [{"prior_strength": 1.0, "prior_accuracy": 0.4}, {"prior_strength": 10.0, "prior_accuracy": 0.8}]
# Every grid has two priors, so that grids share what is compiled.
GRIDS = {
    "OneCoin": (
        OneCoin(class_prior=PRIOR),
        grid(alpha=(2.0, 0.5), temperature=(1.0, 3.0), challenge=("composite", "set")),
    ),
    "PerAgent": (PerAgent(3.0), grid(kappa=(0.0, 5.0), temperature=(1.0, 3.0))),
    "PerAgent-views": (PerAgent(), grid(kappa=(5.0, 60.0), view=("all", "round0"), fit_view=("all", "last_vote"))),
    "PerAgent-class-prior": (PerAgent(), grid(kappa=(5.0, 20.0), class_prior=(None, PRIOR))),
    "Confusion": (
        Confusion(),
        [a | b for a in STRENGTHS for b in grid(temperature=(1.0, 3.0), challenge=("composite", "ignore"))],
    ),
    "Confusion-set": (
        Confusion(),
        [a | b for a in STRENGTHS for b in grid(challenge=("set",), likelihood=("marginal",))],
    ),
    "Confusion-views": (
        Confusion(),
        [a | b for a in STRENGTHS for b in grid(view=("round0", "all"), fit_view=("all", "last_vote"))],
    ),
    "WeightedVote": (WeightedVote(), grid(kappa=(0.0, 20.0))),
    "BestMember": (BestMember(), grid(kappa=(0.0, 20.0))),
    "Plurality": (Plurality(), grid(view=("all", "round0"))),
    "subclass": (Shouting(), grid(alpha=(2.0, 3.0))),
}


@pytest.fixture(scope="module")
def labelled():
    """Two blocks of labelled tasks that share some tasks, in three folds; K is 2 or 3."""
    rng = random.Random(3)
    tasks = [
        oracle.random_task(rng, f"t{i}", candidates=rng.sample("ABC", rng.choice((2, 3))), labelled=1.0)
        for i in range(20)
    ]
    traces = Traces.from_records(tasks)[[*range(12), *range(6, 20)]]
    block = np.repeat([0, 1], [12, 14])
    fold = np.random.default_rng(0).permuted(np.arange(26) % 3)
    return traces, candidate_positions(traces, np.arange(26), traces.gold), block, fold


def loop(arm, settings, traces, block, fold):
    result = np.full((len(settings), len(traces.candidate_class)), np.nan)
    for b, f in set(zip(block.tolist(), fold.tolist(), strict=True)):
        known = traces[np.flatnonzero((block == b) & (fold != f))]
        held = np.flatnonzero((block == b) & (fold == f))
        for i, setting in enumerate(settings):
            fresh = type(arm)(**{**arm.get_params(), **setting}).fit(known)
            result[i, np.isin(traces.candidate_task, held)] = fresh.log_proba(traces[held])
    return result


@pytest.mark.parametrize("name", GRIDS)
def test_the_grid_equals_refitting(name, labelled):
    traces, gold, block, fold = labelled
    arm, settings = GRIDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        found = out_of_fold_log_proba(arm, settings, traces, gold, block, fold)
        expected = loop(arm, settings, traces, block, fold)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    if name != "subclass":  # no setting was ignored
        assert len({row.tobytes() for row in found.round(9)}) > len(settings) / 2


def test_a_bad_setting_is_named(labelled):
    traces, gold, block, fold = labelled
    with pytest.raises(TraceError, match=r"alpha = -1\.0 is out of range"):
        out_of_fold_log_proba(OneCoin(), [{"alpha": 2.0}, {"alpha": -1.0}], traces, gold, block, fold)


def test_the_flag_of_float64_is_left_alone(labelled):
    """The grids enter float64 for themselves; the rest of the process keeps its own precision."""
    traces, gold, block, fold = labelled
    assert not jax.config.jax_enable_x64
    for name in ("PerAgent", "Confusion"):
        arm, settings = GRIDS[name]
        out_of_fold_log_proba(arm, settings, traces, gold, block, fold)
        arm.fit(traces).predict_proba(traces)
    assert not jax.config.jax_enable_x64
    assert jnp.asarray(1.5).dtype == jnp.float32


def test_another_number_of_tasks_has_the_same_shape(labelled):
    """What is compiled depends on the shapes and on the static sizes alone."""
    traces = labelled[0]
    shapes = []
    for n in (17, 18, 20):
        padded = _padded(one_coin_inputs(traces[np.arange(n)]))
        leaves, structure = jax.tree_util.tree_flatten(padded)
        shapes.append(([leaf.shape for leaf in leaves], structure))
    assert shapes[0] == shapes[1] == shapes[2]
    assert all(size & (size - 1) == 0 for shape in shapes[0][0] for size in shape)
