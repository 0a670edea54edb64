"""Names of tasks, agents and classes: plain strings, integers or booleans, and their integer codes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

import numpy as np

from bda.errors import TraceError

__all__ = ["Name", "Names", "ordered", "plain_name"]

Name: TypeAlias = str | int | bool


class Names:
    """A growing table from names to codes 0, 1, ... in order of first use.

    `True` and `1` are equal in Python; a table that meets both refuses the second.
    """

    def __init__(self, kind: str, names: Iterable[Name] = ()) -> None:
        self.kind = kind
        self.code: dict[Name, int] = {}
        for name in names:
            self.add(name)

    def add(self, name: Name) -> int:
        """Return the code of `name`, giving it the next one if it is new."""
        code = self.code.get(name)
        if code is None:
            code = len(self.code)
            self.code[name] = code
        elif type(name) is not str:
            known = next(key for key in self.code if key == name)
            if type(known) is not type(name):
                raise TraceError(
                    f"mixes booleans and numbers: {known!r} and {name!r} cannot be told apart",
                    field=self.kind,
                    value=name,
                    remedy="use one type of name",
                )
        return code

    def __len__(self) -> int:
        return len(self.code)

    def sorted(self) -> tuple[tuple[Name, ...], np.ndarray]:
        """Return the names in canonical order and, for every old code, its new one."""
        names = list(self.code)
        order = ordered(names)
        rank = np.empty(len(names), np.int32)
        rank[order] = np.arange(len(names), dtype=np.int32)
        return tuple(names[i] for i in order), rank


def ordered(names: list[Name]) -> list[int]:
    """Return the positions of `names` in canonical order: by type, then by value.

    The order depends on the names alone, so nothing downstream depends on the order of a file.

    Examples
    --------
    >>> ordered(["b", 10, "a", 2])
    [3, 1, 2, 0]
    """
    return sorted(range(len(names)), key=lambda i: (type(names[i]).__name__, names[i]))


def plain_name(value: Hashable, field: str, where: str = "") -> Name:
    """Return `value` as a plain str, int or bool.

    NumPy scalars are unwrapped and integral floats (a CSV column with a gap) become integers.

    Raises
    ------
    TraceError
        For NaN, fractions, empty strings and anything that is not a name.
    """
    if type(value) is str:
        if value:
            return value
        raise TraceError("is empty", where=where, field=field, value=value, remedy="give it a name")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return plain_name(str(value), field, where)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    problem = "is missing" if value is None or _is_nan(value) else f"is a {type(value).__name__}"
    raise TraceError(
        f"{problem}, not a name",
        where=where,
        field=field,
        value=value,
        remedy="names are strings, integers or booleans",
    )


def is_missing(value: Any) -> bool:
    """Return whether `value` stands for "nothing here": None, NaN, NaT or pandas.NA."""
    return value is None or type(value).__name__ in {"NAType", "NaTType"} or _is_nan(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
