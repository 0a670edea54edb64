"""Traces in a long CSV table, one move a row.

| task | agent | answer | round | type    | target | status |
|------|-------|--------|-------|---------|--------|--------|
| q17  | s1    | A      | 0     | propose |        | ok     |

`worker` and `label` serve as agent and answer. All names are text, and an empty field holds nothing. Without a column
`candidates` every task offers every class that an answer or a gold names.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bda.csv_tables import read_csv
from bda.errors import TraceError, TraceWarning

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["read_trace_table"]

READ = (
    *("task", "agent", "worker", "answer", "label", "round", "type", "target", "status"),
    *("confidence", "frozen", "gold", "candidates", "meta"),
)
DERIVED = ("endorses", "rejects")  # written by Traces.to_frame, and found again by resolution

Column = list[str | None]


def read_trace_table(path: str | Path, labels: Iterable[str] = ()) -> Traces:
    r"""Read a long CSV table of moves.

    Parameters
    ----------
    path : path
        The table, `.gz` or plain.
    labels : iterable of str
        Gold that is kept elsewhere; it names classes too, should nobody have answered them.

    Returns
    -------
    Traces
        Tasks in order of first appearance; `labels` are not put in.

    Raises
    ------
    TraceError
        Naming file, line, column, value and remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from steelyard.trace_tables import read_trace_table
    >>> _ = Path("votes.csv").write_text("task,worker,label\nq1,ada,yes\nq1,cox,no\n")
    >>> read_trace_table("votes.csv")
    Traces(1 tasks, 2 agents, 2 classes, 2 moves, 0 labelled)
    """
    import pandas as pd

    from bda.traces import Traces

    columns, lines = _read(path)
    if "round" in columns:
        columns["round"] = [text or "0" for text in columns["round"]]
    if "candidates" in columns:
        columns["candidates"] = [_named_by_text(text) for text in columns["candidates"]]
        classes = None
    else:
        classes = _classes(columns, path, labels)
    # The frame's own index is what errors name, so it holds the lines of the file.
    frame = pd.DataFrame(columns, index=lines, dtype=object)
    try:
        traces = Traces.from_frame(frame, classes=classes)
    except TraceError as fault:
        place = re.sub(r"^row (\d+)", r":\1", fault.where)
        where = f"{path}{place}" if place.startswith(":") else ", ".join(filter(None, [str(path), place]))
        raise TraceError(
            fault.problem, where=where, field=fault.field, value=fault.value, remedy=fault.remedy
        ) from None
    unread = [name for name in columns if name not in READ and name not in DERIVED]
    if unread:
        warnings.warn(f"{path}: columns not read: {', '.join(map(repr, unread))}", TraceWarning, stacklevel=2)
    return traces


def _read(path: str | Path) -> tuple[dict[str, Column], list[int]]:
    """Return the columns, with None for an empty field, and the line that each row ends on."""
    rows = read_csv(path, "names")
    header = next(rows)[1]
    table = list(rows)
    twice = next((name for i, name in enumerate(header) if name in header[:i]), None)
    if twice is not None:
        raise TraceError("stands twice", where=f"{path}:1", field="column", value=twice, remedy="keep one of them")
    return {name: [row[i] or None for _, row in table] for i, name in enumerate(header)}, [line for line, _ in table]


def _named_by_text(text: str | None) -> str | None:
    """Return a JSON list of candidates with numbers as text, as the column of answers has them."""
    try:
        found = json.loads(text or "null")
    except (ValueError, RecursionError):
        return text  # refused later, with its line
    if not isinstance(found, list):
        return text
    return json.dumps([name if isinstance(name, str) else json.dumps(name) for name in found])


def _classes(columns: dict[str, Column], path: str | Path, labels: Iterable[str]) -> list[str] | None:
    """Return every class that an answer or a gold names; say which ones only a gold names."""
    from bda.labels import is_unlabelled

    answers = columns.get("answer", columns.get("label"))
    if answers is None:
        return None  # refused later
    status = columns.get("status", [None] * len(answers))
    pairs = zip(answers, status, strict=True)
    answered = {name: 1 for name, how in pairs if name is not None and how in (None, "ok")}
    golds = {*columns.get("gold", ()), *labels}
    silent = sorted(name for name in golds if name is not None and not is_unlabelled(name, answered))
    silent = [name for name in silent if name not in answered]
    if silent:
        words = f"{path}: only gold names the classes {', '.join(map(repr, silent[:8]))}; no answer does"
        warnings.warn(words, TraceWarning, stacklevel=3)
    classes = sorted([*answered, *silent])
    if len(classes) < 2 and answers:
        raise TraceError(
            "are fewer than two classes",
            where=str(path),
            field="answers",
            value=classes,
            remedy='add a column candidates with a JSON list such as ["A", "B"]',
        )
    return classes
