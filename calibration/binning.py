r"""Bins of a probability, and what is summed in them.

Equal width: the edges are i/M correctly rounded, and with ``closed="right"`` bin i is (i/M, (i+1)/M]. The
first bin also holds 0 and the last holds 1 whichever side is closed, so that the counts sum to n.

Equal mass: rank split. The sorted scores are cut at the ranks c_j = j floor(n/M) + min(j, n mod M), so sizes
differ by at most one before ties; equal scores stay together, in the bin of the run's first member (right-
closed) or of its last (left-closed). Both rules are comparisons with order statistics: bin(p) = #{j : s[c_j
- 1] < p} and #{j : s[c_j] <= p}. Ties and small n leave fewer bins than asked for; `Bins.n_bins_effective`
says how many.

Distinct: one bin for every distinct score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.observations import FloatArray, IntArray, check_whole, read_probabilities, read_values

__all__ = ["DEFAULT_BINNING", "Binning", "Bins", "bin_sums"]

# Rows placed at a time: the intermediate arrays stay in the second-level cache.
_CHUNK_ROWS = 1 << 16


@dataclass(frozen=True)
class Binning:
    """How probabilities are put into bins.

    Parameters
    ----------
    strategy : "uniform", "quantile", "distinct" or sequence of edges
        Equal width, equal mass, one bin per distinct score, or edges rising from 0 to 1.
    n_bins : int
        Bins asked for; for "distinct" it has no meaning, for given edges it follows from them.
    closed : "right" or "left"
        The side of a bin that holds a score equal to its edge.

    Examples
    --------
    >>> Binning(n_bins=2).assign([0.2, 0.5, 0.9])
    (array([0, 0, 1]), array([0. , 0.5, 1. ]))
    >>> Binning("quantile", n_bins=2, closed="left").assign([0.2, 0.5, 0.5, 0.9])[0]
    array([0, 1, 1, 1])
    """

    strategy: Literal["uniform", "quantile", "distinct"] | Sequence[float] | FloatArray = "uniform"
    n_bins: int = 15
    closed: Literal["right", "left"] = "right"

    def __post_init__(self) -> None:
        if self.closed not in ("right", "left"):
            raise ValueError(f"closed is {self.closed!r}; 'right' or 'left' is wanted")
        if isinstance(self.strategy, str):
            if self.strategy not in ("uniform", "quantile", "distinct"):
                raise ValueError(
                    f"strategy is {self.strategy!r}; 'uniform', 'quantile', 'distinct' or edges are wanted"
                )
        else:
            edges = read_values(self.strategy, "strategy", ndim=(1,))
            if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or (np.diff(edges) <= 0).any():
                raise ValueError(f"edges are {edges.tolist()}; rising edges from 0 to 1 are wanted")
            object.__setattr__(self, "strategy", tuple(edges.tolist()))
            object.__setattr__(self, "n_bins", len(edges) - 1)
        check_whole(self.n_bins, "n_bins")

    def assign(self, p: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Return the bin of every probability and the edges.

        Parameters
        ----------
        p : array-like, shape (n,)
            Probabilities.

        Returns
        -------
        index : int array, shape (n,)
            Bins 0..m-1.
        edges : float array, shape (m + 1,)
            From 0 to 1. An edge is repeated at 0 or at 1 where a bin holds that single value.
        """
        prob = read_probabilities(p, "p")
        if prob.ndim != 1:
            raise ValueError(f"p has shape {prob.shape}; one probability per row is wanted")
        edges = self.edges(prob)
        return self.locate(prob, edges), edges

    def edges(self, prob: FloatArray, weight: FloatArray | None = None) -> FloatArray:
        """Return the edges for checked probabilities and positive weights."""
        if not isinstance(self.strategy, str):
            return np.asarray(self.strategy, np.float64)
        if self.strategy == "uniform":
            return np.arange(self.n_bins + 1) / self.n_bins
        right = self.closed == "right"
        if self.strategy == "distinct":
            inner = np.unique(prob)
        elif weight is None:
            inner = _cut_scores(prob, self.n_bins, right)
        else:
            inner = _weighted_cut_scores(prob, weight, self.n_bins, right)
        # A cut at the largest score (right-closed) or the smallest (left-closed) has an empty bin beyond it.
        inner = inner[inner < prob.max()] if right else inner[inner > prob.min()]
        return np.concatenate([[0.0], inner, [1.0]])

    def locate(self, prob: FloatArray, edges: FloatArray) -> IntArray:
        """Return the bin of checked probabilities among edges that `edges` gave."""
        if self.strategy == "uniform":
            return _uniform_bin(prob, edges, self.closed == "right")
        side: Literal["left", "right"] = "left" if self.closed == "right" else "right"
        return np.searchsorted(edges[1:-1], prob, side=side)


DEFAULT_BINNING = Binning()


