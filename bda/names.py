"""Names of tasks, agents and classes: plain strings, integers or booleans, and their integer codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError

__all__ = ["Name", "Names", "class_list", "is_missing", "listed", "ordered", "plain_name"]

Name: TypeAlias = str | int | bool


class Names:
    """A growing table from names to codes 0, 1, ... in order of first use.

    `True` and `1` are equal in Python; a table that meets both refuses the second.
    """

    def __init__(self, kind: str, names: Iterable[Name] = ()) -> None:
        self.kind = kind
        self.code: dict[Name, int] = {}
        self._type: dict[Name, type] = {}
        for name in names:
            self.add(name)

    def add(self, name: Name, where: str = "") -> int:
        """Return the code of `name`, giving it the next one if it is new."""
        code = self.code.get(name)
        if code is None:
            code = self.code[name] = len(self.code)
            self._type[name] = type(name)
        elif self._type[name] is not type(name):
            raise TraceError(
                f"and {'a truth value' if type(name) is int else 'a number'} equal to it cannot be told apart",
                where=where,
                field=self.kind,
                value=name,
                remedy="name all of them by numbers, or all by true and false",
            )
        return code

    def find(self, name: Any) -> int:
        """Return the code of `name`, -1 where it is no name or stands for nothing here; 1 does not find True."""
        try:
            plain: Name = name if type(name) is str else plain_name(name, self.kind)
        except TraceError:
            return -1
        return self.code[plain] if self._type.get(plain) is type(plain) else -1

    def __len__(self) -> int:
        return len(self.code)

    def sorted(self) -> tuple[tuple[Name, ...], NDArray[np.int32]]:
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


def plain_name(value: Any, field: str, where: str = "") -> Name:
    """Return `value` as a plain str, int or bool.

    NumPy scalars are unwrapped and integral floats (a CSV column with a gap) become integers.

    Raises
    ------
    TraceError
        For missing values, fractions, empty strings and anything that is not a name.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        if value:
            return str.__str__(value)
        problem = "is empty"
    elif isinstance(value, bool):
        return value
    elif isinstance(value, int):
        return int(value)
    elif is_missing(value):
        problem = "is missing"
    elif isinstance(value, float):
        if value.is_integer():
            return int(value)
        problem = "is not a whole number"
    else:
        problem = f"is a {type(value).__name__}, not a name"
    raise TraceError(problem, where=where, field=field, value=value, remedy="names are strings, integers or booleans")


def class_list(classes: Sequence[Name] | int) -> list[Name]:
    """Return all class names that a user gives, in the user's order; K stands for 0..K-1.

    Raises
    ------
    TraceError
        For a name given twice, and for a text where a sequence of names belongs.

    Examples
    --------
    >>> class_list(3)
    [0, 1, 2]
    """
    if isinstance(classes, (int, np.integer)):
        return list(range(classes))
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise TraceError("is not a list of names", field="classes", value=classes, remedy="list every class")
    names = [plain_name(name, "classes") for name in classes]
    seen: set[Name] = set()
    for name in names:
        if name in seen:
            raise TraceError("stands twice", field="classes", value=name, remedy="list every class once")
        seen.add(name)
    return names


def listed(names: Iterable[Name]) -> str:
    """Return the first eight names, as messages list what there is.

    Examples
    --------
    >>> listed(range(10))
    '0, 1, 2, 3, 4, 5, 6, 7, ...'
    """
    texts = [repr(name) for name in names]
    return ", ".join(texts[:8]) + (", ..." if len(texts) > 8 else "")


def is_missing(value: Any) -> bool:
    """Return whether `value` stands for "nothing here": None, NaN, NaT or pandas.NA."""
    return (
        value is None
        or (isinstance(value, (float, np.floating)) and math.isnan(value))
        or type(value).__name__ in {"NAType", "NaTType"}
    )
