"""Scores and calibration errors against rational arithmetic, scikit-learn and their own symmetries."""

import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from sklearn import metrics as sk

import calibration as c
from calibration.binning import Binning
from tests.calibration.oracle import calibration_error
from tests.calibration.test_binning import binnings, scores

rows = st.lists(st.tuples(st.booleans(), scores), min_size=1, max_size=30)
weighted_rows = st.lists(st.tuples(st.booleans(), scores, st.integers(0, 3)), min_size=1, max_size=25).filter(
    lambda rows: any(w for _, _, w in rows)
)


def _split(table):
    return [np.array(column) for column in zip(*table, strict=True)]


@given(rows, binnings, st.sampled_from(["l1", "l2", "max"]))
def test_calibration_error_equals_rational_arithmetic(table, binning, norm):
    y, p = _split(table)
    value = c.expected_calibration_error(y, p, binning=binning, norm=norm)
    assert value == pytest.approx(calibration_error(y, p.tolist(), binning, norm), abs=1e-12)


@given(weighted_rows, binnings, st.sampled_from(["l1", "l2", "max"]))
def test_whole_weight_is_repetition_and_zero_weight_is_removal(table, binning, norm):
    y, p, w = _split(table)
    again = np.repeat(np.arange(len(y)), w)
    options = {"binning": binning, "norm": norm}
    weighted = c.expected_calibration_error(y, p, sample_weight=w, **options)
    assert weighted == pytest.approx(c.expected_calibration_error(y[again], p[again], **options), abs=1e-12)
    for metric in (c.accuracy, c.brier_score, c.log_loss):
        assert metric(y, p, sample_weight=w) == pytest.approx(metric(y[again], p[again]), rel=1e-12, abs=1e-12)
    kept = w > 0
    for metric in (c.expected_calibration_error, c.calibration_error_sq_debiased, c.log_loss):
        removed = metric(y[kept], p[kept], sample_weight=w[kept])
        assert metric(y, p, sample_weight=w) == removed


@given(rows, st.floats(1e-3, 1e3))
def test_scale_of_the_weights_does_not_matter(table, scale):
    y, p = _split(table)
    w = np.linspace(0.3, 1.7, len(y))
    for metric in (
        c.accuracy,
        c.brier_score,
        c.log_loss,
        c.expected_calibration_error,
        c.calibration_error_sq_debiased,
    ):
        assert metric(y, p, sample_weight=scale * w) == pytest.approx(
            metric(y, p, sample_weight=w), rel=1e-9, abs=1e-12
        )