@dataclass(frozen=True, eq=False)
class Bins:
    """Sums in every bin, empty bins included.

    Attributes
    ----------
    edges : float array, shape (m + 1,)
        Edges.
    count : int array, shape (m,)
        Rows; they sum to n.
    weight, sum_probability, sum_outcome : float array, shape (m,)
        Sums over the bin of w, w p and w y.
    effective_count : float array, shape (m,)
        (sum w)^2 / sum w^2 (Kish); the count where weights are equal, 0 where a bin is empty.

    Examples
    --------
    >>> from calibration import expected_calibration_error
    >>> _, (bins,) = expected_calibration_error([0, 1, 1], [0.2, 0.7, 0.9], return_bins=True)
    >>> int(bins.count.sum())
    3
    """

    edges: FloatArray
    count: IntArray
    weight: FloatArray
    sum_probability: FloatArray
    sum_outcome: FloatArray
    effective_count: FloatArray

    @property
    def n_bins_effective(self) -> int:
        """Return how many bins hold at least one row."""
        return int(np.count_nonzero(self.count))

    @property
    def mean_probability(self) -> FloatArray:
        """Return the mean probability of every bin, NaN where it is empty."""
        return self._mean(self.sum_probability)

    @property
    def frequency(self) -> FloatArray:
        """Return the share of positive outcomes of every bin, NaN where it is empty."""
        return self._mean(self.sum_outcome)

    def _mean(self, total: FloatArray) -> FloatArray:
        mean: FloatArray = np.divide(total, self.weight, out=np.full(len(total), np.nan), where=self.count > 0)
        return mean


def bin_sums(outcome: NDArray[Any], prob: FloatArray, weight: FloatArray | None, binning: Binning) -> Bins:
    """Return the sums in every bin for checked rows: 0/1 outcomes, P(positive) and weights.

    One unweighted and one weighted count of (bin, outcome) pairs give every sum in a single pass.
    """
    edges = binning.edges(prob, weight)
    m = len(edges) - 1
    count = np.zeros(2 * m, np.intp)
    probability, mass, square = np.zeros(2 * m), np.zeros(2 * m), np.zeros(2 * m)
    step = max(_CHUNK_ROWS, 4 * m)
    for start in range(0, len(prob), step):
        rows = slice(start, start + step)
        cell = 2 * binning.locate(prob[rows], edges)
        cell += outcome[rows]
        count += np.bincount(cell, minlength=2 * m)
        if weight is None:
            probability += np.bincount(cell, prob[rows], minlength=2 * m)
        else:
            w = weight[rows]
            probability += np.bincount(cell, w * prob[rows], minlength=2 * m)
            mass += np.bincount(cell, w, minlength=2 * m)
            square += np.bincount(cell, w * w, minlength=2 * m)
    if weight is None:
        mass = square = count.astype(np.float64)
    pair = (m, 2)
    in_bin, squares = mass.reshape(pair).sum(axis=1), square.reshape(pair).sum(axis=1)
    counts = count.reshape(pair).sum(axis=1)
    if counts.sum() != len(prob):
        raise AssertionError(f"bins hold {counts.sum()} rows of {len(prob)}")
    return Bins(
        edges=edges,
        count=counts,
        weight=in_bin,
        sum_probability=probability.reshape(pair).sum(axis=1),
        sum_outcome=mass.reshape(pair)[:, 1].copy(),
        effective_count=np.divide(in_bin**2, squares, out=np.zeros(m), where=counts > 0),
    )


def _uniform_bin(prob: FloatArray, edges: FloatArray, right: bool) -> IntArray:
    """Return floor(p M), moved by the one bin that rounding can cost: the edges themselves decide."""
    m = len(edges) - 1
    above = np.append(edges, np.inf)
    index = (prob * m).astype(np.intp)
    if right:
        index += prob > above[index + 1]
        index -= prob <= above[index]
        return np.maximum(index, 0, out=index)
    index += prob >= above[index + 1]
    index -= prob < above[index]
    return np.minimum(index, m - 1, out=index)


def _cut_scores(prob: FloatArray, n_bins: int, right: bool) -> FloatArray:
    """Return the distinct order statistics at the cut ranks; a partial sort, as M is far below n."""
    n = len(prob)
    j = np.arange(1, n_bins)
    rank = j * (n // n_bins) + np.minimum(j, n % n_bins)
    rank = np.unique(rank[rank < n]) - (1 if right else 0)
    return np.unique(np.partition(prob, rank)[rank]) if rank.size else np.empty(0)


def _weighted_cut_scores(prob: FloatArray, weight: FloatArray, n_bins: int, right: bool) -> FloatArray:
    """Return the cuts when a row stands for w rows: whole weights repeat it, others cut at masses j W / M."""
    order = np.argsort(prob, kind="stable")
    score, reached = prob[order], np.cumsum(weight[order])
    j, total = np.arange(1, n_bins), reached[-1]
    if (weight == np.rint(weight)).all():
        cut = j * (total // n_bins) + np.minimum(j, total % n_bins)
    else:
        cut = j * total / n_bins
    cut = cut[cut < total]
    return np.unique(score[np.searchsorted(reached, cut, side="left" if right else "right")])
