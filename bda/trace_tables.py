"""Traces in CSV tables: long, one move a row, or wide, one task a row and one column of last votes for each agent.

| task | agent | answer | round | type    | target | status |        | task | s1 | s2 | gold |
|------|-------|--------|-------|---------|--------|--------|        |------|----|----|------|
| q17  | s1    | A      | 0     | propose |        | ok     |        | q17  | A  | B  | A    |

`worker` and `label` serve as agent and answer. All names are text, and an empty field holds nothing. Without a column
`candidates` every task offers every class that an answer or a gold names. A table with a column `task` and none of the
others of a long table, `gold` apart, is wide.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bda.csv_tables import csv_lines, read_csv
from bda.errors import TraceError, TraceWarning
from bda.evidence import count_evidence
from bda.labels import is_unlabelled, offered, refuse_lookalikes
from bda.names import Name
from bda.trace_files import json_text, refuse_repeated_tasks
from bda.traces import Traces
from bda.whole_files import opened_for_bytes

__all__ = ["read_trace_table", "write_trace_table", "write_vote_table"]

LONG = (
    *("agent", "worker", "answer", "label", "round", "type", "target", "status"),
    *("confidence", "frozen", "candidates", "meta"),
)
READ = ("task", "gold", *LONG)
NEEDED = ("task", "agent", "answer")
DEFAULT = {"round": 0, "type": "propose", "status": "ok", "frozen": False}  # what an absent column says
DERIVED = ("endorses", "rejects")  # written by Traces.to_frame, and found again by resolution

Column = list[str | None]


def read_trace_table(path: str | os.PathLike[str], labels: Iterable[str] = (), duplicates: str = "keep") -> Traces:
    """Read a CSV table, long or wide; see `Traces.read_csv`.

    Parameters
    ----------
    path : path
        The table, `.gz` or plain.
    labels : iterable of str
        Gold that is kept elsewhere; it names classes too, should nobody have answered them.
    duplicates : {"keep", "last", "error"}
        As in `Traces.read_jsonl`.

    Returns
    -------
    Traces
        Tasks in order of first appearance; `labels` are not put in.
    """
    columns, lines = _read(path)
    if "task" in columns and not set(columns) & {*LONG, *DERIVED}:
        return _from_wide(path, columns, lines, labels)
    return _from_long(path, columns, lines, labels, duplicates)


def write_trace_table(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Write a long CSV table; see `Traces.write_csv`."""
    from bda.frames import long_columns

    _refuse(traces, path)
    columns: dict[str, Any] = {name: list(values) for name, values in long_columns(traces, silent=True).items()}
    first = {name: i for i, name in reversed(list(enumerate(columns["task"])))}
    for name, of_task in (("candidates", lambda n: offered(traces, n)), ("meta", lambda n: _meta(traces, n))):
        column: list[str | None] = [None] * len(columns["task"])
        for n, task in enumerate(traces.task_ids):
            found = of_task(n)
            column[first[task]] = None if found is None else json_text(found, task, found)
        columns[name] = column
    columns["confidence"] = [None if value != value else value for value in columns.get("confidence", ())]
    told = {
        name: values
        for name, values in columns.items()
        if name in NEEDED or any(value is not None and value != DEFAULT.get(name) for value in values)
    }
    _write(path, list(told), zip(*told.values(), strict=True))


