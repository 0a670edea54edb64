"""Traces in a long CSV table, one move a row.

    task,agent,answer,round,type,target,status
    q17,s1,A,0,propose,,ok

`worker` and `label` serve as agent and answer; everything after the first three columns may be left out, and
`gold`, `frozen`, `confidence`, `candidates` (a JSON list) and `meta` (a JSON object) may be added. All names are
text. Without `candidates` every task offers every class that an answer or a gold names.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from bda.errors import TraceError, TraceWarning

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["read_trace_table"]

SYNONYMS = {"worker": "agent", "label": "answer"}
NEEDED = ("task", "agent", "answer")
KNOWN = (*NEEDED, "round", "type", "target", "status", "confidence", "frozen", "gold", "candidates", "meta")
DERIVED = ("endorses", "rejects")  # written by Traces.to_frame, and found again by resolution


def read_trace_table(path: str | Path, labels: Iterable[str] = ()) -> Traces:
    """Read a long CSV table of moves.

    Parameters
    ----------
    path : path
        The table, `.gz` or plain.
    labels : iterable of str
        Gold that is kept elsewhere; it names classes too, should nobody have answered them.

    Returns
    -------
    Traces
        Tasks in order of first appearance; `gold` is not put in.

    Raises
    ------
    TraceError
        Naming file, line, column, value and remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from steelyard.trace_tables import read_trace_table
    >>> _ = Path("votes.csv").write_text("task,worker,label\\nq1,ada,yes\\nq1,cox,no\\n")
    >>> read_trace_table("votes.csv")
    Traces(1 tasks, 2 agents, 2 classes, 2 moves, 0 labelled)
    """
    import pandas as pd

    from bda.traces import Traces

    columns, lines = _read(path)
    for name, convert in CONVERSIONS.items():
        if name in columns:
            columns[name] = _converted(columns[name], convert, name, path, lines)
    classes = None if "candidates" in columns else _classes(columns, path, labels)
    try:
        return Traces.from_frame(pd.DataFrame(columns, dtype=object), classes=classes)
    except TraceError as fault:
        raise _at_its_line(fault, path, lines) from None


def _read(path: str | Path) -> tuple[dict[str, list[Any]], list[int]]:
    """Return the columns by their own names, with None for an empty field, and the line each row ends on."""
    with _open(path) as file:
        rows = csv.reader(file, strict=True)
        header = _header(next(rows, []), path)
        found, lines = [], []
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise TraceError(
                    f"has {len(row)} fields, the header {len(header)}", where=f"{path}:{rows.line_num}",
                    field="row", value=",".join(row), remedy="quote names that hold commas",
                )  # fmt: skip
            found.append([text or None for text in row])
            lines.append(rows.line_num)
    columns = {name: [row[i] for row in found] for i, name in enumerate(header)}
    unread = [name for name in columns if name not in KNOWN and name not in DERIVED]
    if unread:
        warnings.warn(f"{path}: columns not read: {', '.join(map(repr, unread))}", TraceWarning, stacklevel=2)
    return {name: values for name, values in columns.items() if name in KNOWN}, lines


def _open(path: str | Path) -> TextIO:
    opener = gzip.open if str(path).endswith(".gz") else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))


def _header(names: list[str], path: str | Path) -> list[str]:
    header = [SYNONYMS.get(name.strip(), name.strip()) for name in names]
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise TraceError("stands twice", where=f"{path}:1", field="column", value=twice[0], remedy="keep one of them")
    for name in NEEDED:
        if name not in header:
            other = next((f" (or {word})" for word, same in SYNONYMS.items() if same == name), "")
            raise TraceError(
                f"lacks {name}{other}", where=f"{path}:1", field="header", value=",".join(names),
                remedy="use task,agent,answer, and where there is more round,type,target,status",
            )  # fmt: skip
    return header


def _converted(
    values: list[Any], convert: Callable[[str | None], Any], name: str, path: str | Path, lines: list[int]
) -> list[Any]:
    found = []
    for value, line in zip(values, lines, strict=True):
        try:
            found.append(convert(value))
        except (ValueError, RecursionError) as fault:
            raise TraceError(str(fault), where=f"{path}:{line}", field=name, value=value, remedy="correct it") from None
    return found


def _round(text: str | None) -> str:
    return text or "0"


def _flag(text: str | None) -> bool:
    words = {None: False, "false": False, "0": False, "true": True, "1": True}
    word = text.strip().lower() if text else None
    if word not in words:
        raise ValueError("is not true or false")
    return words[word]


def _confidence(text: str | None) -> float:
    if text is None:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("is not a finite number")
    return number


def _candidates(text: str | None) -> list[str] | None:
    if text is None:
        return None
    found = _json(text)
    if not isinstance(found, list) or not all(isinstance(name, str | int) for name in found):
        raise ValueError('is not a JSON list of names, such as ["A", "B"]')
    return [name if isinstance(name, str) else json.dumps(name) for name in found]


def _meta(text: str | None) -> dict[str, Any]:
    found = {} if text is None else _json(text)
    if not isinstance(found, dict):
        raise ValueError('is not a JSON object, such as {"group": "q17"}')
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as fault:
        raise ValueError(f"is not JSON: {fault}") from None


CONVERSIONS: dict[str, Callable[[str | None], Any]] = {
    "round": _round,
    "frozen": _flag,
    "confidence": _confidence,
    "candidates": _candidates,
    "meta": _meta,
}


def _classes(columns: dict[str, list[Any]], path: str | Path, labels: Iterable[str]) -> list[str]:
    """Return every class that an answer or a gold names; say which ones only a gold names."""
    answered = {name for name in columns["answer"] if name is not None}
    labels = {*columns.get("gold", ()), *labels}
    silent = sorted({name for name in labels if name} - answered)
    if silent:
        words = f"{path}: only gold names the classes {', '.join(map(repr, silent[:8]))}; no answer does"
        warnings.warn(words, TraceWarning, stacklevel=3)
    classes = sorted(answered.union(silent))
    if len(classes) < 2:
        raise TraceError(
            "are fewer than two classes", where=str(path), field="answers", value=classes,
            remedy='add a column candidates, a JSON list such as ["A", "B"]',
        )  # fmt: skip
    return classes


def _at_its_line(fault: TraceError, path: str | Path, lines: list[int]) -> TraceError:
    """Say where in the file a fault of the frame stands."""
    row = re.fullmatch(r"row (\d+)", fault.where)
    if row is not None and int(row[1]) < len(lines):
        where = f"{path}:{lines[int(row[1])]}"
    else:
        where = f"{path}, {fault.where}" if fault.where else str(path)
    return TraceError(fault.problem, where=where, field=fault.field, value=fault.value, remedy=fault.remedy)
