"""What a user hands to an arm, as traces; and names handed back, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.names import Name
from bda.traces import Traces

__all__ = ["as_traces", "name_array"]


def as_traces(traces: Any, classes: NDArray[Any] | None = None) -> Traces:
    """Return what a user passed as traces: `Traces`, a long frame, or a wide array of votes.

    Parameters
    ----------
    traces : Traces, frame or array
        A frame with a `task` column is long; everything else is wide.
    classes : array, optional
        Class names for a wide array; by default those seen.

    Returns
    -------
    Traces
        The traces.

    Examples
    --------
    >>> as_traces([["a", "b"], ["b", "b"]]).classes
    ('a', 'b')
    """
    if isinstance(traces, Traces):
        return traces
    known = None if classes is None else classes.tolist()
    if hasattr(traces, "columns") and "task" in list(traces.columns):
        return Traces.from_frame(traces, classes=known)
    return Traces.from_votes(traces, classes=known)


def name_array(names: Sequence[Name]) -> NDArray[Any]:
    """Return names as an array of their own type, or of objects where NumPy would change them.

    Parameters
    ----------
    names : sequence of names
        Strings, integers or booleans.

    Returns
    -------
    array, shape (n_names,)
        Objects for names of several types, integers beyond 64 bits, and the like.

    Examples
    --------
    >>> name_array(["a", "b"]).dtype.kind, name_array(["a", 1]).dtype.kind
    ('U', 'O')
    """
    if len({type(name) for name in names}) == 1:
        array = np.array(names)
        if array.dtype.kind in "Uib" and array.tolist() == list(names):
            return array
    column = np.empty(len(names), object)
    column[:] = names
    return column