def write_vote_table(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Write a wide CSV table of last votes; see `Traces.write_csv`."""
    _refuse(traces, path)
    taken = [name for name in traces.agent_names if str(name) in READ or str(name) != str(name).strip()]
    if taken:
        raise TraceError(
            "cannot head a column of votes", field="agent", value=taken[0], remedy="write a long table, or JSON lines"
        )
    votes = count_evidence(traces, view="last_vote")
    cells: list[list[Name | None]] = [[None] * len(traces.agent_names) for _ in range(len(traces))]
    said = traces.candidate_class[votes.cell_candidate]
    for n, agent, code in zip(votes.task, votes.agent, said, strict=True):
        cells[n][agent] = traces.classes[code]
    gold = [None if code < 0 else traces.classes[code] for code in traces.gold]
    named = any(name is not None for name in gold)
    rows = [
        [task, *row, *([label] if named else [])] for task, row, label in zip(traces.task_ids, cells, gold, strict=True)
    ]
    _write(path, ["task", *traces.agent_names, *(["gold"] if named else [])], rows)


# ---- reading ------------------------------------------------------------------------------------------------


def _from_long(
    path: str | os.PathLike[str], columns: dict[str, Column], lines: list[int], labels: Iterable[str], duplicates: str
) -> Traces:
    import pandas as pd

    if "round" in columns:
        columns["round"] = [text or "0" for text in columns["round"]]
    if "candidates" in columns:
        columns["candidates"] = [_named_by_text(text) for text in columns["candidates"]]
        classes = None
    else:
        answers, status = columns.get("answer", columns.get("label")), columns.get("status")
        read = answers if answers is None or status is None else _read_answers(answers, status)
        classes = None if read is None else _classes(path, read, columns.get("gold", ()), labels)
    # The frame's own index is what errors name, so it holds the lines of the file.
    frame = pd.DataFrame(columns, index=lines, dtype=object)
    try:
        traces = Traces.from_frame(frame, classes=classes, duplicates=duplicates)
    except TraceError as fault:
        place = re.sub(r"^row (\d+)", r":\1", fault.where)
        where = f"{path}{place}" if place.startswith(":") else ", ".join(filter(None, [str(path), place]))
        raise TraceError(
            fault.problem, where=where, field=fault.field, value=fault.value, remedy=fault.remedy
        ) from None
    unread = [name for name in columns if name not in READ and name not in DERIVED]
    if unread:
        warnings.warn(f"{path}: columns not read: {', '.join(map(repr, unread))}", TraceWarning, stacklevel=4)
    return traces


def _from_wide(
    path: str | os.PathLike[str], columns: dict[str, Column], lines: list[int], labels: Iterable[str]
) -> Traces:
    agents = [name for name in columns if name not in ("task", "gold")]
    if not agents:
        raise TraceError(
            "lack one that is needed", where=str(path), field="columns", value=list(columns),
            remedy="add 'agent' and 'answer', or one column of votes for each agent",
        )  # fmt: skip
    first: dict[str, int] = {}
    for task, line in zip(columns["task"], lines, strict=True):
        if task is None:
            raise TraceError(
                "is missing", where=f"{path}:{line}", field="task", value=task, remedy="name the task in every row"
            )
        if first.setdefault(task, line) != line:
            raise TraceError(
                f"stands already in line {first[task]}", where=f"{path}:{line}", field="task", value=task,
                remedy="give every task one row; a long table names its columns agent and answer",
            )  # fmt: skip
    gold: Column = columns.get("gold", [None] * len(lines))
    classes = _classes(path, [vote for name in agents for vote in columns[name]], gold, labels)
    votes = np.empty((len(lines), len(agents)), object)
    for i, name in enumerate(agents):
        votes[:, i] = columns[name]
    return Traces.from_votes(votes, tasks=list(first), agents=agents, classes=classes, gold=gold)


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Column], list[int]]:
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


def _read_answers(answers: Column, status: Column) -> Column:
    """Return the answers of moves that were read."""
    return [answer for answer, how in zip(answers, status, strict=True) if how in (None, "ok")]


def _classes(
    path: str | os.PathLike[str], answers: Column, gold: Iterable[str | None], labels: Iterable[str]
) -> list[str]:
    """Return every class that an answer or a gold names; say which ones only a gold names."""
    answered = {name: 1 for name in answers if name is not None}
    silent = sorted(name for name in {*gold, *labels} if name is not None and not is_unlabelled(name, answered))
    silent = [name for name in silent if name not in answered]
    if silent:
        words = f"{path}: only gold names the classes {', '.join(map(repr, silent[:8]))}; no answer does"
        warnings.warn(words, TraceWarning, stacklevel=5)
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


# ---- writing ------------------------------------------------------------------------------------------------


def _refuse(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Refuse what could not be told apart when the table is read."""
    refuse_repeated_tasks(traces)
    refuse_lookalikes(traces, str(path))


def _meta(traces: Traces, n: int) -> dict[str, Any] | None:
    return dict(traces.meta[n]) if traces.meta is not None and traces.meta[n] else None


def _write(path: str | os.PathLike[str], header: list[Any], rows: Iterable[Sequence[object]]) -> None:
    """Write a table that appears whole or not at all."""
    try:
        with opened_for_bytes(path) as file:
            for line in csv_lines(header, rows):
                file.write(line.encode())
    except UnicodeEncodeError as fault:
        raise TraceError(
            "is not Unicode text", where=str(path), field="name", value=fault.object,
            remedy="a character was cut in two; write the name again, whole, or write JSON lines",
        ) from None  # fmt: skip
