"""Wide tables of votes: one row a task, one column an agent, one proposal of round 0 in every filled cell.

NumPy alone reads an array, so that a fitted arm can be applied to an array without pandas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.assembly import RawMoves, assemble
from bda.errors import TraceError, shown
from bda.names import Name, Names, class_list, is_missing, listed, plain_name
from bda.traces import Traces

__all__ = ["from_votes"]

MISSING, WRONG = -1, -2


def from_votes(
    votes: Any,
    tasks: Sequence[Name] | None,
    agents: Sequence[Name] | None,
    classes: Sequence[Name] | int | None,
    gold: Any,
) -> Traces:
    """Build traces from a wide table of votes; see `Traces.from_votes`."""
    if hasattr(votes, "to_pandas"):
        votes = votes.to_pandas()
    if hasattr(votes, "columns") and hasattr(votes, "iloc"):
        votes, tasks, agents, classes = _from_pandas(votes, tasks, agents, classes)
    wide = _array(votes)
    n_tasks, n_agents = wide.shape
    task_names, agent_names = _axis_names(tasks, n_tasks, "task"), _axis_names(agents, n_agents, "agent")
    class_names, codes = _codes(wide, None if classes is None else class_list(classes), task_names, agent_names)
    task, agent = np.nonzero(codes >= 0)
    zeros = np.zeros(len(task), np.int8)
    raw = RawMoves(
        task=task,
        agent=agent.astype(np.int32),
        round=zeros.astype(np.int64),
        type=zeros,
        answer=codes[task, agent].astype(np.int32),
        target=np.full(len(task), -1, np.int32),
        status=zeros,
        frozen=zeros.astype(bool),
        confidence=None,
    )
    k = len(class_names)
    traces = assemble(
        task_names,
        Names("agent", agent_names),
        class_names,
        np.arange(n_tasks + 1) * k,
        np.tile(np.arange(k, dtype=np.int32), n_tasks),
        np.full(n_tasks, -1, np.int32),
        None,
        raw,
    )
    return traces if gold is None else traces.with_gold(gold)


def _from_pandas(
    frame: Any,
    tasks: Sequence[Name] | None,
    agents: Sequence[Name] | None,
    classes: Sequence[Name] | int | None,
) -> tuple[NDArray[Any], Sequence[Name], Sequence[Name], Sequence[Name] | int | None]:
    """Return a frame's cells, and the names that it brings where the user gives none."""
    columns, kinds = list(frame.columns), set(frame.dtypes)
    if "task" in columns:
        raise TraceError(
            "name a column of tasks among the agents",
            field="columns",
            value=columns,
            remedy="pass frame.set_index('task'); a long table goes to from_frame",
        )
    if classes is None and len(kinds) == 1:
        classes = getattr(kinds.copy().pop(), "categories", None)
    cells = frame.to_numpy() if len(kinds) == 1 else frame.to_numpy(dtype=object)
    return cells, list(frame.index) if tasks is None else tasks, columns if agents is None else agents, classes


def _array(votes: Any) -> NDArray[Any]:
    """Return votes as a two-dimensional array of labels."""
    if isinstance(votes, np.ma.MaskedArray):
        wide = votes.data.astype(object)
        wide[np.ma.getmaskarray(votes)] = None
    elif hasattr(votes, "__array__"):
        wide = np.asarray(votes)
    else:
        try:  # as objects, because NumPy turns the list ["a", nan] into text
            wide = np.array(votes, dtype=object)
        except ValueError:
            wide = np.empty(0, object)
    if wide.ndim != 2:
        raise TraceError(
            "is not a table of tasks by agents",
            field="votes.shape",
            value=wide.shape,
            remedy="pass a two-dimensional array; a long table goes to from_frame",
        )
    if wide.dtype.kind not in "biufUO":
        raise TraceError(
            "cannot hold labels", field="votes.dtype", value=str(wide.dtype), remedy="use strings, integers or booleans"
        )
    return wide


