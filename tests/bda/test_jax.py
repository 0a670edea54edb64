"""The JAX form: equal to NumPy, differentiable, vectorised, jitted; in float64 or not at all."""

import random
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bda import Confusion, OneCoin, PerAgent, Traces
from bda.batched import one_coin_inputs, one_coin_log_posterior
from bda.confusion import confusion_terms
from tests.bda import oracle
from tests.bda.cases import CLASSES, messy

PRIOR = dict(zip(CLASSES, (1, 2, 3, 4, 5, 6, 7, 8), strict=True))
SETTINGS = np.array([[2.0, 1.0, 1.0], [0.5, 3.0, 2.0], [4.0, 0.7, 0.5]])


@pytest.fixture(scope="module")
def traces():
    rng = random.Random(5)
    return Traces.from_records([oracle.random_task(rng, f"t{i}") for i in range(12)])


@pytest.mark.filterwarnings("ignore:.*below chance:bda.EvidenceWarning")
def test_values_and_gradients_under_jit_and_vmap(traces):
    """Rows of SETTINGS are (alpha, beta, tau); "set" sums Beta integrals, so its gradient passes every branch."""

    def in_numpy(alpha, beta, tau):
        return OneCoin(alpha, beta, tau, "set", PRIOR).log_proba(traces)

    def first_and_all(setting, inputs):
        values = one_coin_log_posterior(inputs, setting[0], setting[1], setting[2], "set")
        return values[0], values

    slope_and_values = jax.vmap(jax.value_and_grad(first_and_all, has_aux=True), (0, None))
    with jax.enable_x64(True):
        (_, values), slopes = jax.jit(slope_and_values)(SETTINGS, one_coin_inputs(traces, "set", PRIOR))
        assert values.dtype == slopes.dtype == jnp.float64
    for setting, value, slope in zip(SETTINGS, np.asarray(values), np.asarray(slopes), strict=True):
        np.testing.assert_allclose(value, in_numpy(*setting), rtol=0, atol=1e-12)
        expected = finite_differences(lambda s: in_numpy(*s)[0], setting)
        assert slope.tolist() == pytest.approx(expected, rel=1e-7, abs=1e-8)
    assert np.abs(np.asarray(slopes)).max() > 0.01


def finite_differences(value, point, step=1e-5):
    moves = step * np.eye(len(point))
    return [(value(point + move) - value(point - move)) / (2 * step) for move in moves]


def test_each_agent_may_have_its_own_prior_counts(traces):
    calibration, _ = messy(1, n_labelled=12)
    arm = PerAgent(class_prior=PRIOR).fit(Traces.from_records(calibration))
    position = arm._fitted_agent(traces)
    alpha, beta = arm._prior_counts(len(position), position)

    with jax.enable_x64(True):
        inputs = one_coin_inputs(traces, "composite", PRIOR)
        found = jax.jit(one_coin_log_posterior)(inputs, alpha, beta)
    np.testing.assert_allclose(np.asarray(found), arm.log_proba(traces), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("challenge", "likelihood"), [("composite", "plugin"), ("set", "marginal")])
def test_confusion_values_and_gradients(challenge, likelihood):
    rng = np.random.default_rng(0)
    counts, e, x = (
        rng.integers(9, size=(6, 3, 3)) * 1.0,
        rng.integers(3, size=(6, 3)) * 1.0,
        rng.integers(2, size=(6, 3)) * 1.0,
    )

    def first(prior, xp):
        values = confusion_terms(counts, e, x, prior[0], prior[1], challenge, likelihood, xp)
        return values[0, 0], values

    with jax.enable_x64(True):
        (_, values), slope = jax.jit(jax.value_and_grad(lambda prior: first(prior, jnp), has_aux=True))(
            np.array([5.0, 0.6])
        )
        assert values.dtype == jnp.float64
    np.testing.assert_allclose(np.asarray(values), first([5.0, 0.6], np)[1], rtol=0, atol=1e-12)
    expected = finite_differences(lambda prior: first(prior, np)[0], np.array([5.0, 0.6]))
    assert np.asarray(slope).tolist() == pytest.approx(expected, rel=1e-6)
    assert min(map(abs, expected)) > 1e-4


# Precision, side effects


def test_single_precision_is_refused_with_the_remedy(traces):
    """A gradient of a function that enters float64 by itself would silently come out in float32."""
    inputs = one_coin_inputs(traces)
    assert not jax.config.jax_enable_x64
    for use in (
        lambda: one_coin_log_posterior(inputs, 2.0, 1.0),
        lambda: jax.jit(one_coin_log_posterior)(inputs, 2.0, 1.0),
        lambda: jax.grad(lambda a: one_coin_log_posterior(inputs, a, 1.0)[0])(2.0),
    ):
        with pytest.raises(RuntimeError, match=r"need float64: call inside `with jax.enable_x64\(True\):`"):
            use()


def test_importing_and_applying_arms_does_not_load_jax():
    code = (
        "import sys, bda\n"
        "from bda import *\n"
        "t = Traces.from_votes([[0, 1], [1, 1]])\n"
        "for arm in (OneCoin(), PerAgent(), Confusion(), Plurality(), BestMember(), WeightedVote()):\n"
        "    arm.fit(t, [0, 1]).predict_proba(t); arm.explain(t, 0); arm.to_json()\n"
        "print('jax' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (ran.stdout.strip(), ran.stderr) == ("False", "")


@pytest.mark.parametrize("arm", [OneCoin(), PerAgent(), Confusion()], ids=lambda a: type(a).__name__)
def test_outputs_are_numpy_float64(arm):
    calibration = Traces.from_records(messy(1, n_labelled=12)[0])
    arm.fit(calibration)
    outputs = [
        arm.predict_proba(calibration), arm.log_proba(calibration), arm.decide(calibration).candidate,
        arm.predict(calibration), arm.classes_,
    ]  # fmt: skip
    assert [type(output) for output in outputs] == [np.ndarray] * 5
    assert [output.dtype.kind for output in outputs] == ["f", "f", "i", "U", "U"]
    assert outputs[0].dtype == outputs[1].dtype == np.float64
