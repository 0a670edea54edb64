"""Errors and warnings that the traces, arms and comparisons raise."""

from __future__ import annotations

from typing import Any

__all__ = ["EvidenceWarning", "NotFittedError", "TraceError", "TraceWarning", "shown"]


class TraceError(ValueError):
    """A trace that cannot be read: what is wrong, where, the value seen and what to do.

    Attributes
    ----------
    problem : str
        What is wrong.
    where : str
        File and line, or row of a frame, and the task where it is known.
    field : str
        The field at fault; empty where no single field is.
    value : object
        The value seen.
    remedy : str
        What to do about it.

    Examples
    --------
    >>> from bda.errors import TraceError
    >>> print(TraceError("is not a move type", where="a.jsonl:3", field="type", value="prpose",
    ...                  remedy="use propose, concede, challenge or abstain"))
    a.jsonl:3: type = 'prpose' is not a move type; use propose, concede, challenge or abstain
    """

    def __init__(self, problem: str, *, where: str = "", field: str = "", value: Any = None, remedy: str = "") -> None:
        self.problem, self.where, self.field, self.value, self.remedy = problem, where, field, value, remedy
        seen = f"{field} = {shown(value)} " if field else ""
        super().__init__(f"{where + ': ' if where else ''}{seen}{problem}{'; ' + remedy if remedy else ''}")


class TraceWarning(UserWarning):
    """Something in the traces was set aside rather than read."""


class EvidenceWarning(UserWarning):
    """Evidence counts the other way than was meant: by repeats from below chance, or by how a challenge is read."""


class NotFittedError(ValueError, AttributeError):
    """An arm was used before `fit`."""


def shown(value: Any) -> str:
    """Return `value` as a message shows it: NumPy and pandas wrappers taken off, cut at 80 characters.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str
        Its `repr`.

    Examples
    --------
    >>> import numpy as np
    >>> shown([np.int64(5), np.float64(0.5)])
    '[5, 0.5]'
    """
    text = repr(_unwrapped(value))
    return text if len(text) <= 80 else text[:77] + "..."


def _unwrapped(value: Any) -> Any:
    unwrap = getattr(value, "tolist", None)
    if callable(unwrap):
        value = unwrap()
    if type(value) in (list, tuple):
        return type(value)(map(_unwrapped, value))
    if type(value) is dict:
        return {_unwrapped(key): _unwrapped(held) for key, held in value.items()}
    return value
