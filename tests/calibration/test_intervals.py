"""Clustered errors and intervals: closed forms, invariances, coverage."""

import warnings

import numpy as np
import pytest
from scipy import stats

import calibration as c
from calibration import intervals


def _questions(rng, n_questions=40, seeds=3):
    """Return values with a question effect, and their questions."""
    question = np.repeat(np.arange(n_questions), seeds)
    return rng.normal(size=n_questions)[question] + 0.6 * rng.normal(size=len(question)), question


def test_one_row_a_cluster_is_the_ordinary_standard_error():
    v = np.random.default_rng(0).normal(size=30)
    assert c.cluster_robust_se(v, np.arange(30)) == pytest.approx(v.std(ddof=1) / 30**0.5, rel=1e-12)
    assert c.cluster_robust_se(v, np.arange(30), kind="CR0") == pytest.approx(v.std() / 30**0.5, rel=1e-12)


def test_whole_weights_are_rows_of_the_same_cluster():
    rng = np.random.default_rng(1)
    v, g, w = rng.normal(size=20), rng.integers(0, 6, 20), rng.integers(0, 4, 20)
    again = np.repeat(np.arange(20), w)
    for kind in ("CR0", "CR1"):
        weighted = c.cluster_robust_se(v, g, sample_weight=w, kind=kind)
        assert weighted == pytest.approx(c.cluster_robust_se(v[again], g[again], kind=kind), rel=1e-12)
        assert c.cluster_robust_se(v, g, sample_weight=2.5 * w, kind=kind) == pytest.approx(weighted, rel=1e-12)


def test_copies_of_rows_do_not_shrink_the_clustered_error():
    v = np.random.default_rng(2).normal(size=30)
    once = c.cluster_robust_se(v, np.arange(30))
    assert c.cluster_robust_se(np.repeat(v, 9), np.repeat(np.arange(30), 9)) == pytest.approx(once)
    assert c.cluster_robust_se(np.repeat(v, 9), np.arange(270)) < once / 2.9


def test_bootstrap_error_agrees_with_the_closed_form():
    v, g = _questions(np.random.default_rng(3), 200)
    result = c.cluster_bootstrap(v, g, n_resamples=4000)
    assert result.estimate == pytest.approx(v.mean(), rel=1e-12)
    assert result.se == pytest.approx(c.cluster_robust_se(v, g), rel=0.05)
    assert result.low == np.quantile(result.distribution, 0.025, method="averaged_inverted_cdf")
    assert (result.method, result.n_clusters, result.random_state) == ("percentile", 200, 0)


def test_coverage_by_question_and_by_row():
    rng = np.random.default_rng(4)
    by_question, by_row = [], []
    for seed in range(300):
        v, question = _questions(rng)
        for groups, hits in ((question, by_question), (np.arange(len(v)), by_row)):
            result = c.cluster_bootstrap(v, groups, n_resamples=300, random_state=seed)
            hits.append(result.low <= 0 <= result.high)
    assert 0.90 <= np.mean(by_question) <= 0.98
    assert np.mean(by_row) < 0.87


def test_coverage_of_few_clusters():
    rng = np.random.default_rng(5)
    hits = []
    for _ in range(400):
        v, question = _questions(rng, 5)
        with pytest.warns(c.FewClustersWarning):
            result = c.cluster_bootstrap(v, question, n_resamples=2)
        hits.append(result.low <= 0 <= result.high)
    assert 0.91 <= np.mean(hits) <= 0.98


def test_few_clusters_give_a_t_interval_and_say_so():
    v, g = _questions(np.random.default_rng(6), 4)
    with pytest.warns(c.FewClustersWarning, match="4 clusters, fewer than 10.*3 degrees of freedom"):
        result = c.cluster_bootstrap(v, g, confidence_level=0.9)
    assert result.method == "t"
    assert result.se == c.cluster_robust_se(v, g)
    assert result.high - result.estimate == pytest.approx(stats.t.ppf(0.95, 3) * result.se, rel=1e-9)
    assert result.estimate - result.low == pytest.approx(result.high - result.estimate)


def test_ten_clusters_are_enough():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert c.cluster_bootstrap(np.arange(10.0), np.arange(10)).method == "percentile"


def test_one_cluster_has_no_interval():
    with pytest.warns(c.FewClustersWarning, match="1 cluster, fewer than 10: no interval"):
        result = c.cluster_bootstrap([1, 0, 1], ["q"] * 3)
    assert result.estimate == pytest.approx(2 / 3)
    assert np.isnan([result.low, result.high, result.se]).all()
    assert result.method == "none"
    with pytest.warns(c.FewClustersWarning):
        assert np.isnan(c.cluster_robust_se([1, 0, 1], ["q"] * 3))
    assert c.cluster_robust_se([1, 0, 1], ["q"] * 3, kind="CR0") == pytest.approx(0, abs=1e-15)
    with pytest.warns(c.FewClustersWarning):
        assert np.isnan(c.paired_difference([1, 1], [0, 0], ["q"] * 2).p_win)


