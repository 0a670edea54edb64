"""Columns of a data frame, checked: names, choices, flags, numbers, and values that belong to a task.

Each fault names its row by the frame's own index, the column as its user calls it, the value and a remedy.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.names import Names, is_missing, listed, plain_name
from bda.records import refuse_near_miss

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DERIVED", "READ", "CheckedFrame", "json_value"]

SYNONYMS = {"worker": "agent", "label": "answer"}
NEEDED = ("task", "agent", "answer")
READ = (*NEEDED, "round", "type", "target", "status", "confidence", "frozen", "gold", "candidates", "meta")
DERIVED = ("endorses", "rejects")  # written by to_frame, and found again by resolution
FLAGS = {True: 1, False: 0, "True": 1, "False": 0, "true": 1, "false": 0}


class CheckedFrame:
    """A long table whose columns are `READ`, whatever they are called.

    Parameters
    ----------
    frame : DataFrame
        One move a row.
    own_name : mapping
        What the user calls a column, where that differs.
    """

    def __init__(self, frame: pd.DataFrame, own_name: Mapping[str, str]) -> None:
        self.frame, self.own_name = frame, own_name

    @classmethod
    def of(cls, frame: Any) -> CheckedFrame:
        """Check the column names of whatever can be made a data frame."""
        frame = _as_pandas(frame)
        given = list(frame.columns)
        names = [SYNONYMS.get(name, name) if isinstance(name, str) else name for name in given]
        for name in NEEDED:
            if name not in names:
                words = " or ".join(repr(n) for n in (name, *(s for s, same in SYNONYMS.items() if same == name)))
                raise TraceError("lack one that is needed", field="columns", value=given, remedy=f"add {words}")
        for name in names:
            if names.count(name) > 1 and name in READ:
                same = [own for own, known in zip(given, names, strict=True) if known == name]
                problem = f"stands twice, as {' and as '.join(same)}"
                raise TraceError(problem, field="column", value=name, remedy="keep one of them")
            if name not in READ and name not in DERIVED:
                refuse_near_miss(name, READ, names, "", "column", "drop it")
        frame = frame.set_axis(names, axis=1)
        return cls(frame, {name: own for own, name in zip(given, names, strict=True) if own != name})

    def __len__(self) -> int:
        return len(self.frame)

    def __contains__(self, column: str) -> bool:
        return column in self.frame

    def rows(self, kept: NDArray[np.bool_]) -> CheckedFrame:
        """Return some of the rows."""
        return CheckedFrame(self.frame[kept], self.own_name)

    def present(self, column: str) -> NDArray[np.bool_]:
        """Return which rows have a value in a column."""
        if column not in self:
            return np.zeros(len(self), bool)
        return self.frame[column].notna().to_numpy(bool)

    def fail(self, row: int, column: str, problem: str, remedy: str) -> NoReturn:
        """Raise the error of one cell."""
        raise TraceError(
            problem,
            where=self._place(row),
            field=self._field(column),
            value=self.frame[column].iloc[row],
            remedy=remedy,
        )

    def names(
        self, column: str, table: Names, *, needed: NDArray[np.bool_] | None = None, closed: bool = False
    ) -> NDArray[np.int32]:
        """Return codes of names in `table`, -1 where missing; where not `needed`, unknown names are -1 too."""
        field = self._field(column)

        def code(value: Any, where: str) -> int:
            name = plain_name(value, field, where)
            if closed and name not in table.code:
                remedy = f"classes are {listed(table.code)}"
                raise TraceError("is not among the classes", where=where, field=field, value=name, remedy=remedy)
            return table.add(name, where)

        return self.coded(column, code, -1, needed, table.find).astype(np.int32)

    def options(self, column: str, options: Sequence[str], default: str) -> NDArray[np.int8]:
        """Return positions in `options`."""

        def code(value: Any, where: str) -> int:
            if value in options:
                return options.index(value)
            problem = f"is not one of {', '.join(options)}"
            raise TraceError(problem, where=where, field=self._field(column), value=value, remedy="correct it")

        return self.coded(column, code, options.index(default)).astype(np.int8)

    def flags(self, column: str) -> NDArray[np.bool_]:
        """Return true or false, false where missing."""

        def code(value: Any, where: str) -> int:
            if value in FLAGS:
                return FLAGS[value]
            raise TraceError(
                "is not true or false",
                where=where,
                field=self._field(column),
                value=value,
                remedy="write true or false",
            )

        return self.coded(column, code, 0).astype(bool)

    def numbers(self, column: str, accepts: Callable[[NDArray[Any]], NDArray[Any]], kind: str) -> NDArray[np.float64]:
        """Return numbers, NaN where missing; text is read, and what it cannot be read as counts as infinite."""
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        series = self.frame[column]
        if is_numeric_dtype(series.dtype) and not is_bool_dtype(series.dtype):
            values = series.to_numpy(float, na_value=math.nan)
        else:
            values = np.array([_number(value) for value in series], float)
        wrong = np.flatnonzero(~accepts(values))
        if len(wrong):
            self.fail(int(wrong[0]), column, f"is not {kind}", "correct it")
        return values

    def by_task(
        self, column: str, task: NDArray[Any], n_tasks: int, parse: Callable[[Any, str, str], Any]
    ) -> list[Any]:
        """Return what each task carries in a column, None for nothing; its rows may not differ."""
        raw: list[Any] = [None] * n_tasks
        parsed: list[Any] = [None] * n_tasks
        for i, (n, value) in enumerate(zip(task.tolist(), self.frame[column], strict=True)):
            if isinstance(value, str) and value == raw[n]:
                continue
            if not isinstance(value, (list, tuple, np.ndarray, Mapping)) and is_missing(value):
                continue
            found = parse(value, self._place(i), self._field(column))
            if parsed[n] is None:
                raw[n], parsed[n] = value, found
            elif found is not None and parsed[n] != found:
                self.fail(i, column, "differs from an earlier row of its task", "give all rows of a task the same")
        return parsed

    def coded(
        self,
        column: str,
        code: Callable[[Any, str], int],
        missing: int,
        needed: NDArray[np.bool_] | None = None,
        otherwise: Callable[[Any], int] | None = None,
    ) -> NDArray[np.int64]:
        """Code a column value by value, at the first row of each that is needed."""
        if column not in self:
            return np.full(len(self), missing, np.int64)
        rows = np.arange(len(self)) if needed is None else np.flatnonzero(needed)
        codes, values = self._distinct(column, rows)
        first = np.full(len(values) + 1, -1)
        first[codes[rows][::-1]] = rows[::-1]
        found = np.full(len(values) + 1, missing, np.int64)
        for i, value in enumerate(values):
            if first[i] >= 0:
                found[i] = code(value, self._place(int(first[i])))
            elif otherwise is not None:
                found[i] = otherwise(value)
        return found[codes]

    def _distinct(self, column: str, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[Any]]:
        """Return the code of every row (-1 where missing) and the values that the codes stand for."""
        import pandas as pd

        series = self.frame[column]
        kinds = set(map(type, series)) if series.dtype == object else set()
        unhashable = [kind for kind in kinds if kind.__hash__ is None]
        if unhashable:
            row = next(i for i, value in enumerate(series) if type(value) is unhashable[0])
            plain_name(series.iloc[row], self._field(column), self._place(row))
        if kinds & {bool, np.bool_} and any(issubclass(kind, (int, np.number)) and kind is not bool for kind in kinds):
            apart = Names(self._field(column))  # factorize would take True for 1
            for row in rows.tolist():
                if not is_missing(series.iloc[row]):
                    apart.add(plain_name(series.iloc[row], apart.kind, self._place(row)), self._place(row))
        codes, values = pd.factorize(series)
        return codes.astype(np.int64), list(values)

    def _place(self, row: int) -> str:
        return f"row {self.frame.index[row]}"

    def _field(self, column: str) -> str:
        return self.own_name.get(column, column)


def json_value(value: Any) -> Any:
    """Return what a cell holds: JSON text parsed, arrays as lists; other text stays as it is."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value.tolist() if isinstance(value, np.ndarray) else value


def _number(value: Any) -> float:
    if isinstance(value, (bool, np.bool_)):
        return math.inf
    try:
        return math.nan if is_missing(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.inf


def _as_pandas(frame: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    elif isinstance(frame, Mapping) or (
        isinstance(frame, (list, tuple)) and all(isinstance(r, Mapping) for r in frame)
    ):
        frame = pd.DataFrame(frame)
    if not isinstance(frame, pd.DataFrame):
        raise TraceError(
            "is no data frame", field="frame", value=frame,
            remedy="pass a data frame with columns task, agent and answer; a wide table goes to from_votes",
        )  # fmt: skip
    return frame