@given(rows, binnings, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(table, binning, random):
    y, p = _split(table)
    random.shuffle(table)
    y2, p2 = _split(table)
    for metric in (c.expected_calibration_error, c.calibration_error_sq_debiased):
        assert metric(y2, p2, binning=binning) == pytest.approx(metric(y, p, binning=binning), abs=1e-12)


@given(rows, st.integers(1, 12))
def test_flipping_labels_mirrors_the_closed_side(table, n_bins):
    y, p = _split(table)
    p = np.round(p * 64) / 64  # 1 - p is exact
    n_bins = 2 ** (n_bins % 5)  # and so are the edges
    right = c.expected_calibration_error(y, p, binning=Binning(n_bins=n_bins))
    left = c.expected_calibration_error(~y, 1 - p, binning=Binning(n_bins=n_bins, closed="left"))
    assert left == pytest.approx(right, abs=1e-12)


def _three_classes(n=200, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet([1, 0.7, 0.4], n)
    return np.array([rng.choice(3, p=row) for row in prob]), prob, rng.random(n)


def test_proper_scores_agree_with_scikit_learn():
    y, prob, w = _three_classes()
    for weight in (None, w):
        named = {"sample_weight": weight}
        assert c.log_loss(y, prob, **named) == pytest.approx(sk.log_loss(y, prob, **named), abs=1e-12)
        predicted = prob.argmax(1)
        assert c.accuracy(y, prob, **named) == pytest.approx(sk.accuracy_score(y, predicted, **named), abs=1e-12)
        positive, p = y == 1, prob[:, 1]
        assert c.brier_score(positive, p, **named) == pytest.approx(
            sk.brier_score_loss(positive, p, **named), abs=1e-12
        )
        assert c.log_loss(positive, p, **named) == pytest.approx(sk.log_loss(positive, p, **named), abs=1e-12)


def test_brier_forms():
    y, prob, _ = _three_classes()
    onehot = np.eye(3)[y]
    total = ((prob - onehot) ** 2).sum(1).mean()
    assert c.brier_score(y, prob, form="sum") == pytest.approx(total, abs=1e-14)
    assert c.brier_score(y, prob, form="half") == pytest.approx(total / 2, abs=1e-14)
    p = prob[:, 1]
    two = np.column_stack([1 - p, p])
    binary = c.brier_score(y == 1, p)
    assert c.brier_score(y == 1, two, form="half") == pytest.approx(binary, abs=1e-14)
    assert c.brier_score(y == 1, p, form="sum") == pytest.approx(2 * binary, abs=1e-14)
    with pytest.raises(ValueError, match=r"y_prob has 3 columns.*form='half' or form='sum'"):
        c.brier_score(y, prob)
    with pytest.raises(ValueError, match="form is 'mean'"):
        c.brier_score(y, prob, form="mean")


def test_log_loss_of_certain_misses():
    y, p = [1, 0, 1], [0.0, 0.0, 0.5]
    assert c.log_loss(y, p, eps=0) == math.inf
    assert c.log_loss(y, p, eps=0.1) == pytest.approx(-(math.log(0.1) + math.log(0.9) + math.log(0.5)) / 3)
    assert c.log_loss(y, p, return_clipped=True) == (pytest.approx((52 * math.log(2) + math.log(2)) / 3), 1)
    assert c.log_loss([1], [2.0**-52], return_clipped=True)[1] == 0
    assert c.log_loss(y, p, eps=0, sample_weight=[0, 1, 1]) == pytest.approx(math.log(2) / 2)
    with pytest.raises(ValueError, match=r"eps is 0\.5"):
        c.log_loss(y, p, eps=0.5)


def test_log_loss_of_float32_certainties_is_finite():
    prob = np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    assert math.isfinite(c.log_loss([0, 1, 1], prob))
    assert 0 <= c.log_loss([0, 1, 0], prob) < 1e-15


def test_accuracy_takes_the_first_of_tied_classes():
    assert c.accuracy([0, 1, 2], [[0.4, 0.4, 0.2]] * 3) == pytest.approx(1 / 3)
    assert c.accuracy([0, 0, 1], [0.5] * 3) == pytest.approx(2 / 3)
    assert c.accuracy([0, 0, 1], [[0.5, 0.5]] * 3) == pytest.approx(2 / 3)


def test_views():
    y, prob, w = _three_classes()
    binning = Binning("quantile", n_bins=6)
    named = {"binning": binning, "sample_weight": w}
    value, bins = c.expected_calibration_error(y, prob, view="classwise", return_bins=True, **named)
    each = [c.expected_calibration_error(y == k, prob[:, k], **named) for k in range(3)]
    assert value == pytest.approx(np.mean(each), abs=1e-14)
    assert [b.count.sum() for b in bins] == [200] * 3
    value, (only,) = c.expected_calibration_error(y, prob, view="confidence", return_bins=True, **named)
    right, top = prob.argmax(1) == y, prob.max(1)
    assert value == pytest.approx(c.expected_calibration_error(right, top, **named), abs=1e-14)
    assert only.n_bins_effective == 6
    squares = [c.calibration_error_sq_debiased(y == k, prob[:, k], binning=binning) for k in range(3)]
    assert c.calibration_error_sq_debiased(y, prob, binning=binning, view="classwise") == pytest.approx(
        np.mean(squares)
    )


def test_confidence_and_positive_are_different_questions():
    y, p = [0, 0, 1, 1], [0.1, 0.1, 0.9, 0.9]
    assert c.expected_calibration_error(y, p) == pytest.approx(0.1)
    value, (bins,) = c.expected_calibration_error(y, p, view="confidence", return_bins=True)
    assert value == pytest.approx(0.1)
    assert bins.n_bins_effective == 1


def test_empty_bins_weigh_nothing_and_bins_weigh_their_mass():
    y, p = [1, 1, 1, 0], [0.9, 0.9, 0.9, 0.1]
    assert c.expected_calibration_error(y, p) == pytest.approx((3 * 0.1 + 0.1) / 4)
    y, p = [1, 1, 1, 1], [0.9, 0.9, 0.9, 0.1]
    assert c.expected_calibration_error(y, p) == pytest.approx((3 * 0.1 + 0.9) / 4)
    assert c.expected_calibration_error(y, p, norm="max") == pytest.approx(0.9)


def test_all_scores_equal():
    for strategy in ("uniform", "quantile", "distinct"):
        value, (bins,) = c.expected_calibration_error(
            [1, 0, 0, 0], [0.6] * 4, binning=Binning(strategy), return_bins=True
        )
        assert value == pytest.approx(0.35)
        assert bins.n_bins_effective == 1


def test_debiased_root_is_the_root_of_the_square():
    rng = np.random.default_rng(2)
    p = rng.random(400)
    y = rng.random(400) < p**2
    square = c.calibration_error_sq_debiased(y, p)
    assert square > 0
    assert c.expected_calibration_error(y, p, norm="l2", debias=True) == pytest.approx(square**0.5)
    assert c.expected_calibration_error([0, 1], [0.5, 0.5], norm="l2", debias=True) == 0.0
    assert c.calibration_error_sq_debiased([0, 1], [0.5, 0.5]) == pytest.approx(-0.25)


def test_debiased_square_uses_kish_counts():
    y, p, w = np.array([0, 1, 1]), np.array([0.5, 0.6, 0.7]), np.array([1.0, 2, 3])
    mean_p, mean_y, n = (w @ p) / 6, 5 / 6, 36 / 14
    expected = (mean_p - mean_y) ** 2 - mean_y * (1 - mean_y) / (n - 1)
    found = c.calibration_error_sq_debiased(y, p, sample_weight=w, binning=Binning(n_bins=1))
    assert found == pytest.approx(expected)


def test_debiased_square_is_centred_on_calibrated_data():
    rng = np.random.default_rng(3)
    values, plain = [], []
    for _ in range(400):
        p = rng.beta(2, 1.2, 100)
        y = rng.random(100) < p
        values.append(c.calibration_error_sq_debiased(y, p, binning=Binning("quantile", 5)))
        plain.append(c.expected_calibration_error(y, p, binning=Binning(n_bins=10)))
    assert abs(np.mean(values)) < 4 * np.std(values) / 20
    assert np.mean(plain) == pytest.approx(0.097, abs=0.006)  # the floor of the plug-in error at n = 100


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"norm": "l3"}, "norm is 'l3'"),
        ({"view": "top"}, "view is 'top'"),
        ({"debias": True}, "only the square can be debiased"),
    ],
)
def test_bad_options_are_refused(named, message):
    with pytest.raises(ValueError, match=message):
        c.expected_calibration_error([0, 1], [0.2, 0.3], **named)


def test_three_classes_have_no_positive_one():
    with pytest.raises(ValueError, match="view='confidence' or view='classwise'"):
        c.expected_calibration_error([0, 1], [[0.2, 0.3, 0.5]] * 2)
