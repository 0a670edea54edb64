"""Bins: conventions at edges and ties, and the invariant that every row is in exactly one."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from sklearn.calibration import calibration_curve

from calibration.binning import _CHUNK_ROWS, Binning, bin_sums
from tests.calibration.oracle import bins_of

# Decimal edges, vote shares, the ends, neighbours of edges, and anything else.
scores = st.one_of(
    st.integers(0, 20).map(lambda i: i / 20),
    st.sampled_from([0.0, 1.0, 1 / 3, 2 / 3, 0.1 + 0.2, np.nextafter(0.7, 1), np.nextafter(0.3, 0), 5e-324]),
    st.floats(0, 1),
)
score_lists = st.lists(scores, min_size=1, max_size=40)
binnings = st.builds(
    Binning,
    st.sampled_from(["uniform", "quantile", "distinct"]),
    n_bins=st.integers(1, 20),
    closed=st.sampled_from(["right", "left"]),
)


@given(score_lists, binnings)
def test_same_rows_share_bins_as_in_the_restated_rule(p, binning):
    index, edges = binning.assign(p)
    expected = bins_of(p, binning)
    if binning.strategy == "uniform":
        assert index.tolist() == expected
    # Other rules number only the bins that can be reached, so compare which rows share one, in order.
    np.testing.assert_array_equal(np.unique(index, return_inverse=True)[1], np.unique(expected, return_inverse=True)[1])
    assert edges[0] == 0
    assert edges[-1] == 1
    assert (np.diff(edges) >= 0).all()
    assert index.min() >= 0
    assert index.max() < len(edges) - 1


@given(score_lists, binnings, st.randoms(use_true_random=False))
def test_row_order_does_not_matter(p, binning, random):
    order = list(range(len(p)))
    random.shuffle(order)
    index, edges = binning.assign(p)
    moved, moved_edges = binning.assign([p[i] for i in order])
    np.testing.assert_array_equal(moved, index[order])
    np.testing.assert_array_equal(moved_edges, edges)


@given(score_lists, binnings)
def test_counts_sum_to_n_and_effective_bins_are_the_occupied_ones(p, binning):
    prob = np.array(p)
    bins = bin_sums(np.zeros(len(p), int), prob, None, binning)
    assert bins.count.sum() == len(p)
    assert bins.n_bins_effective == len(set(binning.assign(p)[0].tolist()))
    assert np.isnan(bins.frequency).sum() == len(bins.count) - bins.n_bins_effective


@given(st.lists(st.tuples(scores, st.integers(0, 4)), min_size=1, max_size=25), binnings)
def test_whole_weights_cut_where_repetition_would(rows, binning):
    rows = [(p, w) for p, w in rows if w] or [(0.5, 1)]
    p, w = np.array([p for p, _ in rows]), np.array([w for _, w in rows], float)
    repeated = np.repeat(p, w.astype(int))
    weighted = binning.locate(p, binning.edges(p, w))
    np.testing.assert_array_equal(np.repeat(weighted, w.astype(int)), binning.assign(repeated)[0])


def test_fractional_weights_cut_at_equal_masses():
    p, w = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.5, 0.1, 0.2, 0.2])
    binning = Binning("quantile", n_bins=2)
    assert binning.locate(p, binning.edges(p, w)).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("n_bins", [1, 5, 10, 15, 20, 100, 1000])
@pytest.mark.parametrize("closed", ["right", "left"])
def test_every_edge_and_its_neighbours_fall_on_the_right_side(n_bins, closed):
    edges = np.array([i / n_bins for i in range(n_bins + 1)])
    binning = Binning(n_bins=n_bins, closed=closed)
    inner = edges[1:-1]
    for p, bin_right, bin_left in [
        (inner, np.arange(n_bins - 1), np.arange(1, n_bins)),
        (np.nextafter(inner, 0), np.arange(n_bins - 1), np.arange(n_bins - 1)),
        (np.nextafter(inner, 1), np.arange(1, n_bins), np.arange(1, n_bins)),
    ]:
        if len(p):
            np.testing.assert_array_equal(binning.assign(p)[0], bin_right if closed == "right" else bin_left)
    np.testing.assert_array_equal(binning.assign([0.0, 1.0])[0], [0, n_bins - 1])
    np.testing.assert_array_equal(binning.assign([0.5])[1], edges)


def test_given_edges_are_used_as_they_are():
    binning = Binning(np.array([0, 0.3, 1.0]))
    assert binning.n_bins == 2
    assert hash(binning) == hash(Binning([0, 0.3, 1]))
    assert binning.assign([0.0, 0.3, np.nextafter(0.3, 1), 1.0])[0].tolist() == [0, 0, 1, 1]
    assert Binning([0, 0.3, 1], closed="left").assign([0.0, 0.3, 1.0])[0].tolist() == [0, 1, 1]


def test_all_scores_equal_make_one_bin():
    for closed in ("right", "left"):
        for value in (0.0, 0.4, 1.0):
            index, edges = Binning("quantile", closed=closed).assign([value] * 7)
            assert index.tolist() == [0] * 7
            assert edges.tolist() == [0, 1]


def test_more_rows_than_a_chunk():
    rng = np.random.default_rng(0)
    n = 2 * _CHUNK_ROWS + 17
    p, w = rng.random(n), rng.random(n)
    y = (rng.random(n) < p).astype(int)
    for weight in (None, w):
        bins = bin_sums(y, p, weight, Binning(n_bins=10))
        index, used = np.ceil(p * 10).astype(int) - 1, np.ones(n) if weight is None else w
        np.testing.assert_array_equal(bins.count, np.bincount(index))
        np.testing.assert_allclose(bins.weight, np.bincount(index, used))
        np.testing.assert_allclose(bins.sum_probability, np.bincount(index, used * p))
        np.testing.assert_allclose(bins.sum_outcome, np.bincount(index, used * y))
        np.testing.assert_allclose(bins.effective_count, np.bincount(index, used) ** 2 / np.bincount(index, used**2))


def test_agrees_with_scikit_learn_away_from_edges():
    rng = np.random.default_rng(1)
    p = rng.beta(2, 1.2, 500)
    y = rng.random(500) < p
    bins = bin_sums(y, p, None, Binning(n_bins=12))
    used = bins.count > 0
    frequency, mean = calibration_curve(y, p, n_bins=12)
    np.testing.assert_allclose(bins.frequency[used], frequency)
    np.testing.assert_allclose(bins.mean_probability[used], mean)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"strategy": "equal"}, "strategy is 'equal'"),
        ({"closed": "both"}, "closed is 'both'"),
        ({"n_bins": 0}, "n_bins is 0"),
        ({"n_bins": 2.5}, "n_bins is 2.5"),
        ({"strategy": [0.1, 0.5, 1]}, "rising edges from 0 to 1"),
        ({"strategy": [0, 0.5, 0.5, 1]}, "rising edges from 0 to 1"),
    ],
)
def test_bad_binnings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Binning(**arguments)


def test_assign_wants_one_column():
    with pytest.raises(ValueError, match=r"p has shape \(1, 2\)"):
        Binning().assign([[0.4, 0.6]])
