"""Labels, probabilities, weights and groups as the metrics take them: checked once here, then trusted.

A row i is a label y_i, a probability p_i = P(y_i = 1), or a row of K class probabilities that sums to 1, a
weight w_i >= 0 (1 when not given) and, for clustered statements, a group g_i. Everything becomes float64 or
integer codes in NumPy; what the caller passed is never written to. A row of weight 0 is dropped, as if it
had not been passed.

Tolerance: 1e-6 for float64 input and 1e-4 for narrower floats (a float32 softmax misses 1 by that much). A
value that far outside [0, 1] is clipped, a value farther out is an error. Logits are never guessed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FloatArray",
    "IntArray",
    "Observations",
    "central_tails",
    "check_level",
    "check_whole",
    "group_codes",
    "observe",
    "read_probabilities",
    "read_values",
    "read_weights",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Observations:
    """Checked rows.

    Attributes
    ----------
    outcome : integer or bool array, shape (n,)
        Class codes 0..K-1.
    prob : float array, shape (n,) or (n, K)
        P(class 1), or every class.
    weight : float array, shape (n,), or None
        Positive; None when all are 1.
    """

    outcome: NDArray[Any]
    prob: FloatArray
    weight: FloatArray | None

    @property
    def n_classes(self) -> int:
        """Return K, 2 when only P(class 1) was given."""
        return 2 if self.prob.ndim == 1 else self.prob.shape[1]

    def columns(self) -> FloatArray:
        """Return every class's probability, shape (n, K)."""
        return self.prob if self.prob.ndim == 2 else np.column_stack([1.0 - self.prob, self.prob])

    def mean(self, values: NDArray[Any]) -> float:
        """Return the weighted mean of per-row values."""
        if self.weight is None:
            return float(np.mean(values))
        return float(self.weight @ values / self.weight.sum())


def observe(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: Sequence[Hashable] | None = None,
    pos_label: Hashable | None = None,
) -> Observations:
    """Check labels, probabilities and weights and return them as arrays.

    Parameters
    ----------
    y_true : array-like, shape (n,)
        Labels: 0/1, False/True or -1/1 for two classes, 0..K-1 for K, or what `labels` or `pos_label` names.
    y_prob : array-like, shape (n,), (n, 1), (n, 2) or (n, K)
        P(positive), or one column for every class; of two columns, column 1 is the positive class.
    sample_weight : array-like, shape (n,), optional
        Weights >= 0, not all 0.
    labels : sequence, optional
        The labels in the order of the columns (two of them for one column: negative, positive).
    pos_label : optional
        The positive label, for two classes.

    Returns
    -------
    Observations
        The rows of positive weight.

    Raises
    ------
    ValueError
        Naming the first row at fault and the value there.

    Examples
    --------
    >>> observe(["yes", "no"], [0.9, 0.2], pos_label="yes").outcome.tolist()
    [1, 0]
    """
    prob = read_probabilities(y_prob)
    n_classes = 2 if prob.ndim == 1 else prob.shape[1]
    outcome = _codes(_label_array(y_true, len(prob)), n_classes, labels, pos_label)
    if sample_weight is None:
        return Observations(outcome, prob, None)
    weight = read_weights(sample_weight, len(prob))
    kept = weight > 0
    if kept.all():
        return Observations(outcome, prob, weight)
    return Observations(outcome[kept], prob[kept], weight[kept])


