"""Labels: whatever a user holds as gold, aligned to tasks as class codes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.csv_tables import read_csv
from bda.errors import TraceError, shown
from bda.names import Name, is_missing, listed, plain_name

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["candidate_positions", "gold_codes", "is_unlabelled", "offered", "read_label_csv", "refuse_lookalikes"]

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
        refuse_lookalikes(traces, str(gold))
        rows = list(_csv_rows(gold))
        return _by_name(traces, [row[1:] for row in rows], strict, lambda i: f"{gold}:{rows[i][0]}", as_text=True)
    if isinstance(gold, Mapping):
        return _by_name(traces, gold.items(), strict, lambda i: "labels")
    if hasattr(gold, "columns") and hasattr(gold, "iloc"):
        index = list(gold.index)
        return _by_name(traces, _frame_pairs(gold), strict, lambda i: f"labels, row {index[i]}")
    if hasattr(gold, "index") and hasattr(gold, "to_numpy"):
        index, labels = list(gold.index), gold.to_numpy()
        counted = index == list(range(len(index)))
        if not counted or all(_known(traces, task) for task in index):
            return _by_name(traces, zip(index, labels, strict=True), strict, lambda i: "labels")
        gold = labels  # the index only counts, and tasks have other names
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


def offered(traces: Traces, n: int) -> list[Name]:
    """Return the candidates of task number n, in its own order.

    Parameters
    ----------
    traces : Traces
        The tasks.
    n : int
        A position.

    Returns
    -------
    list of names
        K_n of them.
    """
    codes = traces.candidate_class[traces.candidate_start[n] : traces.candidate_start[n + 1]]
    return [traces.classes[code] for code in codes]


def read_label_csv(path: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """Read a `task,label` table; the label column may also be called gold, truth or answer.

    Parameters
    ----------
    path : path
        A CSV file with a header, `.gz` or plain.

    Returns
    -------
    list of (task, label)
        As text; an empty label means unlabelled.
    """
    return [(task, label) for _, task, label in _csv_rows(path)]


def is_unlabelled(label: Any, classes: Mapping[Any, int]) -> bool:
    """Return whether a label says that there is none: missing, empty, or -1 where -1 is not a class.

    Parameters
    ----------
    label : object
        What stands where a label belongs.
    classes : mapping
        By class name.

    Returns
    -------
    bool
        Whether to skip it.
    """
    if isinstance(label, str):
        return label == "" or (label == "-1" and "-1" not in classes and -1 not in classes)
    minus_one = isinstance(label, (int, float, np.integer, np.floating)) and label == -1
    return is_missing(label) or (minus_one and -1 not in classes)


def _csv_rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, task and label of every row that is not blank."""
    rows = read_csv(path, "labels")
    task, label = _label_columns(next(rows)[1], f"{path}:1", "header")
    return ((line, row[task], row[label]) for line, row in rows)


def _label_columns(columns: list[Any], where: str, field: str) -> tuple[int, int]:
    """Return the positions of the task and of the label."""
    label = next((columns.index(name) for name in LABEL_COLUMNS if name in columns), None)
    if "task" not in columns or label is None:
        raise TraceError("lacks a column", where=where, field=field, value=columns, remedy="use task,label")
    return columns.index("task"), label


def _frame_pairs(frame: Any) -> Iterable[tuple[Any, Any]]:
    task, label = _label_columns(list(frame.columns), "labels", "columns")
    return zip(frame.iloc[:, task].to_list(), frame.iloc[:, label].to_list(), strict=True)


