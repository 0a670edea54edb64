"""Labels: whatever a user holds as gold, aligned to tasks as class codes."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.names import Name, is_missing, plain_name

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["candidate_positions", "gold_codes", "read_label_csv"]

LABEL_COLUMNS = ("label", "gold", "truth", "answer")


def gold_codes(traces: Traces, gold: Any, strict: bool = False) -> NDArray[np.int32]:
    """Return the class code of every task's gold, -1 where unlabelled.

    Parameters
    ----------
    traces : Traces
        The tasks.
    gold : None, mapping, Series, array, frame or CSV path
        None takes the gold inside. See `Traces.with_gold`.
    strict : bool
        Whether a table may name only tasks that are in `traces`.

    Returns
    -------
    int32 array, shape (n_tasks,)
        Codes of `traces.classes`.

    Raises
    ------
    TraceError
        For a label that is not a candidate of its task, unknown tasks (all of them, or any if strict), a
        task labelled twice with different labels, or an array of another length.

    Examples
    --------
    >>> from bda import Traces
    >>> gold_codes(Traces.from_votes([[0, 1], [1, 1]]), {0: 1}).tolist()
    [1, -1]
    """
    if gold is None:
        return traces.gold
    if isinstance(gold, (str, os.PathLike)):
        return _by_name(traces, read_label_csv(gold), strict, str(gold), as_text=True)
    if isinstance(gold, Mapping):
        return _by_name(traces, gold.items(), strict, "labels")
    if hasattr(gold, "columns") and hasattr(gold, "iloc"):
        return _by_name(traces, _frame_pairs(gold), strict, "labels")
    if hasattr(gold, "index") and hasattr(gold, "to_numpy"):
        index = list(gold.index)
        known = sum(_known(traces, task) for task in index)
        positions = index == list(range(len(traces)))
        if not (positions and known < len(index)):
            return _by_name(traces, zip(index, gold.to_numpy(), strict=True), strict, "labels")
        gold = gold.to_numpy()
    return _by_position(traces, gold)


def candidate_positions(traces: Traces, task: NDArray[Any], class_: NDArray[Any]) -> NDArray[np.int64]:
    """Return where `class_` of `task` stands among all candidates, -1 if it is not offered.

    Parameters
    ----------
    traces : Traces
        The tasks.
    task, class_ : integer arrays, shape (m,)
        Task positions and class codes (-1 is never offered).

    Returns
    -------
    int64 array, shape (m,)
        Positions in `traces.candidate_class`.
    """
    width = len(traces.classes) + 1
    key = traces.candidate_task * width + traces.candidate_class
    order = np.argsort(key, kind="stable")
    wanted = np.asarray(task, np.int64) * width + class_
    at = np.minimum(np.searchsorted(key[order], wanted), max(len(key) - 1, 0))
    if not len(key):
        return np.full(len(wanted), -1)
    hit = (key[order][at] == wanted) & (np.asarray(class_) >= 0)
    return np.where(hit, order[at], -1)


def read_label_csv(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read a `task,label` table; the label column may also be called gold, truth or answer.

    Parameters
    ----------
    path : path
        A CSV file with a header.

    Returns
    -------
    list of (task, label)
        As text; an empty label means unlabelled.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = csv.reader(file)
        header = [name.strip() for name in next(rows, [])]
        column = next((header.index(name) for name in LABEL_COLUMNS if name in header), None)
        if "task" not in header or column is None:
            raise TraceError(
                "lacks a column", where=f"{path}:1", field="header", value=header, remedy="use task,label"
            )
        task = header.index("task")
        pairs = []
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise TraceError(
                    f"has {len(row)} fields, the header {len(header)}",
                    where=f"{path}:{rows.line_num}",
                    field="row",
                    value=row,
                    remedy="quote labels that hold commas",
                )
            pairs.append((row[task], row[column]))
    return pairs


def _by_name(
    traces: Traces, pairs: Iterable[tuple[Any, Any]], strict: bool, source: str, as_text: bool = False
) -> NDArray[np.int32]:
    tasks: dict[Any, list[int]] = {}
    for n, name in enumerate(traces.task_ids):
        tasks.setdefault(str(name) if as_text else name, []).append(n)
    class_of: dict[Any, int] = {str(c) if as_text else c: k for k, c in enumerate(traces.classes)}
    if as_text and len(class_of) < len(traces.classes):
        raise TraceError("names classes that differ only in type", where=source, remedy="pass a mapping instead")
    codes = np.full(len(traces), -1, np.int32)
    unknown: list[Any] = []
    matched = 0
    for task, label in pairs:
        key = task.item() if isinstance(task, np.generic) else task
        rows = tasks.get(key)
        if rows is None:
            unknown.append(key)
            continue
        matched += 1
        if is_missing(label) or label == "":
            continue
        code = _class_code(class_of, label, f"{source}, task {key!r}", as_text)
        for n in rows:
            if codes[n] >= 0 and codes[n] != code:
                raise TraceError(
                    f"is labelled {traces.classes[codes[n]]!r} and {label!r}",
                    where=source,
                    field="task",
                    value=key,
                    remedy="keep one label a task",
                )
            codes[n] = code
    if unknown and (strict or not matched):
        raise TraceError(
            f"and {len(unknown) - 1} more are not in the traces" if len(unknown) > 1 else "is not in the traces",
            where=source,
            field="task",
            value=unknown[0],
            remedy=f"tasks are named like {', '.join(repr(t) for t in traces.task_ids[:3])}",
        )
    return _checked(traces, codes, source)


def _by_position(traces: Traces, gold: Any) -> NDArray[np.int32]:
    values = list(gold)
    if len(values) != len(traces):
        raise TraceError(
            f"has {len(values)} labels for {len(traces)} tasks",
            field="labels",
            value=type(gold).__name__,
            remedy="align it to the tasks or pass a mapping by task name",
        )
    class_of: dict[Any, int] = {c: k for k, c in enumerate(traces.classes)}
    codes = np.full(len(values), -1, np.int32)
    for n, label in enumerate(values):
        if not is_missing(label) and not (_is_minus_one(label) and -1 not in class_of):
            codes[n] = _class_code(class_of, label, f"labels[{n}]", False)
    return _checked(traces, codes, "labels")


def _class_code(class_of: Mapping[Any, int], label: Any, where: str, as_text: bool) -> int:
    name: Name = label if as_text else plain_name(label, "label", where)
    code = class_of.get(name)
    if code is None:
        shown = ", ".join(repr(c) for c in list(class_of)[:8])
        raise TraceError(
            "is not a class", where=where, field="label", value=label, remedy=f"classes are {shown}"
        )
    return code


def _checked(traces: Traces, codes: NDArray[np.int32], source: str) -> NDArray[np.int32]:
    """Check that every label is among its task's candidates."""
    labelled = np.flatnonzero(codes >= 0)
    outside = labelled[candidate_positions(traces, labelled, codes[labelled]) < 0]
    if len(outside):
        n = int(outside[0])
        offered = traces.candidate_class[traces.candidate_start[n] : traces.candidate_start[n + 1]]
        raise TraceError(
            "is not a candidate of its task",
            where=f"{source}, task {traces.task_ids[n]!r}",
            field="label",
            value=traces.classes[codes[n]],
            remedy=f"it offers {', '.join(repr(traces.classes[c]) for c in offered[:8])}",
        )
    return codes


def _frame_pairs(frame: Any) -> Iterable[tuple[Any, Any]]:
    columns = list(frame.columns)
    column = next((name for name in LABEL_COLUMNS if name in columns), None)
    if "task" not in columns or column is None:
        raise TraceError(
            "lacks a column", where="labels", field="columns", value=columns, remedy="use task and label"
        )
    return zip(frame["task"].to_list(), frame[column].to_list(), strict=True)


def _known(traces: Traces, task: Any) -> bool:
    try:
        traces.position(task)
    except KeyError:
        return False
    return True


def _is_minus_one(label: Any) -> bool:
    return isinstance(label, (int, float, np.integer, np.floating)) and label == -1
