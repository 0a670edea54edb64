"""Reliability curves: their numbers, the band's coverage, and a picture that leaves matplotlib as it was."""

import matplotlib as mpl
import numpy as np
import pytest

import calibration as c
from calibration.binning import Binning


def _council(n=300, seed=0):
    rng = np.random.default_rng(seed)
    share = rng.choice([1 / 3, 2 / 3, 1.0], n, p=[0.2, 0.4, 0.4])
    return rng.random(n) < 0.9 * share, share


def test_points_are_those_of_the_bins():
    correct, share = _council()
    curve = c.reliability_curve(correct, share, n_resamples=50)
    value, (bins,) = c.expected_calibration_error(correct, share, return_bins=True)
    used = bins.count > 0
    assert curve.n_bins_effective == used.sum() == 3
    np.testing.assert_array_equal(curve.count, bins.count[used])
    np.testing.assert_allclose(curve.mean_confidence, bins.mean_probability[used])
    np.testing.assert_allclose(curve.frequency, bins.frequency[used])
    np.testing.assert_array_equal(curve.edges, np.column_stack([bins.edges[:-1], bins.edges[1:]])[used])
    weight = curve.count / curve.count.sum()
    assert weight @ np.abs(curve.mean_confidence - curve.frequency) == pytest.approx(value)


def test_band_is_binomial_where_scores_are_equal():
    from scipy.stats import binom

    curve = c.reliability_curve([1, 0] * 50, [0.7] * 100, band_level=0.9, n_resamples=20_000)
    assert curve.lower[0] == pytest.approx(binom.ppf(0.05, 100, 0.7) / 100, abs=0.011)
    assert curve.upper[0] == pytest.approx(binom.ppf(0.95, 100, 0.7) / 100, abs=0.011)


def test_band_holds_calibrated_points_and_does_not_collapse():
    rng = np.random.default_rng(1)
    inside = []
    for seed in range(60):
        p = rng.beta(2, 1.2, 400)
        curve = c.reliability_curve(
            rng.random(400) < p, p, binning=Binning("quantile", 8), n_resamples=200, random_state=seed
        )
        inside.append((curve.lower <= curve.frequency) & (curve.frequency <= curve.upper))
    assert 0.92 <= np.mean(inside) <= 0.99
    certain = c.reliability_curve([1] * 20, [0.8] * 20)
    assert certain.frequency[0] == 1
    assert certain.lower[0] < 0.8 < certain.upper[0]


def test_groups_widen_the_band():
    correct, share = _council()
    share = np.repeat(share, 3)
    plain = c.reliability_curve(np.repeat(correct, 3), share)
    grouped = c.reliability_curve(np.repeat(correct, 3), share, groups=np.repeat(np.arange(300), 3))
    width = (grouped.upper - grouped.lower)[:2] / (plain.upper - plain.lower)[:2]
    np.testing.assert_allclose(width, 3**0.5, rtol=0.15)
    assert "shared uniform" in grouped.assumption
    assert "independent" in plain.assumption


def test_frame():
    frame = c.reliability_curve(*_council(), n_resamples=20).to_frame()
    assert list(frame) == ["edge_low", "edge_high", "count", "mean_confidence", "frequency", "lower", "upper"]
    assert frame["count"].sum() == 300


def test_plot_draws_the_data_and_leaves_matplotlib_alone():
    from matplotlib import pyplot as plt

    before = dict(mpl.rcParams)
    curve = c.reliability_curve(*_council(), n_resamples=50)
    ax = curve.plot(label="plurality")
    assert plt.get_fignums() == []
    assert dict(mpl.rcParams) == before
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("confidence", "frequency")
    line = next(line for line in ax.lines if line.get_label() == "plurality")
    np.testing.assert_array_equal(line.get_ydata(), curve.frequency)
    (strip,) = ax.child_axes
    assert [bar.get_height() for bar in strip.patches] == curve.count.tolist()
    again = c.reliability_curve(*_council(seed=1), n_resamples=50).plot(ax, label="one coin")
    assert again is ax
    assert len(ax.child_axes) == 1
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["plurality", "one coin"]
    ax.figure.canvas.draw()


def test_plot_on_axes_of_the_caller():
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert c.reliability_curve(*_council(), n_resamples=20).plot(ax) is ax
    assert ax.get_legend() is None


def test_band_level_is_a_share():
    with pytest.raises(ValueError, match="band_level is 95"):
        c.reliability_curve([1, 0], [0.5, 0.6], band_level=95)