def _by_name(
    traces: Traces,
    pairs: Iterable[tuple[Any, Any]],
    strict: bool,
    place: Callable[[int], str],
    as_text: bool = False,
) -> NDArray[np.int32]:
    rows: dict[Any, list[int]] = {}
    for n, name in enumerate(traces.task_ids):
        rows.setdefault(str(name) if as_text else name, []).append(n)
    class_of: dict[Any, int] = {str(c) if as_text else c: k for k, c in enumerate(traces.classes)}
    codes = np.full(len(traces), -1, np.int32)
    source = [""] * len(traces)
    unknown: list[tuple[str, Any]] = []
    matched = False
    for i, (task, label) in enumerate(pairs):
        key = _text_key(task, rows) if as_text else _hashable(task, place(i))
        if key not in rows:
            unknown.append((place(i), key))
            continue
        matched = True
        if is_unlabelled(label, class_of):
            continue
        where = f"{place(i)}, task {shown(key)}"
        code = _class_code(class_of, _text_key(label, class_of) if as_text else label, where)
        for n in rows[key]:
            if codes[n] not in (-1, code):
                raise TraceError(
                    f"differs from {traces.classes[codes[n]]!r}, given before",
                    where=where,
                    field="label",
                    value=label,
                    remedy="keep one label a task",
                )
            codes[n], source[n] = code, where
    if unknown and (strict or not matched):
        where, key = unknown[0]
        raise TraceError(
            f"and {len(unknown) - 1} more are not in the traces" if len(unknown) > 1 else "is not in the traces",
            where=where,
            field="task",
            value=key,
            remedy=f"tasks are named like {listed(traces.task_ids[:3])}",
        )
    return _checked(traces, codes, source)


def _by_position(traces: Traces, gold: Any) -> NDArray[np.int32]:
    if isinstance(gold, (set, frozenset)) or not isinstance(gold, Iterable):
        raise TraceError(
            "have no order of tasks", field="labels", value=gold, remedy="pass a mapping or a list in task order"
        )
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
    source = [f"labels[{n}], task {shown(name)}" for n, name in enumerate(traces.task_ids)]
    for n, label in enumerate(values):
        if not is_unlabelled(label, class_of):
            codes[n] = _class_code(class_of, label, source[n])
    return _checked(traces, codes, source)


def _class_code(class_of: Mapping[Any, int], label: Any, where: str) -> int:
    code = class_of.get(plain_name(label, "label", where))
    if code is None:
        remedy = f"classes are {listed(class_of)}"
        raise TraceError("is not a class", where=where, field="label", value=label, remedy=remedy)
    return code


def _checked(traces: Traces, codes: NDArray[np.int32], source: list[str]) -> NDArray[np.int32]:
    """Check that every label is among its task's candidates."""
    labelled = np.flatnonzero(codes >= 0)
    outside = labelled[candidate_positions(traces, labelled, codes[labelled]) < 0]
    if len(outside):
        n = int(outside[0])
        raise TraceError(
            "is not a candidate of its task",
            where=source[n],
            field="label",
            value=traces.classes[codes[n]],
            remedy=f"it offers {listed(offered(traces, n))}",
        )
    return codes


def refuse_lookalikes(traces: Traces, path: str) -> None:
    """Refuse a table of text where it cannot tell 1 from "1".

    Parameters
    ----------
    traces : Traces
        Whose names stand in the table.
    path : str
        The table.
    """
    kinds = {"classes": traces.classes, "tasks": traces.task_ids.tolist(), "agents": traces.agent_names}
    for field, names in ((field, set(names)) for field, names in kinds.items()):
        seen: dict[str, Name] = {}
        for name in names:
            other = seen.setdefault(str(name), name)
            if other != name:
                raise TraceError(
                    f"cannot be told from {other!r} in a table of text",
                    where=path,
                    field=field,
                    value=name,
                    remedy="pass a mapping instead",
                )


def _text_key(text: str, known: Mapping[str, Any]) -> str:
    """Return the name meant; a column of whole numbers with a gap is often written as 1.0, 2.0."""
    return text.removesuffix(".0") if text not in known else text


def _hashable(task: Any, where: str) -> Any:
    try:
        hash(task)
    except TypeError:
        plain_name(task, "task", where)
    return task.item() if isinstance(task, np.generic) else task


def _known(traces: Traces, task: Any) -> bool:
    try:
        traces.position(task)
    except KeyError:
        return False
    return True
