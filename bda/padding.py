"""Padding to powers of two, so that another size does not compile again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["bucket", "grown"]


def bucket(n: int) -> int:
    """Return the smallest power of two that is at least `n`, and at least 1.

    Parameters
    ----------
    n : int
        A size.

    Returns
    -------
    int
        Its bucket.

    Examples
    --------
    >>> [bucket(n) for n in (0, 1, 5, 8)]
    [1, 1, 8, 8]
    """
    return 1 << max(n - 1, 0).bit_length()


def grown(array: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return `array` with rows of zeros added up to `size`.

    Parameters
    ----------
    array : float array, shape (n, ...)
        What to grow.
    size : int
        Rows wanted, at least n.

    Returns
    -------
    float array, shape (size, ...)
        The rows, then zeros.

    Examples
    --------
    >>> grown(np.ones((2, 1)), 3).ravel().tolist()
    [1.0, 1.0, 0.0]
    """
    return np.pad(array, [(0, size - len(array))] + [(0, 0)] * (array.ndim - 1))
