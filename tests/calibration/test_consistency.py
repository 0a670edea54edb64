"""The simulated null against enumeration of every outcome, and the test's level and power."""

import numpy as np
import pytest

import calibration as c
from calibration import consistency
from calibration.binning import Binning
from tests.calibration.oracle import calibration_error, null_errors

PROBS = [0.15, 0.3, 0.3, 0.55, 0.8, 0.95]
BINNING = Binning(n_bins=3)


@pytest.mark.parametrize("groups", [None, ["a", "a", "b", "b", "b", "c"]])
def test_null_against_every_outcome(groups):
    chance, error = np.array(null_errors(PROBS, BINNING, groups)).T
    assert chance.sum() == pytest.approx(1)
    null = c.calibration_null(PROBS, binning=BINNING, groups=groups, n_resamples=20_000)
    mean = chance @ error
    sd = (chance @ (error - mean) ** 2) ** 0.5
    assert null.mean == pytest.approx(mean, abs=5 * sd / 20_000**0.5)
    for at in (0.1, 0.2, 0.3):
        tail = chance[error >= at].sum()
        assert np.mean(null.distribution >= at) == pytest.approx(tail, abs=5 * 0.5 / 20_000**0.5)


@pytest.mark.parametrize("groups", [None, ["a", "a", "b", "b", "b", "c"]])
@pytest.mark.parametrize("correct", [[0, 0, 1, 1, 1, 1], [1, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1]])
def test_pvalue_against_every_outcome(groups, correct):
    chance, error = np.array(null_errors(PROBS, BINNING, groups)).T
    result = c.ece_test(correct, PROBS, binning=BINNING, groups=groups, n_resamples=9999)
    value = calibration_error(correct, PROBS, BINNING)
    assert result.value == pytest.approx(value, abs=1e-15)
    # Outcomes that reach the same error by other sums count, although rounding may put them below.
    assert result.pvalue == pytest.approx(chance[error >= value - 1e-12].sum(), abs=5 * 0.5 / 100)


def test_pvalues_are_uniform_on_calibrated_data_and_small_on_overconfident():
    rng = np.random.default_rng(0)
    level, power = [], []
    for seed in range(300):
        p = rng.beta(4, 1.5, 80)
        level.append(c.ece_test(rng.random(80) < p, p, n_resamples=99, random_state=seed).pvalue)
        power.append(c.ece_test(rng.random(80) < p**2, p, n_resamples=99, random_state=seed).pvalue)
    grid = np.arange(1, 100) / 100
    cumulative = np.mean(np.array(level)[:, None] <= grid, axis=0)
    assert np.abs(cumulative - grid).max() < 1.63 / 300**0.5  # Kolmogorov-Smirnov, level 1 %
    assert np.mean(np.array(power) <= 0.05) > 0.6


def test_grouped_rows_need_the_grouped_null():
    """For rows of a question that always agree, the independent null rejects far too often."""
    rng = np.random.default_rng(1)
    plain, grouped = [], []
    for seed in range(200):
        p = np.repeat(rng.beta(4, 1.5, 60), 3)
        group = np.repeat(np.arange(60), 3)
        y = np.repeat(rng.random(60), 3) < p
        plain.append(c.ece_test(y, p, n_resamples=99, random_state=seed).pvalue)
        grouped.append(c.ece_test(y, p, groups=group, n_resamples=99, random_state=seed).pvalue)
    assert np.mean(np.array(plain) <= 0.05) > 0.3
    assert np.mean(np.array(grouped) <= 0.05) < 0.1


def test_the_floor_at_the_size_of_a_real_study():
    p = np.random.default_rng(0).beta(2, 1.2, 4500)
    null = c.calibration_null(p, n_resamples=400)
    assert null.mean == pytest.approx(0.0180, abs=0.0006)
    assert null.q95 == pytest.approx(0.0251, abs=0.0015)
    seeds = np.repeat(p[:1500], 3)
    same = c.calibration_null(seeds, groups=np.repeat(np.arange(1500), 3), binning=Binning(n_bins=10), n_resamples=400)
    assert same.mean == pytest.approx(0.0254, abs=0.001)
    assert same.q95 == pytest.approx(0.0369, abs=0.003)


@pytest.mark.parametrize("groups", [None, np.arange(50) // 3])
def test_same_draws_whatever_the_chunk_and_the_row_order(monkeypatch, groups):
    rng = np.random.default_rng(4)
    p = np.round(rng.random(50), 1)
    whole = c.calibration_null(p, groups=groups, n_resamples=64)
    order = rng.permutation(50)
    moved = c.calibration_null(p[order], groups=None if groups is None else groups[order], n_resamples=64)
    np.testing.assert_array_equal(moved.distribution, whole.distribution)
    monkeypatch.setattr(consistency, "_CHUNK_CELLS", 150)
    np.testing.assert_array_equal(c.calibration_null(p, groups=groups, n_resamples=64).distribution, whole.distribution)
    other = c.calibration_null(p, groups=groups, n_resamples=64, random_state=1)
    assert (other.distribution != whole.distribution).any()


def test_norms_of_the_null():
    p = [0.2, 0.2, 0.7, 0.7, 0.7]
    l1, l2, top = (c.calibration_null(p, norm=norm, n_resamples=50).distribution for norm in ("l1", "l2", "max"))
    assert (l1 <= l2 + 1e-12).all()
    assert (l2 <= top + 1e-12).all()


def test_certain_scores_have_a_null_of_zero():
    null = c.calibration_null([0.0, 1.0, 1.0], n_resamples=20)
    assert null.distribution.tolist() == [0.0] * 20
    assert c.ece_test([0, 1, 1], [0.0, 1.0, 1.0], n_resamples=19).pvalue == 1.0
    assert c.ece_test([1, 1, 1], [0.0, 1.0, 1.0], n_resamples=19).pvalue == 0.05


def test_equal_errors_reached_by_different_sums_count_as_equal():
    p = [0.05, 0.1, 0.95]  # 0.05 + 0.9 + 0.95 = 0.95 + 0.9 + 0.05
    one, other = (c.ece_test(y, p, binning=Binning("distinct"), n_resamples=999) for y in ([0, 1, 0], [1, 1, 1]))
    assert one.value != other.value
    assert one.value == pytest.approx(other.value, abs=1e-15)
    assert one.pvalue == other.pvalue


def test_results_record_how_they_were_made():
    result = c.ece_test([0, 1, 1], [0.2, 0.5, 0.9], n_resamples=19, random_state=7)
    assert (result.n_resamples, result.random_state, result.n_bins_effective) == (19, 7, 3)
    assert "independent" in result.assumption
    grouped = c.calibration_null([0.2, 0.5, 0.9], groups=["a", "a", "b"], n_resamples=19)
    assert "one shared uniform per group" in grouped.assumption


@pytest.mark.parametrize(
    ("correct", "confidence", "named", "message"),
    [
        ([0, 1], [[0.5, 0.5]] * 2, {}, "one score per row"),
        ([0, 2], [0.5, 0.5], {}, r"y_true\[1\] is 2"),
        ([0, 1], [0.5, 0.5], {"n_resamples": 0}, "n_resamples is 0"),
        ([0, 1], [0.5, 0.5], {"groups": [1]}, "one group per row"),
    ],
)
def test_refusals(correct, confidence, named, message):
    with pytest.raises(ValueError, match=message):
        c.ece_test(correct, confidence, **named)