def test_two_readers_get_the_same_interval():
    rng = np.random.default_rng(7)
    v, g = _questions(rng, 15)
    names = np.array([f"q{i:02d}" for i in g])
    order = rng.permutation(len(v))
    first, second = c.cluster_bootstrap(v, g), c.cluster_bootstrap(v[order], names[order])
    assert (first.estimate, first.low, first.high, first.se) == (
        second.estimate,
        second.low,
        second.high,
        second.se,
    )
    np.testing.assert_array_equal(first.distribution, second.distribution)
    assert c.cluster_robust_se(v, g) == c.cluster_robust_se(v[order], names[order])


def test_chunks_do_not_change_the_draws(monkeypatch):
    v, g = _questions(np.random.default_rng(8), 11)
    whole = c.cluster_bootstrap(v, g, n_resamples=50).distribution
    monkeypatch.setattr(intervals, "_CHUNK_CELLS", 35)
    np.testing.assert_array_equal(c.cluster_bootstrap(v, g, n_resamples=50).distribution, whole)


def test_arms_share_their_draws():
    rng = np.random.default_rng(9)
    v, g = _questions(rng, 20)
    both = c.cluster_bootstrap(np.column_stack([v, v + 1, rng.normal(size=len(v))]), g, n_resamples=100)
    assert both.estimate.shape == both.low.shape == both.se.shape == (3,)
    alone = c.cluster_bootstrap(v, g, n_resamples=100)
    np.testing.assert_allclose(both.distribution[:, 0], alone.distribution, atol=1e-14)
    np.testing.assert_allclose(both.distribution[:, 1] - both.distribution[:, 0], 1, atol=1e-12)


def test_wider_level_is_a_wider_interval():
    v, g = _questions(np.random.default_rng(10), 25)
    narrow, wide = (c.cluster_bootstrap(v, g, confidence_level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_paired_difference_is_the_bootstrap_of_the_difference():
    rng = np.random.default_rng(11)
    a, g = _questions(rng, 60)
    b = a - 0.05 + 0.3 * rng.normal(size=len(a))
    result = c.paired_difference(a, b, g)
    alone = c.cluster_bootstrap(a - b, g)
    assert (result.estimate, result.low, result.high, result.se) == (
        alone.estimate,
        alone.low,
        alone.high,
        alone.se,
    )
    assert result.p_win == np.mean(alone.distribution > 0)
    assert result.se < c.cluster_bootstrap(a, g).se / 2
    assert c.paired_difference(a, b, g, higher_is_better=False).p_win == pytest.approx(1 - result.p_win)
    swapped = c.paired_difference(b, a, g)
    assert swapped.estimate == pytest.approx(-result.estimate)
    assert swapped.p_win == pytest.approx(1 - result.p_win)
    np.testing.assert_allclose([swapped.low, swapped.high], [-result.high, -result.low], rtol=1e-12)


def test_ties_count_half():
    a = np.array([0.1, 0.3] * 15)
    assert c.paired_difference(a, a, np.arange(30)).p_win == 0.5
    # 0.1 + 0.2 - 0.3 is not 0 in floating point, but a tie it is.
    b = np.tile([0.1, 0.2, -0.3], 10)
    assert c.paired_difference(b, np.zeros(30), np.repeat(np.arange(10), 3)).p_win == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: c.cluster_bootstrap([1.0, np.nan], [0, 1]), r"values\[1\] is nan"),
        (lambda: c.cluster_bootstrap([], []), "values is empty"),
        (lambda: c.cluster_bootstrap([1.0, 2], [0]), "groups has shape"),
        (
            lambda: c.cluster_bootstrap([1.0, 2], [0, 1], confidence_level=95),
            "confidence_level is 95.*not per cent",
        ),
        (lambda: c.cluster_bootstrap([1.0, 2], [0, 1], n_resamples=0), "n_resamples is 0"),
        (lambda: c.paired_difference([1.0], [1.0, 2], [0]), "the rows are paired"),
        (lambda: c.cluster_robust_se([1.0, 2], [0, 1], kind="HC0"), "kind is 'HC0'"),
        (lambda: c.cluster_robust_se([1.0, 2], [0, 1], sample_weight=[1, -1]), r"sample_weight\[1\] is -1"),
        (lambda: c.cluster_robust_se([1.0, 2], [0], sample_weight=[1, 1]), "groups has shape"),
    ],
)
@pytest.mark.filterwarnings("ignore::calibration.intervals.FewClustersWarning")
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