def read_probabilities(y_prob: ArrayLike, name: str = "y_prob") -> FloatArray:
    """Return probabilities as float64, shape (n,) or (n, K), checked and clipped within the tolerance."""
    given = np.asarray(y_prob)
    prob = read_values(given, name)
    if prob.ndim == 2 and prob.shape[1] == 1:
        prob = prob[:, 0]
    tolerance = 1e-4 if given.dtype.kind == "f" and given.dtype.itemsize < 8 else 1e-6
    low, high = prob.min(), prob.max()
    if low < -tolerance or high > 1 + tolerance:
        where = _first((prob < -tolerance) | (prob > 1 + tolerance))
        raise ValueError(
            f"{_at(name, where)} is {prob[where]!r} but a probability lies in [0, 1]; "
            f"pass probabilities, not logits or per cents"
        )
    if low < 0 or high > 1:
        prob = np.clip(prob, 0.0, 1.0)
    if prob.ndim == 2:
        total = prob.sum(axis=1)
        wrong = np.abs(total - 1) > tolerance
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"{name}[{row}] sums to {total[row]!r}; a row of class probabilities sums to 1 within "
                f"{tolerance:g}: normalise it first"
            )
    return prob


def read_values(values: ArrayLike, name: str = "values", ndim: tuple[int, ...] = (1, 2)) -> FloatArray:
    """Return finite numbers as float64, shape (n,) or (n, A); empty, NaN and inf are errors."""
    given = np.asarray(values)
    if given.dtype.kind not in "biufO":
        raise ValueError(f"{name} holds {given.dtype} where numbers are wanted")
    try:
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} cannot be read as numbers: {error}") from error
    if array.ndim not in ndim:
        raise ValueError(f"{name} has shape {array.shape}; {' or '.join(f'{d}-D' for d in ndim)} is wanted")
    if array.size == 0:
        raise ValueError(f"{name} is empty, shape {array.shape}; at least one row is needed")
    # NaN passes through min and max, so two cheap passes decide the usual case.
    if not (np.isfinite(array.min()) and np.isfinite(array.max())):
        where = _first(~np.isfinite(array))
        raise ValueError(f"{_at(name, where)} is {float(array[where])}; drop or fill such rows first")
    return array


def read_weights(sample_weight: ArrayLike, n: int) -> FloatArray:
    """Return weights, shape (n,): 0 or more, not all 0."""
    weight = read_values(sample_weight, "sample_weight", ndim=(1,))
    if len(weight) != n:
        raise ValueError(f"sample_weight has {len(weight)} rows but there are {n} rows to weigh")
    if weight.min() < 0:
        row = int(np.argmax(weight < 0))
        raise ValueError(f"sample_weight[{row}] is {float(weight[row])}; weights are 0 or more")
    if weight.max() == 0:
        raise ValueError("sample_weight is 0 on every row; at least one row must count")
    return weight


def group_codes(groups: ArrayLike, n: int) -> tuple[IntArray, int]:
    """Return each row's group as a code in the sorted order of the group names, and the number of groups."""
    given = np.asarray(groups)
    if given.shape != (n,):
        raise ValueError(f"groups has shape {given.shape} but there are {n} rows; one group per row is wanted")
    if given.dtype.kind == "f":
        read_values(given, "groups")
    if given.dtype.kind == "O":
        given = _uniform_type(given, "groups")
    names, codes = np.unique(given, return_inverse=True)
    return codes.astype(np.intp, copy=False), len(names)


def check_whole(value: int, name: str) -> int:
    """Return a whole number of 1 or more."""
    if isinstance(value, bool) or int(value) != value or value < 1:
        raise ValueError(f"{name} is {value!r}; a whole number, 1 or more, is wanted")
    return int(value)


def check_level(level: float, name: str) -> float:
    """Return a level strictly between 0 and 1."""
    if not 0 < level < 1:
        raise ValueError(f"{name} is {level!r}; a share strictly between 0 and 1 is wanted, not per cent")
    return float(level)


def central_tails(level: float) -> tuple[float, float]:
    """Return the two tail probabilities of a central interval, free of the rounding in 1 - level."""
    return round(0.5 - level / 2, 12), round(0.5 + level / 2, 12)


