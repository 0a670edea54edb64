"""Long tables: one move a row, in a data frame."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.assembly import RawMoves, assemble, candidate_codes
from bda.errors import TraceError, shown
from bda.frame_columns import CheckedFrame, json_value
from bda.labels import is_unlabelled
from bda.names import Name, Names, class_list, listed, plain_name
from bda.records import LAST_ROUND
from bda.resolution import STATUSES, TYPES
from bda.traces import Traces

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_frame", "long_columns", "to_frame"]


def from_frame(
    frame: Any,
    gold: Any = None,
    classes: Sequence[Name] | int | None = None,
    candidates: Mapping[Name, Sequence[Name]] | None = None,
    duplicates: str = "keep",
    agents: Collection[Name] = (),
) -> Traces:
    """Build traces from a long table; see `Traces.from_frame`.

    Parameters
    ----------
    frame, gold, classes, candidates, duplicates
        As there.
    agents : names, optional
        Agents that may have made no move.

    Returns
    -------
    Traces
        Tasks in order of first appearance.
    """
    table = CheckedFrame.of(frame)
    tasks = Names("task")
    missing = np.flatnonzero(~table.present("task"))
    if len(missing):
        table.fail(int(missing[0]), "task", "is missing", "name the task in every row")
    task = table.names("task", tasks)
    task_ids = list(tasks.code)
    given = _given_classes(table, classes)
    class_names, closed = Names("classes", given or ()), given is not None
    listed_candidates = _listed_candidates(table, task, task_ids, candidates, class_names, closed)
    moved = _moved(table)
    moves = table.rows(moved)
    status = moves.options("status", STATUSES, "ok")
    answer = moves.names("answer", class_names, needed=status == 0, closed=closed)
    offered = listed_candidates or [_every_class(class_names, closed, task_ids)] * len(task_ids)
    offers = _Offers(offered)
    outside = (answer >= 0) & ~offers.hold(task[moved], answer)
    wrong = np.flatnonzero(outside & (status == 0))
    if len(wrong):
        remedy = "leave answers that could not be read empty, or give them a status"
        moves.fail(int(wrong[0]), "answer", "is not a candidate of its task", remedy)
    agent_names = Names("agent", agents)
    raw = RawMoves(
        task=task[moved].astype(np.int64),
        agent=moves.names("agent", agent_names),
        round=_rounds(moves),
        type=moves.options("type", TYPES, "propose"),
        answer=np.where(outside, np.int32(-1), answer),
        target=moves.names("target", agent_names),
        status=status,
        frozen=moves.flags("frozen"),
        confidence=_confidence(moves),
    )
    traces = assemble(
        task_ids,
        agent_names,
        class_names if given is None else given,
        offers.start,
        offers.class_,
        _gold(table, task, task_ids, class_names, offers),
        _meta(table, task, len(task_ids)),
        raw,
        duplicates,
    )
    return traces if gold is None else traces.with_gold(gold)


def to_frame(traces: Traces) -> pd.DataFrame:
    """Return one row a move; see `Traces.to_frame`."""
    import pandas as pd

    table = traces.moves_table
    classes = _names(traces.classes)
    columns = long_columns(traces)
    columns["endorses"] = classes[np.where(table.kind == 1, table.resolved, -1)]
    columns["rejects"] = classes[np.where(table.kind == -1, table.resolved, -1)]
    return pd.DataFrame(columns).infer_objects()


def long_columns(traces: Traces, silent: bool = False) -> dict[str, NDArray[Any]]:
    """Return the columns of a long table, in order of tasks; a view states what it resolved to.

    Parameters
    ----------
    traces : Traces
        Any.
    silent : bool
        Whether a task without moves has a row, which names it and its gold alone.

    Returns
    -------
    dict of arrays
        task, agent, round, type, answer, target, status, frozen, gold, and confidence where there is one.
    """
    table = traces.moves_table.as_resolved() if traces.is_view else traces.moves_table
    others = np.setdiff1d(np.arange(len(traces)), table.task) if silent else np.zeros(0, np.int64)
    task = np.concatenate([table.task, others])
    order = np.argsort(task, kind="stable")

    def filled(values: NDArray[Any], nothing: Any) -> NDArray[Any]:
        return np.concatenate([values, np.full(len(others), nothing, values.dtype)])[order]

    classes, agents = _names(traces.classes), _names(traces.agent_names)
    columns = {
        "task": traces.task_ids[task[order]],
        "agent": filled(agents[table.agent], None),
        "round": filled(table.round, 0),
        "type": filled(np.array(TYPES, object)[table.type], None),
        "answer": filled(classes[table.answer], None),
        "target": filled(agents[table.target], None),
        "status": filled(np.array(STATUSES, object)[table.status], None),
        "frozen": filled(table.frozen, False),
        "gold": classes[traces.gold[task[order]]],
    }
    if table.confidence is not None:
        columns["confidence"] = filled(table.confidence, math.nan)
    return columns


class _Offers:
    """Which classes every task offers."""

    def __init__(self, offered: Sequence[NDArray[np.int32]]) -> None:
        sizes = [len(codes) for codes in offered]
        self.start = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.class_ = np.concatenate([*offered, np.zeros(0, np.int32)]).astype(np.int32)
        self.width = int(self.class_.max(initial=0)) + 1
        self.keys = np.repeat(np.arange(len(sizes)), sizes) * self.width + self.class_

    def hold(self, task: NDArray[Any], class_: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of these classes their tasks offer."""
        return (class_ < self.width) & np.isin(task.astype(np.int64) * self.width + class_, self.keys)


