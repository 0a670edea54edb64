r"""Accuracy, proper scores and binned calibration errors of class probabilities.

Rows i carry weights w_i, normalised to sum 1; bins b hold weight W_b, mean probability p_b and frequency
y_b.

    Brier score          binary   sum_i w_i (p_i - y_i)^2
                         sum      sum_i w_i sum_k (p_ik - [y_i = k])^2,    half: one half of it
    log loss                     -sum_i w_i ln p_i(y_i)                    (nats)
    calibration error    l1       sum_b W_b |p_b - y_b|                    (ECE)
                         l2       (sum_b W_b (p_b - y_b)^2)^(1/2)          (RMSCE)
                         max      max_b |p_b - y_b|                        (MCE)
    debiased square               sum_b W_b [(p_b - y_b)^2 - y_b (1 - y_b) / (n_b - 1)]

Sources: Brier (1950); Naeini, Cooper & Hauskrecht (2015) for the binned error; Kumar, Liang & Ma (2019) for
the debiased square. The plug-in errors are biased up on calibrated data (Jensen), by about (M/n)^(1/2):
never show one without its null mean, `calibration.ece_test`.

Every function takes labels and probabilities as `calibration.observations.observe` describes them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.binning import DEFAULT_BINNING, Binning, Bins, bin_sums
from calibration.observations import FloatArray, Observations, observe

__all__ = [
    "accuracy",
    "binned_error",
    "brier_score",
    "calibration_error_sq_debiased",
    "expected_calibration_error",
    "log_loss",
]

Norm = Literal["l1", "l2", "max"]
View = Literal["positive", "confidence", "classwise"]

CLIP = 2.0**-52  # scikit-learn's for float64


def accuracy(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
) -> float:
    """Return the share of rows whose most probable class is the label; of tied classes the first is taken.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        Labels.
    y_prob : array-like, shape (n,) or (n, K)
        Probabilities. With one column, 0.5 is a tie and counts as the negative class.
    sample_weight, labels, pos_label : optional
        See `calibration.observations.observe`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> accuracy([0, 1, 1], [0.2, 0.5, 0.9])
    0.6666666666666666
    """
    rows = observe(y_true, y_prob, sample_weight=sample_weight, labels=labels, pos_label=pos_label)
    return rows.mean(_predicted(rows) == rows.outcome)


def brier_score(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    form: Literal["binary", "half", "sum"] = "binary",
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
) -> float:
    """Return the Brier score, in squared probability, lower is better.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        Labels.
    y_prob : array-like, shape (n,) or (n, K)
        Probabilities.
    form : "binary", "half" or "sum"
        "binary" scores P(positive) and needs two classes; "sum" adds over classes, 0 to 2; "half" is half of
        "sum", 0 to 1, and for two classes equals "binary".
    sample_weight, labels, pos_label : optional
        See `calibration.observations.observe`.

    Returns
    -------
    float
        The score.

    Examples
    --------
    >>> round(brier_score([0, 1], [0.2, 0.7]), 12)
    0.065
    >>> round(brier_score([0, 2], [[0.8, 0.1, 0.1], [0.2, 0.2, 0.6]], form="sum"), 12)
    0.15
    """
    rows = observe(y_true, y_prob, sample_weight=sample_weight, labels=labels, pos_label=pos_label)
    if form == "binary":
        outcome, prob = _positive(rows, "form='half' or form='sum'")
        return rows.mean((prob - outcome) ** 2)
    if form not in ("half", "sum"):
        raise ValueError(f"form is {form!r}; 'binary', 'half' or 'sum' is wanted")
    columns = rows.columns()
    # sum_k (p_k - [k = y])^2 = sum_k p_k^2 + 1 - 2 p_y loses digits to cancellation, hence the copy.
    miss = columns.copy()
    miss[np.arange(len(miss)), rows.outcome.astype(np.intp)] -= 1
    return rows.mean(np.einsum("ik,ik->i", miss, miss)) * (0.5 if form == "half" else 1.0)


@overload
def log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    eps: float | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
    return_clipped: Literal[False] = False,
) -> float: ...
@overload
def log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    eps: float | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
    return_clipped: Literal[True],
) -> tuple[float, int]: ...
def log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    eps: float | None = None,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
    return_clipped: bool = False,
) -> float | tuple[float, int]:
    """Return the mean negative natural logarithm of the probability given to the true class, in nats.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        Labels.
    y_prob : array-like, shape (n,) or (n, K)
        Probabilities.
    eps : float, optional
        The true class's probability is clipped to [eps, 1 - eps]; 2**-52 by default, at most 36 nats a row.
        With 0 a certain miss costs infinity.
    sample_weight, labels, pos_label : optional
        See `calibration.observations.observe`.
    return_clipped : bool
        Also return how many rows gave the true class less than eps: their cost was made up by the clip.

    Returns
    -------
    float, or (float, int)
        The loss, and the number of clipped rows when asked for.

    Examples
    --------
    >>> round(log_loss([1, 1], [0.5, 0.25]), 6)
    1.039721
    >>> log_loss([1, 1], [0.0, 0.5], eps=0)
    inf
    >>> log_loss([1, 1], [0.0, 0.5], return_clipped=True)[1]
    1
    """
    eps = CLIP if eps is None else eps
    if not 0 <= eps < 0.5:
        raise ValueError(f"eps is {eps!r}; a number in [0, 0.5) is wanted")
    rows = observe(y_true, y_prob, sample_weight=sample_weight, labels=labels, pos_label=pos_label)
    if rows.prob.ndim == 1:
        true_prob = np.where(rows.outcome == 1, rows.prob, 1.0 - rows.prob)
    else:
        true_prob = rows.prob[np.arange(len(rows.prob)), rows.outcome.astype(np.intp)]
    with np.errstate(divide="ignore"):
        loss = rows.mean(-np.log(np.clip(true_prob, eps, 1.0 - eps)))
    loss += 0.0  # -0.0 reads badly
    return (loss, int(np.count_nonzero(true_prob < eps))) if return_clipped else loss


@overload
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    binning: Binning = ...,
    norm: Norm = ...,
    debias: bool = ...,
    view: View = ...,
    sample_weight: ArrayLike | None = ...,
    labels: Sequence[Hashable] | None = ...,
    pos_label: Hashable | None = ...,
    return_bins: Literal[False] = ...,
) -> float: ...
@overload
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    binning: Binning = ...,
    norm: Norm = ...,
    debias: bool = ...,
    view: View = ...,
    sample_weight: ArrayLike | None = ...,
    labels: Sequence[Hashable] | None = ...,
    pos_label: Hashable | None = ...,
    return_bins: Literal[True],
) -> tuple[float, tuple[Bins, ...]]: ...
def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    binning: Binning = DEFAULT_BINNING,
    norm: Norm = "l1",
    debias: bool = False,
    view: View = "positive",
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
    return_bins: bool = False,
) -> float | tuple[float, tuple[Bins, ...]]:
    """Return the binned calibration error, in probability, lower is better; it is biased up.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        Labels; or, with a confidence as `y_prob`, whether each row was correct.
    y_prob : array-like, shape (n,) or (n, K)
        Probabilities.
    binning : Binning
        15 equal-width right-closed bins by default.
    norm : "l1", "l2" or "max"
        ECE, its root-mean-square form, or the largest error of a bin.
    debias : bool
        With norm="l2": the root of the debiased square, 0 where that is negative.
    view : "positive", "confidence" or "classwise"
        P(positive) against the positive label; the largest probability against being right; or the unweighted
        mean over the columns, each against its own class.
    sample_weight, labels, pos_label : optional
        See `calibration.observations.observe`.
    return_bins : bool
        Also return the bins, a tuple: one `Bins`, or one for every class in the class-wise view.

    Returns
    -------
    float, or (float, tuple of Bins)
        The error, and its bins when asked for.

    Notes
    -----
    An empty bin weighs nothing. With max, a bin of a single row counts in full.

    Examples
    --------
    Two views of the same rows, which only agree by chance:

    >>> y, p = [0, 1, 1], [0.2, 0.5, 0.9]
    >>> round(expected_calibration_error(y, p, binning=Binning(n_bins=2)), 12)
    0.133333333333
    >>> round(expected_calibration_error(y, p, binning=Binning(n_bins=2), view="confidence"), 12)
    0.266666666667
    """
    if norm not in ("l1", "l2", "max"):
        raise ValueError(f"norm is {norm!r}; 'l1', 'l2' or 'max' is wanted")
    if debias and norm != "l2":
        raise ValueError(f"debias=True with norm={norm!r}; only the square can be debiased: pass norm='l2'")
    rows = observe(y_true, y_prob, sample_weight=sample_weight, labels=labels, pos_label=pos_label)
    bins = tuple(bin_sums(outcome, prob, rows.weight, binning) for outcome, prob in _seen(rows, view))
    if debias:
        errors = [max(_debiased_square(b), 0.0) ** 0.5 for b in bins]
    else:
        errors = [float(binned_error(b.sum_probability, b.sum_outcome, b.weight, norm)) for b in bins]
    value = float(np.mean(errors))
    return (value, bins) if return_bins else value


def calibration_error_sq_debiased(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    binning: Binning = DEFAULT_BINNING,
    view: View = "positive",
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
) -> float:
    """Return the debiased squared calibration error, signed: its mean is 0 on calibrated data.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        Labels.
    y_prob : array-like, shape (n,) or (n, K)
        Probabilities.
    binning : Binning
        15 equal-width right-closed bins by default.
    view : "positive", "confidence" or "classwise"
        See `expected_calibration_error`.
    sample_weight, labels, pos_label : optional
        See `calibration.observations.observe`.

    Returns
    -------
    float
        In squared probability. Negative values are legitimate; clip only for a root.

    Notes
    -----
    A bin of fewer than two rows contributes 0. With weights n_b is Kish's (sum w)^2 / sum w^2, which makes
    the term unbiased for importance weights and blind to their scale; so it is the one metric here in which
    a whole weight is not a repetition of the row.

    Examples
    --------
    >>> y = [0, 0, 1, 0, 1, 0, 1, 1, 0, 1]
    >>> p = [0.05, 0.12, 0.18, 0.25, 0.33, 0.47, 0.52, 0.66, 0.71, 0.98]
    >>> round(calibration_error_sq_debiased(y, p, binning=Binning(n_bins=5)), 12)
    -0.15358
    """
    rows = observe(y_true, y_prob, sample_weight=sample_weight, labels=labels, pos_label=pos_label)
    seen = _seen(rows, view)
    return float(np.mean([_debiased_square(bin_sums(y, p, rows.weight, binning)) for y, p in seen]))


def binned_error(
    sum_probability: FloatArray, sum_outcome: NDArray[Any], weight: NDArray[Any], norm: Norm
) -> FloatArray:
    """Return the calibration error from sums in bins, over the last axis; an empty bin weighs 0."""
    gap = np.abs(sum_probability - sum_outcome)
    if norm == "l1":
        return np.asarray(gap.sum(axis=-1) / weight.sum())
    per_row = np.divide(gap, weight, out=np.zeros(gap.shape), where=weight > 0)
    if norm == "max":
        return np.asarray(per_row.max(axis=-1))
    return np.asarray(np.sqrt((gap * per_row).sum(axis=-1) / weight.sum()))


def _debiased_square(bins: Bins) -> float:
    several = bins.effective_count > 1 + 1e-9
    w, n = bins.weight[several], bins.effective_count[several]
    p, y = bins.sum_probability[several] / w, bins.sum_outcome[several] / w
    return float((w * ((p - y) ** 2 - y * (1 - y) / (n - 1))).sum() / bins.weight.sum())


def _predicted(rows: Observations) -> NDArray[Any]:
    return np.asarray(rows.prob > 0.5) if rows.prob.ndim == 1 else rows.prob.argmax(axis=1)


def _positive(rows: Observations, instead: str) -> tuple[NDArray[Any], FloatArray]:
    if rows.n_classes != 2:
        raise ValueError(f"y_prob has {rows.n_classes} columns; which is positive is not defined: pass {instead}")
    return rows.outcome, rows.prob if rows.prob.ndim == 1 else rows.prob[:, 1]


def _seen(rows: Observations, view: View) -> list[tuple[NDArray[Any], FloatArray]]:
    """Return the pairs of 0/1 outcomes and probabilities that a view compares."""
    if view == "positive":
        return [_positive(rows, "view='confidence' or view='classwise'")]
    if view == "confidence":
        return [(_predicted(rows) == rows.outcome, rows.columns().max(axis=1))]
    if view == "classwise":
        columns = rows.columns()
        return [(rows.outcome == k, columns[:, k]) for k in range(rows.n_classes)]
    raise ValueError(f"view is {view!r}; 'positive', 'confidence' or 'classwise' is wanted")