def _axis_names(names: Sequence[Name] | None, n: int, field: str) -> list[Name]:
    if names is None:
        return list(range(n))
    plain = [plain_name(name, f"{field}s") for name in names]
    if len(plain) != n:
        problem = f"are {len(plain)} names for {n} {'rows' if field == 'task' else 'columns'}"
        raise TraceError(problem, field=f"{field}s", value=plain, remedy=f"give each {field} one name")
    first: dict[Name, int] = {}
    for i, name in enumerate(plain):
        if first.setdefault(name, i) != i:
            problem = f"stands at positions {first[name]} and {i}"
            raise TraceError(problem, field=f"{field}s", value=name, remedy=f"give each {field} a name of its own")
    return plain


def _codes(
    wide: NDArray[Any], given: list[Name] | None, tasks: list[Name], agents: list[Name]
) -> tuple[list[Name], NDArray[np.int64]]:
    """Return class names and the code of every vote, -1 where missing."""
    seen, cells = _seen(wide)
    names = [name for name in seen.sorted()[0] if not _is_minus_one(name)] if given is None else given
    if len(names) < 2 and len(wide):
        raise TraceError(
            "are fewer than two classes",
            field="classes",
            value=names,
            remedy="pass classes= with every class there is; -1 is a missing vote unless it is among them",
        )
    by_position = any(isinstance(name, str) for name in names) and all(type(name) is int for name in seen.code)
    code_of: dict[Name, int] = {i if by_position else name: i for i, name in enumerate(names)}
    listed_minus_one = -1 in code_of
    table = [
        code_of.get(name, MISSING if _is_minus_one(name) and not listed_minus_one else WRONG) for name in seen.code
    ]
    codes = np.array([*table, MISSING])[cells]
    wrong = np.argwhere(codes == WRONG)
    if len(wrong):
        n, a = wrong[0]
        labels = f"0..{len(names) - 1}" if list(code_of) == list(range(len(names))) else listed(code_of)
        fault = TraceError(
            f"votes[{n}, {a}] is {shown(wide[n, a])} but there are {len(names)} classes; "
            f"labels are {labels}, {'NaN' if listed_minus_one else '-1 or NaN'} for a missing vote",
            where=_names_of_cell(tasks[n], agents[a]),
        )
        fault.field, fault.value = f"votes[{n}, {a}]", wide[n, a]
        raise fault
    return names, codes


def _seen(wide: NDArray[Any]) -> tuple[Names, NDArray[np.int64]]:
    """Return the labels in a table and, for every cell, which of them it holds, -1 for none."""
    flat = wide.ravel()
    if wide.dtype.kind == "O":
        present = np.flatnonzero([not is_missing(label) for label in flat])
        labels, first, which = flat[present], np.arange(len(present)), np.arange(len(present))
    else:
        present = np.flatnonzero(~np.isnan(flat)) if wide.dtype.kind == "f" else np.arange(flat.size)
        labels, first, which = np.unique(flat[present], return_index=True, return_inverse=True)
    names, codes = Names("votes"), np.empty(len(labels), np.int64)
    for i, label in enumerate(labels.tolist()):
        try:
            if wide.dtype.kind == "U" and label in ("nan", "-1"):
                raise TraceError(
                    "is text that NumPy made of a missing vote", remedy="pass a list or an array of objects"
                )
            codes[i] = names.add(plain_name(label, "votes"))
        except TraceError as fault:
            n, a = divmod(int(present[first[i]]), wide.shape[1])
            raise TraceError(fault.problem, field=f"votes[{n}, {a}]", value=label, remedy=fault.remedy) from None
    cells = np.full(flat.size, MISSING)
    cells[present] = codes[which]
    return names, cells.reshape(wide.shape)


def _names_of_cell(task: Name, agent: Name) -> str:
    """Return the names of a cell, unless they only count rows and columns."""
    return "" if type(task) is int and type(agent) is int else f"task {task!r}, agent {agent!r}"


def _is_minus_one(name: Name) -> bool:
    return type(name) is int and name == -1
