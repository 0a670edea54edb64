"""Assembly: raw columns in, canonical `Traces` out. Every reader ends here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.moves import Moves
from bda.names import Name, Names, listed, plain_name
from bda.resolution import PROPOSE, STATUSES, resolve
from bda.traces import Traces

__all__ = ["DUPLICATES", "RawMoves", "assemble", "candidate_codes"]

DUPLICATES = ("keep", "last", "error")


@dataclass
class RawMoves:
    """Unsorted, unresolved move columns; codes refer to tables in order of first use."""

    task: NDArray[np.int64]
    agent: NDArray[np.int32]
    round: NDArray[np.int64]
    type: NDArray[np.int8]
    answer: NDArray[np.int32]
    target: NDArray[np.int32]
    status: NDArray[np.int8]
    frozen: NDArray[np.bool_]
    confidence: NDArray[np.float64] | None

    def __len__(self) -> int:
        return len(self.task)

    def take(self, rows: NDArray[Any]) -> RawMoves:
        """Return the moves at `rows`."""
        columns: dict[str, Any] = {k: None if v is None else v[rows] for k, v in vars(self).items()}
        return RawMoves(**columns)


def assemble(
    task_ids: Sequence[Name],
    agents: Names,
    classes: Names | Sequence[Name],
    candidate_start: NDArray[np.int64],
    candidate_class: NDArray[np.int32],
    gold: NDArray[np.int32],
    meta: Sequence[Mapping[str, Any]] | None,
    raw: RawMoves,
    duplicates: str = "keep",
) -> Traces:
    """Return traces with agents and classes in canonical order, moves sorted by task and resolved.

    Parameters
    ----------
    task_ids : sequence of names
        Unique.
    agents : Names
        Codes used in `raw.agent` and `raw.target`.
    classes : Names or sequence
        Names are put in canonical order; a sequence keeps the order its user gave.
    candidate_start, candidate_class : integer arrays
        Candidates of every task, as in `Traces`.
    gold : int32 array, shape (n_tasks,)
        Class codes, -1 unlabelled.
    meta : sequence of mappings, optional
        One a task.
    raw : RawMoves
        The moves.
    duplicates : {"keep", "last", "error"}
        What becomes of several votes (proposals with an answer) of one agent in one round.

    Returns
    -------
    Traces
        Resolved.
    """
    if isinstance(classes, Names):
        class_names, class_rank = classes.sorted()
    else:
        class_names, class_rank = tuple(classes), np.arange(len(classes), dtype=np.int32)
    agent_names, agent_rank = agents.sorted()
    raw = raw.take(np.argsort(raw.task, kind="stable"))
    raw.agent, raw.target = _recode(raw.agent, agent_rank), _recode(raw.target, agent_rank)
    raw.answer = _recode(raw.answer, class_rank)
    unread = (raw.type == PROPOSE) & (raw.answer < 0) & (raw.status == 0)
    raw.status = np.where(unread, STATUSES.index("unreadable"), raw.status).astype(np.int8)
    raw = _without_duplicates(raw, duplicates, task_ids, agent_names)
    found = resolve(raw.task, raw.agent, raw.round, raw.type, raw.answer, raw.target, raw.status, raw.frozen)
    names = np.empty(len(task_ids), object)
    names[:] = task_ids
    return Traces(
        task_ids=names,
        agent_names=agent_names,
        classes=class_names,
        candidate_start=candidate_start.astype(np.int64),
        candidate_class=_recode(candidate_class, class_rank),
        gold=_recode(gold, class_rank),
        moves_table=Moves(**vars(raw), kind=found.kind, resolved=found.answer, irregular=found.irregular),
        meta=None if meta is None else tuple(meta),
    )


def candidate_codes(candidates: Any, classes: Names, where: str, closed: bool = False) -> dict[Name, int]:
    """Return the class code of every candidate that a task lists.

    Parameters
    ----------
    candidates : list of names
        Two or more, all different.
    classes : Names
        Table of classes, which grows.
    where : str
        The place of the list, for errors.
    closed : bool
        Whether the table holds every class already, so that another one is an error.

    Returns
    -------
    dict
        In the order of the list.
    """
    if not isinstance(candidates, (list, tuple, np.ndarray)):
        raise TraceError(
            "is not a list",
            where=where,
            field="candidates",
            value=candidates,
            remedy="list the answers that the task offers",
        )
    codes: dict[Name, int] = {}
    for candidate in candidates:
        name = plain_name(candidate, "candidates", where)
        if name in codes:
            raise TraceError(
                "stands twice", where=where, field="candidates", value=name, remedy="list every candidate once"
            )
        if closed and name not in classes.code:
            remedy = f"classes are {listed(classes.code)}"
            raise TraceError("is not among the classes", where=where, field="candidates", value=name, remedy=remedy)
        codes[name] = classes.add(name, where)
    if len(codes) < 2:
        raise TraceError(
            "offers fewer than two answers",
            where=where,
            field="candidates",
            value=list(codes),
            remedy="list at least two",
        )
    return codes


def _recode(codes: NDArray[np.integer], rank: NDArray[np.int32]) -> NDArray[np.int32]:
    found: NDArray[np.int32] = np.append(rank, np.int32(-1))[codes]  # code -1 picks the appended -1
    return found


def _without_duplicates(
    raw: RawMoves, duplicates: str, task_ids: Sequence[Name], agent_names: Sequence[Name]
) -> RawMoves:
    if duplicates not in DUPLICATES:
        raise TraceError("is not a policy", field="duplicates", value=duplicates, remedy=f"use {', '.join(DUPLICATES)}")
    if duplicates == "keep" or not len(raw):
        return raw
    # A move without an answer is no vote: it neither erases one nor repeats it.
    votes = np.flatnonzero((raw.type == PROPOSE) & (raw.answer >= 0) & (raw.status == 0))
    order = votes[np.lexsort((votes, raw.round[votes], raw.agent[votes], raw.task[votes]))]
    key = np.stack([raw.task[order], raw.agent[order], raw.round[order]])
    followed = np.append((key[:, 1:] == key[:, :-1]).all(axis=0), False)
    earlier = order[followed]
    if len(earlier) and duplicates == "error":
        i = earlier.min()
        raise TraceError(
            f"votes more than once in round {raw.round[i]}",
            where=f"task {task_ids[raw.task[i]]!r}",
            field="agent",
            value=agent_names[raw.agent[i]],
            remedy="pass duplicates='keep' to count repeats, or 'last'",
        )
    kept = np.ones(len(raw), bool)
    kept[earlier] = False
    return raw.take(kept)
