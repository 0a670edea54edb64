r"""Means over rows that come in clusters: standard errors, bootstrap intervals, paired differences.

With cluster sums S_g = sum_{i in g} w_i (v_i - v), W = sum w_i and G clusters,

    CR0 = (sum_g S_g^2)^(1/2) / W,        CR1 = CR0 (G / (G - 1))^(1/2)

The bootstrap draws G clusters with replacement. A replicate needs only how often each cluster was drawn,
m_g, and its sums: v* = sum_g m_g V_g / sum_g m_g n_g, one product of a (B, G) and a (G, A + 1) matrix for A
arms at once. Sources: Liang & Zeger (1986) for CR0; Davison & Hinkley (1997), section 3.8; Cameron & Miller
(2015) for the small-G correction and the t reference with G - 1 degrees of freedom.

A percentile interval of few clusters is far too short: below 10 the t interval is returned instead and says
so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.observations import (
    FloatArray,
    IntArray,
    central_tails,
    check_level,
    check_whole,
    group_codes,
    read_values,
    read_weights,
)

__all__ = [
    "MIN_CLUSTERS",
    "ClusterBootstrap",
    "FewClustersWarning",
    "PairedDifference",
    "cluster_bootstrap",
    "cluster_robust_se",
    "paired_difference",
]

MIN_CLUSTERS = 10
_CHUNK_CELLS = 1 << 21  # clusters times replicates drawn at once, 16 MB of cluster indices

Method = Literal["percentile", "t", "none"]


class FewClustersWarning(UserWarning):
    """There are fewer than 10 clusters, so the interval is a t interval, or there is none."""


@dataclass(frozen=True, eq=False)
class ClusterBootstrap:
    """A mean and its interval by whole clusters; arrays of shape (A,) when A arms were passed.

    Attributes
    ----------
    estimate : float or float array
        Mean over rows.
    low, high : float or float array
        Interval bounds; NaN with one cluster.
    se : float or float array
        Standard deviation of the replicates, or CR1 with few clusters.
    n_clusters : int
        Clusters.
    method : "percentile", "t" or "none"
        How the bounds were made: "t" below 10 clusters, "none" with a single one.
    distribution : float array, shape (n_resamples,) or (n_resamples, A)
        The replicates, whatever the method.
    confidence_level : float
        Level of the interval.
    random_state : int
        Seed.

    Examples
    --------
    >>> from calibration import cluster_bootstrap
    >>> cluster_bootstrap([0, 1] * 20, [i // 2 for i in range(40)]).method
    'percentile'
    """

    estimate: float | FloatArray
    low: float | FloatArray
    high: float | FloatArray
    se: float | FloatArray
    n_clusters: int
    method: Method
    distribution: FloatArray
    confidence_level: float
    random_state: int


@dataclass(frozen=True, eq=False)
class PairedDifference:
    """The mean of a minus the mean of b on the same rows.

    Attributes
    ----------
    estimate, low, high, se : float
        Difference, interval bounds and standard error, as in `ClusterBootstrap`.
    p_win : float
        Share of replicates in which the difference favours a, ties counted half; NaN with one cluster. It
        speaks of resampled clusters and is no posterior probability.
    n_clusters : int
        Clusters.
    method : "percentile", "t" or "none"
        How the bounds were made.
    confidence_level : float
        Level of the interval.
    random_state : int
        Seed.

    Examples
    --------
    >>> from calibration import paired_difference
    >>> paired_difference([0.9] * 12, [0.7] * 12, range(12)).n_clusters
    12
    """

    estimate: float
    low: float
    high: float
    se: float
    p_win: float
    n_clusters: int
    method: Method
    confidence_level: float
    random_state: int


def cluster_robust_se(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    kind: Literal["CR0", "CR1"] = "CR1",
) -> float:
    """Return the cluster-robust standard error of a weighted mean, in the units of the values.

    Parameters
    ----------
    values : array-like, shape (n,)
        One value per row: a hit, a squared error, a log loss.
    groups : array-like, shape (n,)
        The cluster of every row; numbers or strings.
    sample_weight : array-like, shape (n,), optional
        Weights >= 0.
    kind : "CR0" or "CR1"
        Without or with the factor G / (G - 1) on the variance.

    Returns
    -------
    float
        Standard error; CR1 of a single cluster is NaN, with a warning.

    Examples
    --------
    >>> cluster_robust_se([1, 0, 1, 1, 0, 0, 1, 1, 0], [0, 0, 1, 1, 1, 2, 3, 3, 3], kind="CR0")
    0.0818919701322321
    """
    if kind not in ("CR0", "CR1"):
        raise ValueError(f"kind is {kind!r}; 'CR0' or 'CR1' is wanted")
    table = read_values(values, ndim=(1,))[:, None]
    codes, n_clusters = group_codes(groups, len(table))
    if sample_weight is None:
        weight = np.ones(len(table))
    else:
        weight = read_weights(sample_weight, len(table))
        table, codes, weight = table[weight > 0], codes[weight > 0], weight[weight > 0]
        codes, n_clusters = group_codes(codes, len(table))  # a cluster without weight is no cluster
    if n_clusters == 1 and kind == "CR1":
        _warn_few(1, stacklevel=3)
        return float("nan")
    total, mass = _cluster_sums(table * weight[:, None], codes), _cluster_sums(weight[:, None], codes)[:, 0]
    return float(_robust_se(total, mass, kind)[0])


def cluster_bootstrap(
    values: ArrayLike,
    groups: ArrayLike,
    *,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    random_state: int = 0,
) -> ClusterBootstrap:
    """Return the mean of per-row values with an interval that resamples whole clusters.

    Parameters
    ----------
    values : array-like, shape (n,) or (n, A)
        One value per row, or A arms at once; the same clusters are drawn for every arm. Not for calibration
        errors, which are not means of rows: see `calibration.ece_test`.
    groups : array-like, shape (n,)
        The cluster of every row; numbers or strings.
    n_resamples : int
        Replicates.
    confidence_level : float
        In (0, 1).
    random_state : int
        Seed. The result does not depend on the order of the rows.

    Returns
    -------
    ClusterBootstrap
        Estimate, bounds, standard error and replicates.

    Warns
    -----
    FewClustersWarning
        Below 10 clusters: t interval with G - 1 degrees of freedom around CR1; NaN bounds with one cluster.

    Examples
    --------
    >>> result = cluster_bootstrap([0, 1] * 20, [i // 2 for i in range(40)])
    >>> result.estimate, result.se, result.n_clusters
    (0.5, 0.0, 20)
    """
    table = read_values(values)
    scalar = table.ndim == 1
    table = table[:, None] if scalar else table
    result = _bootstrap(table, groups, n_resamples, confidence_level, random_state)
    if not scalar:
        return result
    return ClusterBootstrap(
        estimate=_only(result.estimate),
        low=_only(result.low),
        high=_only(result.high),
        se=_only(result.se),
        n_clusters=result.n_clusters,
        method=result.method,
        distribution=result.distribution[:, 0],
        confidence_level=result.confidence_level,
        random_state=random_state,
    )


def paired_difference(
    values_a: ArrayLike,
    values_b: ArrayLike,
    groups: ArrayLike,
    *,
    higher_is_better: bool = True,
    n_resamples: int = 2000,
    confidence_level: float = 0.95,
    random_state: int = 0,
) -> PairedDifference:
    """Return the mean difference a - b on the same rows, with an interval and the chance that a wins.

    Parameters
    ----------
    values_a, values_b : array-like, shape (n,)
        Per-row values of two arms; row i of both is the same task and seed.
    groups : array-like, shape (n,)
        The cluster of every row.
    higher_is_better : bool
        False for losses: a wins where the difference is negative.
    n_resamples, confidence_level, random_state
        As in `cluster_bootstrap`.

    Returns
    -------
    PairedDifference
        Difference, bounds and `p_win`.

    Warns
    -----
    FewClustersWarning
        Below 10 clusters, as in `cluster_bootstrap`.

    Examples
    --------
    >>> a, b = [0.9] * 12, [0.7] * 12
    >>> result = paired_difference(a, b, range(12))
    >>> round(result.estimate, 12), result.p_win
    (0.2, 1.0)
    """
    a, b = read_values(values_a, "values_a", (1,)), read_values(values_b, "values_b", (1,))
    if len(a) != len(b):
        raise ValueError(f"values_a has {len(a)} rows but values_b has {len(b)}; the rows are paired")
    difference = a - b
    result = _bootstrap(difference[:, None], groups, n_resamples, confidence_level, random_state)
    favour = result.distribution[:, 0] if higher_is_better else -result.distribution[:, 0]
    tie = 1e-12 * max(np.abs(a).max(), np.abs(b).max())  # rounding of sums that cancel
    p_win = float(np.mean(favour > tie) + 0.5 * np.mean(np.abs(favour) <= tie))
    return PairedDifference(
        estimate=_only(result.estimate),
        low=_only(result.low),
        high=_only(result.high),
        se=_only(result.se),
        p_win=p_win if result.n_clusters > 1 else float("nan"),
        n_clusters=result.n_clusters,
        method=result.method,
        confidence_level=result.confidence_level,
        random_state=random_state,
    )


def _bootstrap(
    table: FloatArray, groups: ArrayLike, n_resamples: int, confidence_level: float, random_state: int
) -> ClusterBootstrap:
    level = check_level(confidence_level, "confidence_level")
    codes, n_clusters = group_codes(groups, len(table))
    total, mass = _cluster_sums(table, codes), np.bincount(codes).astype(np.float64)
    draws = _multiplicities(n_clusters, check_whole(n_resamples, "n_resamples"), random_state)
    distribution = np.concatenate([_replicates(m, total, mass) for m in draws])
    estimate = total.sum(axis=0) / mass.sum()
    method: Method = "percentile"
    if n_clusters >= MIN_CLUSTERS:
        se = distribution.std(axis=0, ddof=1) if n_resamples > 1 else np.full(len(estimate), np.nan)
        low, high = _percentile_bounds(distribution, level)
    else:
        _warn_few(n_clusters, stacklevel=4)
        method = "t" if n_clusters > 1 else "none"
        se = _robust_se(total, mass, "CR1") if n_clusters > 1 else np.full(len(estimate), np.nan)
        reach = _t_quantile(n_clusters - 1, 0.5 + level / 2) * se if n_clusters > 1 else se
        low, high = estimate - reach, estimate + reach
    return ClusterBootstrap(estimate, low, high, se, n_clusters, method, distribution, level, random_state)


def _cluster_sums(table: FloatArray, codes: IntArray) -> FloatArray:
    """Return sums over clusters, shape (G, A), added in an order that does not depend on that of the rows."""
    columns = []
    for column in table.T:
        order = np.lexsort((column, codes))
        columns.append(np.bincount(codes[order], column[order]))
    return np.stack(columns, axis=1)


def _multiplicities(n_clusters: int, n_resamples: int, random_state: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each cluster is drawn, shape (replicates of this chunk, G); every row sums to G."""
    rng = np.random.default_rng(random_state)
    step = max(1, _CHUNK_CELLS // n_clusters)
    for done in range(0, n_resamples, step):
        rows = min(step, n_resamples - done)
        drawn = rng.integers(n_clusters, size=(rows, n_clusters))
        drawn += n_clusters * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * n_clusters)
        yield times.reshape(rows, n_clusters).astype(np.float64)


def _replicates(multiplicity: FloatArray, total: FloatArray, mass: FloatArray) -> FloatArray:
    """Return resampled means, shape (B, A): the pooled mean of the rows drawn."""
    sums = multiplicity @ np.column_stack([total, mass])
    return np.asarray(sums[:, :-1] / sums[:, -1:])


def _percentile_bounds(distribution: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    # Averaged at a step, so that the interval of b - a mirrors that of a - b.
    low, high = np.quantile(distribution, central_tails(level), axis=0, method="averaged_inverted_cdf")
    return low, high


def _robust_se(total: FloatArray, mass: FloatArray, kind: Literal["CR0", "CR1"]) -> FloatArray:
    residual = total - mass[:, None] * (total.sum(axis=0) / mass.sum())
    variance = (residual**2).sum(axis=0) / mass.sum() ** 2
    clusters = len(mass)
    return np.asarray(np.sqrt(variance * (clusters / (clusters - 1) if kind == "CR1" else 1.0)))


def _t_quantile(degrees: int, level: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(degrees, level))


def _warn_few(n_clusters: int, stacklevel: int) -> None:
    instead = (
        f"the interval is a t interval with {n_clusters - 1} degrees of freedom"
        if n_clusters > 1
        else "no interval can be given"
    )
    warnings.warn(
        f"{n_clusters} cluster{'s' if n_clusters > 1 else ''}, fewer than {MIN_CLUSTERS}: {instead}; "
        f"cluster by question rather than by seed, or collect more",
        FewClustersWarning,
        stacklevel=stacklevel,
    )


def _only(values: float | FloatArray) -> float:
    return float(np.asarray(values).item())