def _label_array(y_true: ArrayLike, n: int) -> NDArray[Any]:
    labels = np.asarray(y_true)
    if labels.ndim != 1:
        raise ValueError(f"y_true has shape {labels.shape}; one label per row, shape (n,), is wanted (not one-hot)")
    if len(labels) != n:
        raise ValueError(f"y_true has {len(labels)} rows but y_prob has {n}")
    if labels.dtype.kind == "O":
        return _uniform_type(labels, "y_true")
    if labels.dtype.kind == "U" and isinstance(y_true, (list, tuple)):
        return _uniform_type(np.array(y_true, dtype=object), "y_true")
    if labels.dtype.kind == "f":
        read_values(labels, "y_true")
    return labels


def _uniform_type(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an object array as strings or as numbers; a mixture would compare unequal without a word."""
    text = [isinstance(value, str) for value in values]
    if all(text):
        return values.astype(str)
    for row, (value, is_text) in enumerate(zip(values, text, strict=True)):
        if is_text != text[0] or not isinstance(value, (str, bool, int, float, np.generic)) or value != value:
            raise ValueError(
                f"{name}[{row}] is {value!r} but {name}[0] is {values[0]!r}; "
                f"all strings or all numbers, none missing, are wanted"
            )
    return np.array(values.tolist())


def _codes(
    y: NDArray[Any], n_classes: int, labels: Sequence[Hashable] | None, pos_label: Hashable | None
) -> NDArray[Any]:
    if labels is not None and pos_label is not None:
        raise ValueError("pass labels or pos_label, not both: with two labels the second is the positive one")
    if pos_label is not None:
        return _against_positive(y, n_classes, pos_label)
    if labels is not None:
        if len(labels) != n_classes or len(set(labels)) != n_classes:
            raise ValueError(f"labels is {list(labels)!r} but y_prob describes {n_classes} classes")
        return _looked_up(y, {label: code for code, label in enumerate(labels)})
    return _inferred(y, n_classes)


def _against_positive(y: NDArray[Any], n_classes: int, pos_label: Hashable) -> NDArray[Any]:
    seen, code = np.unique(y, return_inverse=True)
    values = seen.tolist()
    if n_classes != 2:
        raise ValueError(f"pos_label is for two classes but y_prob has {n_classes} columns; pass labels")
    if len(values) > 2 or (len(values) == 2 and pos_label not in values):
        raise ValueError(
            f"y_true holds {values[:5]!r} and pos_label is {pos_label!r}; two labels, one of them pos_label, are wanted"
        )
    return np.array([value == pos_label for value in values], np.int8)[code]


def _looked_up(y: NDArray[Any], code: dict[Hashable, int]) -> NDArray[Any]:
    seen, inverse = np.unique(y, return_inverse=True)
    codes = np.array([code.get(value, -1) for value in seen.tolist()])[inverse]
    if codes.min() < 0:
        row = int(np.argmax(codes < 0))
        raise ValueError(f"y_true[{row}] is {y[row].item()!r} but labels are {list(code)!r}")
    return codes


def _inferred(y: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return codes without being told the labels: only 0..K-1, False/True and -1/1 are safe to infer."""
    if y.dtype.kind == "b" and n_classes == 2:
        return y
    if y.dtype.kind not in "iuf":
        raise ValueError(
            f"y_true[0] is {y[0].item()!r}; only 0/1, False/True, -1/1 or 0..K-1 speak for themselves: "
            f"pass {'pos_label=' if n_classes == 2 else 'labels='}"
        )
    low, high = y.min(), y.max()
    whole = y.dtype.kind != "f" or bool((y == np.rint(y)).all())
    if whole and low >= 0 and high < n_classes:
        return y if y.dtype.kind == "i" else y.astype(np.intp)
    if n_classes == 2 and low == -1 and high <= 1 and bool((np.abs(y) == 1).all()):
        return (y > 0).astype(np.int8)
    row = int(np.argmax((y < 0) | (y >= n_classes) | (y != np.rint(y))))
    raise ValueError(
        f"y_true[{row}] is {y[row].item()!r} but there are {n_classes} classes, coded 0..{n_classes - 1}; "
        f"pass {'pos_label= or labels=' if n_classes == 2 else 'labels='} for other labels"
    )


def _first(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def _at(name: str, where: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, where))}]"
