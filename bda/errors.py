"""Errors and warnings that the traces, arms and comparisons raise."""

from __future__ import annotations

from typing import Any

__all__ = ["NotFittedError", "RepeatWarning", "TraceError", "TraceWarning"]


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

    def __init__(
        self, problem: str, *, where: str = "", field: str = "", value: Any = None, remedy: str = ""
    ) -> None:
        self.problem, self.where, self.field, self.value, self.remedy = problem, where, field, value, remedy
        seen = f"{field} = {_shown(value)} " if field else ""
        super().__init__(f"{where + ': ' if where else ''}{seen}{problem}{'; ' + remedy if remedy else ''}")


class TraceWarning(UserWarning):
    """Something in the traces was set aside rather than read."""


class RepeatWarning(UserWarning):
    """An agent repeats itself so often that its evidence turns its sign (spec: turning n)."""


class NotFittedError(ValueError, AttributeError):
    """An arm was used before `fit`."""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