def _names(names: Sequence[Name]) -> NDArray[np.object_]:
    """Return names as an array in which code -1 finds None."""
    found = np.empty(len(names) + 1, object)
    found[:-1] = names
    return found


def _given_classes(table: CheckedFrame, classes: Sequence[Name] | int | None) -> list[Name] | None:
    """Return all classes in the order given, as an argument or by a categorical column."""
    if classes is not None:
        return class_list(classes)
    column = table.frame["answer"]
    return class_list(list(column.cat.categories)) if str(column.dtype) == "category" else None


def _moved(table: CheckedFrame) -> NDArray[np.bool_]:
    """Return which rows hold a move; a row without an agent may only name a task."""
    moved = table.present("agent")
    for column in ("answer", "target", "type", "status", "confidence"):
        lost = np.flatnonzero(~moved & table.present(column))
        if len(lost):
            own, value = table.own_name.get(column, column), table.frame[column].iloc[lost[0]]
            problem = f"is missing, but the row has {own} = {shown(value)}"
            table.fail(int(lost[0]), "agent", problem, "name who moved, or leave all but the task empty")
    return moved


def _every_class(classes: Names, closed: bool, task_ids: list[Name]) -> NDArray[np.int32]:
    """Return what a task offers by default: every class, in the order given or in canonical order."""
    if len(classes) < 2 and task_ids:
        raise TraceError(
            "are fewer than two classes", field="classes", value=list(classes.code),
            remedy="pass classes= with every class there is",
        )  # fmt: skip
    every = np.arange(len(classes), dtype=np.int32)
    return every if closed else every[np.argsort(classes.sorted()[1])]


def _listed_candidates(
    table: CheckedFrame,
    task: NDArray[Any],
    task_ids: list[Name],
    candidates: Mapping[Name, Sequence[Name]] | None,
    classes: Names,
    closed: bool,
) -> list[NDArray[np.int32]] | None:
    """Return the class codes that every task lists, from the argument or the column; None if neither is there."""
    if candidates is not None:
        missing = [name for name in task_ids if name not in candidates]
        if missing:
            raise TraceError("has no entry in candidates", field="task", value=missing[0], remedy="list every task")
        lists: list[Any] = [candidates[name] for name in task_ids]
    elif "candidates" in table:
        lists = table.by_task("candidates", task, len(task_ids), _as_list)
    else:
        return None
    found = []
    for name, names in zip(task_ids, lists, strict=True):
        codes = candidate_codes(names, classes, f"task {name!r}", closed)
        found.append(np.array(list(codes.values()), np.int32))
    return found


def _gold(
    table: CheckedFrame, task: NDArray[Any], task_ids: list[Name], classes: Names, offers: _Offers
) -> NDArray[np.int32]:
    """Return every task's gold from a column; its rows may leave it out, but not differ."""
    gold = np.full(len(task_ids), -1, np.int32)
    if "gold" not in table:
        return gold

    def code(value: Any, where: str) -> int:
        if is_unlabelled(value, classes.code):
            return -1
        found = classes.code.get(plain_name(value, "gold", where), -1)
        if found < 0:
            remedy = f"classes are {listed(classes.code)}; pass classes= if there are more"
            raise TraceError("is not a class", where=where, field="gold", value=value, remedy=remedy)
        return found

    codes = table.coded("gold", code, -1).astype(np.int32)
    rows = np.flatnonzero(codes >= 0)
    gold[task[rows[::-1]]] = codes[rows[::-1]]
    differs = rows[codes[rows] != gold[task[rows]]]
    if len(differs):
        table.fail(int(differs[0]), "gold", "differs from an earlier row of its task", "give a task one gold")
    outside = rows[~offers.hold(task[rows], codes[rows])]
    if len(outside):
        row = int(outside[0])
        offered = [list(classes.code)[c] for c in offers.class_[slice(*offers.start[task[row] : task[row] + 2])]]
        table.fail(row, "gold", "is not a candidate of its task", f"it offers {listed(offered)}")
    return gold


def _meta(table: CheckedFrame, task: NDArray[Any], n_tasks: int) -> list[Mapping[str, Any]] | None:
    if "meta" not in table:
        return None
    found = table.by_task("meta", task, n_tasks, _as_object)
    return [MappingProxyType(meta or {}) for meta in found] if any(found) else None


def _rounds(moves: CheckedFrame) -> NDArray[np.int64]:
    if "round" not in moves:
        return np.zeros(len(moves), np.int64)
    whole = moves.numbers("round", lambda v: (v >= 0) & (v <= LAST_ROUND) & (v == np.floor(v)), "a round 0, 1, ...")
    return whole.astype(np.int64)


def _confidence(moves: CheckedFrame) -> NDArray[np.float64] | None:
    if "confidence" not in moves:
        return None
    values = moves.numbers("confidence", lambda v: ~np.isinf(v), "a finite number")
    return None if np.isnan(values).all() else values


def _as_list(value: Any, where: str, field: str) -> list[Any]:
    found = json_value(value)
    if isinstance(found, (list, tuple)):
        return list(found)
    remedy = 'write a list, or as text ["A", "B"]'
    raise TraceError("is not a list", where=where, field=field, value=value, remedy=remedy)


def _as_object(value: Any, where: str, field: str) -> dict[str, Any] | None:
    found = json_value(value)
    if isinstance(found, Mapping):
        return dict(found) or None
    remedy = 'write an object, or as text {"group": "q17"}'
    raise TraceError("is not an object", where=where, field=field, value=value, remedy=remedy)
