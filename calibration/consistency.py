r"""What a calibration error would be if the scores were calibrated: the null by simulation, and a test.

    y*_i ~ Bernoulli(c_i),    E* = error(y*, c),    p-value = (1 + #{E*_b >= E}) / (1 + B)

The scores c_i and their bins stay as they are, so the null answers for this n, these scores and this
binning. It is the necessary companion of a binned error, which is never 0 in a finite sample, however
calibrated the scores. Sources: Broecker & Smith (2007); Vaicenavicius et al. (2019).

Rows of one group (a question asked under several seeds) are not independent. Their dependence is unknown, so
one uniform u_g is drawn for the group and y*_i = [u_g < c_i]: every row keeps its own chance, and within the
group the rows are as alike as their chances allow, the choice with the widest sums in a bin. Without
`groups` the rows are taken as independent, and the result says so in `assumption`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.binning import DEFAULT_BINNING, Binning
from calibration.metrics import Norm, binned_error
from calibration.observations import (
    FloatArray,
    IntArray,
    check_whole,
    group_codes,
    observe,
    read_probabilities,
)

__all__ = ["CalibrationNull", "CalibrationTest", "ScoredBins", "calibration_null", "ece_test"]

_CHUNK_CELLS = 1 << 20  # rows times replicates simulated at once, 8 MB of uniforms
# Equal errors reached through different sums differ by rounding; they count as equal, against rejection.
_SAME = 1e-12

_INDEPENDENT = "rows independent given their scores"
_GROUPED = "one shared uniform per group: rows of a group rise and fall together, groups independent"


@dataclass(frozen=True, eq=False)
class CalibrationNull:
    """A calibration error under perfect calibration.

    Attributes
    ----------
    mean, q95 : float
        Mean and 95 % point.
    distribution : float array, shape (n_resamples,)
        The simulated errors.
    n_bins_effective : int
        Occupied bins.
    n_resamples, random_state : int
        Replicates and seed.
    assumption : str
        How rows depend on each other in the simulation.

    Examples
    --------
    >>> from calibration import calibration_null
    >>> len(calibration_null([0.5] * 25, n_resamples=200).distribution)
    200
    """

    mean: float
    q95: float
    distribution: FloatArray
    n_bins_effective: int
    n_resamples: int
    random_state: int
    assumption: str


@dataclass(frozen=True)
class CalibrationTest:
    """An expected calibration error beside what calibrated scores would show.

    Attributes
    ----------
    value : float
        The error of the data.
    null_mean, null_q95 : float
        Mean and 95 % point under calibration.
    pvalue : float
        (1 + #{null >= value}) / (1 + n_resamples).
    n_bins_effective : int
        Occupied bins.
    n_resamples, random_state : int
        Replicates and seed.
    assumption : str
        How rows depend on each other in the simulation.

    Examples
    --------
    >>> from calibration import ece_test
    >>> ece_test([1, 0, 1, 0] * 10, [0.9] * 40).n_bins_effective
    1
    """

    value: float
    null_mean: float
    null_q95: float
    pvalue: float
    n_bins_effective: int
    n_resamples: int
    random_state: int
    assumption: str


def calibration_null(
    confidence: ArrayLike,
    *,
    binning: Binning = DEFAULT_BINNING,
    norm: Norm = "l1",
    groups: ArrayLike | None = None,
    n_resamples: int = 1000,
    random_state: int = 0,
) -> CalibrationNull:
    """Return the distribution of the calibration error if the scores were calibrated; no labels needed.

    Parameters
    ----------
    confidence : array-like, shape (n,)
        Scores, taken as the chance of y = 1.
    binning : Binning
        15 equal-width right-closed bins by default.
    norm : "l1", "l2" or "max"
        As in `expected_calibration_error`.
    groups : array-like, shape (n,), optional
        Rows that share a group share one uniform; see the module.
    n_resamples : int
        Replicates. The cost is n times this; the memory is bounded.
    random_state : int
        Seed; the result depends on nothing else, nor on the order of the rows.

    Returns
    -------
    CalibrationNull
        Mean, 95 % point and the simulated errors.

    Examples
    --------
    >>> null = calibration_null([0.5] * 25, n_resamples=200)
    >>> round(null.mean, 2), null.n_bins_effective
    (0.08, 1)
    """
    scored = ScoredBins.of(confidence, binning, groups)
    errors = _null_errors(scored, norm, check_whole(n_resamples, "n_resamples"), random_state)
    return CalibrationNull(
        mean=float(errors.mean()),
        q95=float(np.quantile(errors, 0.95, method="inverted_cdf")),
        distribution=errors,
        n_bins_effective=len(scored.start),
        n_resamples=n_resamples,
        random_state=random_state,
        assumption=scored.assumption,
    )


def ece_test(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    binning: Binning = DEFAULT_BINNING,
    groups: ArrayLike | None = None,
    n_resamples: int = 999,
    random_state: int = 0,
) -> CalibrationTest:
    """Test whether an expected calibration error is larger than calibrated scores would show.

    Parameters
    ----------
    correct : array-like, shape (n,)
        Whether each row was right: 0/1 or False/True.
    confidence : array-like, shape (n,)
        The chance claimed for it.
    binning : Binning
        15 equal-width right-closed bins by default.
    groups : array-like, shape (n,), optional
        Rows that share a group share one uniform in the simulation, which is stated in `assumption`. Leave it
        out only if rows are independent.
    n_resamples : int
        Replicates; the smallest possible p-value is 1 / (1 + n_resamples).
    random_state : int
        Seed.

    Returns
    -------
    CalibrationTest
        The error, its null mean and 95 % point, and the p-value.

    Examples
    --------
    >>> result = ece_test([1, 0, 1, 0] * 10, [0.9] * 40)
    >>> round(result.value, 12), result.pvalue
    (0.4, 0.001)
    """
    outcome = observe(correct, confidence).outcome
    scored = ScoredBins.of(confidence, binning, groups)
    value = float(binned_error(scored.sum_probability, scored.hits(outcome), scored.count, "l1"))
    errors = _null_errors(scored, "l1", check_whole(n_resamples, "n_resamples"), random_state)
    return CalibrationTest(
        value=value,
        null_mean=float(errors.mean()),
        null_q95=float(np.quantile(errors, 0.95, method="inverted_cdf")),
        pvalue=(1 + int(np.count_nonzero(errors >= value - _SAME))) / (1 + n_resamples),
        n_bins_effective=len(scored.start),
        n_resamples=n_resamples,
        random_state=random_state,
        assumption=scored.assumption,
    )


@dataclass(frozen=True, eq=False)
class ScoredBins:
    """Scores sorted and cut into their occupied bins, ready to be simulated.

    Sorting by score makes every bin a run of rows, and the draws free of the order in which rows were passed.

    Attributes
    ----------
    order : int array, shape (n,)
        Positions of the sorted rows in what was passed.
    prob : float array, shape (n,)
        Sorted scores.
    start, count : int array, shape (m,)
        First row and number of rows of every occupied bin.
    sum_probability : float array, shape (m,)
        Sum of the scores.
    edges : float array, shape (m, 2)
        Lower and upper edge of every occupied bin.
    group : int array, shape (n,), or None
        Group of the sorted rows.
    n_groups : int
        Groups; n without `group`.
    """

    order: IntArray
    prob: FloatArray
    start: IntArray
    count: IntArray
    sum_probability: FloatArray
    edges: FloatArray
    group: IntArray | None
    n_groups: int

    @classmethod
    def of(cls, confidence: ArrayLike, binning: Binning, groups: ArrayLike | None) -> ScoredBins:
        """Return the layout of scores that have not been checked yet."""
        prob = read_probabilities(confidence, "confidence")
        if prob.ndim != 1:
            raise ValueError(f"confidence has shape {prob.shape}; one score per row is wanted")
        group, n_groups = (None, len(prob)) if groups is None else group_codes(groups, len(prob))
        order = np.argsort(prob, kind="stable")
        prob = prob[order]
        edges = binning.edges(prob)
        occupied, start = np.unique(binning.locate(prob, edges), return_index=True)
        return cls(
            order=order,
            prob=prob,
            start=start,
            count=np.diff(start, append=len(prob)),
            sum_probability=np.add.reduceat(prob, start),
            edges=np.stack([edges[occupied], edges[occupied + 1]], axis=1),
            group=None if group is None else group[order],
            n_groups=n_groups,
        )

    @property
    def assumption(self) -> str:
        """Return how rows depend on each other in the simulation."""
        return _INDEPENDENT if self.group is None else _GROUPED

    def hits(self, outcome: NDArray[np.generic]) -> IntArray:
        """Return the number of positive outcomes in every occupied bin."""
        return np.asarray(np.add.reduceat(outcome[self.order], self.start, dtype=np.intp))

    def simulated_hits(self, n_resamples: int, random_state: int) -> Iterator[IntArray]:
        """Yield calibrated hits, shape (replicates of this chunk, m).

        The uniforms are consumed replicate by replicate, so the chunk size does not change them.
        """
        rng = np.random.default_rng(random_state)
        step = max(1, _CHUNK_CELLS // len(self.prob))
        for done in range(0, n_resamples, step):
            uniform = rng.random((min(step, n_resamples - done), self.n_groups))
            if self.group is not None:
                uniform = uniform[:, self.group]
            yield np.add.reduceat(uniform < self.prob, self.start, axis=1, dtype=np.intp)


def _null_errors(scored: ScoredBins, norm: Norm, n_resamples: int, random_state: int) -> FloatArray:
    chunks = scored.simulated_hits(n_resamples, random_state)
    return np.concatenate([binned_error(scored.sum_probability, h, scored.count, norm) for h in chunks])
