"""Traces: one council's typed moves on many tasks, in columns.

A task n offers candidates k = 1..K_n (K_n >= 2, differing between tasks); agents make moves of four types
(propose, concede, challenge, abstain) in rounds 0, 1, ... `Traces` holds the moves of all tasks as read-only
NumPy columns, sorted by task and resolved once (see `bda.resolution`); views select resolved moves.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bda.errors import TraceError
from bda.names import Name
from bda.resolution import TYPES, last_endorsements

if TYPE_CHECKING:
    import os

    import pandas as pd

    from bda.evidence import Evidence
    from bda.protocol import ProtocolReport

__all__ = ["Moves", "Traces"]


@dataclass(frozen=True)
class Moves:
    """Columns of all moves, sorted by task; within a task they keep file order.

    Attributes
    ----------
    task, agent, round, type, answer, target, status : integer arrays, shape (n_moves,)
        Codes; `answer` and `target` are -1 where the move states none. `answer` is what was stated.
    frozen : bool array, shape (n_moves,)
        Concessions whose stated answer holds.
    confidence : float array, shape (n_moves,), or None
        Self-reported, NaN where absent; no posterior reads it.
    kind : int8 array, shape (n_moves,)
        1 endorses, -1 rejects, 0 carries no information.
    resolved : int32 array, shape (n_moves,)
        The class that is endorsed or rejected, -1 where `kind` is 0.
    irregular : int16 array, shape (n_moves,)
        Bits of `bda.resolution.IRREGULARITIES`.
    """

    task: NDArray[np.int64]
    agent: NDArray[np.int32]
    round: NDArray[np.int64]
    type: NDArray[np.int8]
    answer: NDArray[np.int32]
    target: NDArray[np.int32]
    status: NDArray[np.int8]
    frozen: NDArray[np.bool_]
    confidence: NDArray[np.float64] | None
    kind: NDArray[np.int8]
    resolved: NDArray[np.int32]
    irregular: NDArray[np.int16]

    def __post_init__(self) -> None:
        for column in vars(self).values():
            if column is not None:
                column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.task)

    def take(self, rows: NDArray[Any], **changed: Any) -> Moves:
        """Return the moves at `rows`, with some columns replaced."""
        columns = {
            name: None if column is None else column[rows]
            for name, column in vars(self).items()
            if name not in changed
        }
        return Moves(**columns, **changed)


@dataclass(frozen=True, eq=False)
class Traces:
    """Typed moves of a council on many tasks: columnar, immutable, indexable.

    Build one with `read_jsonl`, `from_records`, `from_frame`, `from_votes` or `read_parquet`.

    Attributes
    ----------
    task_ids : object array, shape (n_tasks,)
        Names of the tasks, in file order.
    agent_names : tuple
        Everyone who moves or is addressed, in canonical order.
    classes : tuple
        Names of all candidates; the columns of `predict_proba` of an unfitted arm.
    candidate_start : int64 array, shape (n_tasks + 1,)
        Task n offers `candidate_class[candidate_start[n]:candidate_start[n + 1]]`.
    candidate_class : int32 array, shape (n_candidates,)
        Class codes of every task's candidates, in the order the task lists them.
    gold : int32 array, shape (n_tasks,)
        Class code of the true candidate, -1 where unlabelled.
    moves_table : Moves
        The moves, resolved.
    meta : tuple of mappings, or None
        What each task carried under `meta`.
    is_view : bool
        Whether moves were taken away after resolution.

    Examples
    --------
    >>> from bda import Traces
    >>> traces = Traces.from_records([
    ...     {"task": "q1", "candidates": ["yes", "no"], "gold": "no", "moves": [
    ...         {"agent": "ada", "round": 0, "type": "propose", "answer": "yes"},
    ...         {"agent": "cox", "round": 1, "type": "challenge", "target": "ada"}]}])
    >>> len(traces), traces.classes, traces.agent_names
    (1, ('no', 'yes'), ('ada', 'cox'))
    """

    task_ids: NDArray[np.object_]
    agent_names: tuple[Name, ...]
    classes: tuple[Name, ...]
    candidate_start: NDArray[np.int64]
    candidate_class: NDArray[np.int32]
    gold: NDArray[np.int32]
    moves_table: Moves
    meta: tuple[Mapping[str, Any], ...] | None = None
    is_view: bool = False

    def __post_init__(self) -> None:
        for column in (self.task_ids, self.candidate_start, self.candidate_class, self.gold):
            column.setflags(write=False)

    # ---- reading and writing; each form lives in a file of its own -------------------------------------

    @classmethod
    def read_jsonl(cls, path: str | os.PathLike[str], *, gold: Any = None, duplicates: str = "keep") -> Traces:
        """Read traces from JSON lines, one task a line, `.gz` or plain.

        Parameters
        ----------
        path : path
            The file.
        gold : mapping, Series, frame or CSV path, optional
            A `task,label` table that replaces the gold inside; see `with_gold`.
        duplicates : {"keep", "last", "error"}, default "keep"
            What becomes of several proposals of one agent in one round of one task: repeats, the last
            alone, or an error.

        Returns
        -------
        Traces
            All tasks of the file; on any fault nothing.

        Raises
        ------
        TraceError
            Naming file, line, field, value and remedy.

        Examples
        --------
        >>> from bda import Traces
        >>> traces = Traces.read_jsonl("examples/llmbar_judges.jsonl.gz")
        >>> len(traces), len(traces.agent_names)
        (419, 106)
        """
        from bda.trace_files import read_jsonl

        traces = read_jsonl(path, duplicates)
        return traces if gold is None else traces.with_gold(gold)

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any]], *, duplicates: str = "keep") -> Traces:
        """Build traces from dictionaries in the JSON form, one a task.

        Parameters
        ----------
        records : iterable of mappings
            See docs/trace-format.md.
        duplicates : {"keep", "last", "error"}, default "keep"
            As in `read_jsonl`.

        Returns
        -------
        Traces
            In the order of `records`.

        Examples
        --------
        >>> from bda import Traces
        >>> len(Traces.from_records([{"task": 1, "candidates": [0, 1], "moves": []}]))
        1
        """
        from bda.trace_files import from_records

        return from_records(records, duplicates)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        gold: Any = None,
        classes: Sequence[Name] | None = None,
        candidates: Mapping[Name, Sequence[Name]] | None = None,
        duplicates: str = "keep",
    ) -> Traces:
        """Build traces from a long table, one move a row.

        Parameters
        ----------
        frame : data frame
            Columns `task`, `agent` (or `worker`), `answer` (or `label`); optional `round`, `type`, `target`,
            `status`, `confidence`, `frozen`, `gold`, `candidates`, `meta`.
        gold : mapping, Series, frame or CSV path, optional
            True classes, as in `with_gold`.
        classes : sequence, optional
            All class names, where wider than what was seen; their order becomes the order of columns.
        candidates : mapping, optional
            From task to the candidates it offers; by default every task offers every class.
        duplicates : {"keep", "last", "error"}, default "keep"
            As in `read_jsonl`.

        Returns
        -------
        Traces
            Tasks in order of first appearance.

        Examples
        --------
        >>> import pandas as pd
        >>> from bda import Traces
        >>> long = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": ["x", "y", "y"]})
        >>> Traces.from_frame(long).classes
        ('x', 'y')
        """
        from bda.frames import from_frame

        return from_frame(frame, gold, classes, candidates, duplicates)

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        *,
        tasks: Sequence[Name] | None = None,
        agents: Sequence[Name] | None = None,
        classes: Sequence[Name] | int | None = None,
        gold: Any = None,
    ) -> Traces:
        """Build traces from a wide table of votes, tasks by agents; missing = NaN, None or -1.

        Parameters
        ----------
        votes : array or data frame, shape (n_tasks, n_agents)
            Labels; with `classes` of strings, integers are positions in `classes`. A frame brings task names
            in its index and agent names in its columns.
        tasks, agents : sequences, optional
            Names of rows and columns; by default 0, 1, ...
        classes : sequence or int, optional
            All class names, or their number K for the names 0..K-1. By default those seen.
        gold : mapping, Series, array, frame or CSV path, optional
            True classes, as in `with_gold`.

        Returns
        -------
        Traces
            One proposal in round 0 for every vote.

        Examples
        --------
        >>> import numpy as np
        >>> from bda import Traces
        >>> len(Traces.from_votes(np.array([[0, 1, -1], [1, 1, 0]])).moves_table)
        5
        """
        from bda.frames import from_votes

        return from_votes(votes, tasks, agents, classes, gold)

    @classmethod
    def read_parquet(cls, path: str | os.PathLike[str]) -> Traces:
        """Read traces that `write_parquet` wrote; needs the extra `parquet`.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Traces
            Equal to what was written.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.read_parquet("council.parquet")  # doctest: +SKIP
        """
        from bda.frames import read_parquet

        return read_parquet(path)

    def write_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write the traces as JSON lines, gzipped if the name ends in `.gz`.

        A view is written as resolved: its challenges state their answer, its concessions are `frozen`.

        Parameters
        ----------
        path : path
            The file; it appears whole or not at all.

        Examples
        --------
        >>> import tempfile
        >>> from bda import Traces
        >>> traces = Traces.from_votes([[0, 1], [1, 1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     traces.write_jsonl(f"{folder}/votes.jsonl.gz")
        ...     len(Traces.read_jsonl(f"{folder}/votes.jsonl.gz"))
        2
        """
        from bda.trace_files import write_jsonl

        write_jsonl(self, path)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the traces as one Parquet table; needs the extra `parquet`.

        Parameters
        ----------
        path : path
            The file.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1]]).write_parquet("council.parquet")  # doctest: +SKIP
        """
        from bda.frames import write_parquet

        write_parquet(self, path)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a move: task, agent, round, type, answer, target, status and more.

        Returns
        -------
        DataFrame
            Tasks without moves have no row. `endorses` and `rejects` hold what the move says once resolved.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1]]).to_frame()[["task", "agent", "answer"]].values.tolist()
        [[0, 0, 0], [0, 1, 1]]
        """
        from bda.frames import to_frame

        return to_frame(self)

    def with_gold(self, gold: Any) -> Traces:
        """Return the same traces with another gold.

        Parameters
        ----------
        gold : mapping, Series, array, frame or CSV path
            By task name: a mapping, a Series whose index holds task names, a frame or CSV with columns `task`
            and `label` (or `gold`). By position: an array or Series of n_tasks labels. Missing = unlabelled.

        Returns
        -------
        Traces
            With `gold` replaced.

        Raises
        ------
        TraceError
            If a label is not a candidate of its task, or a table names a task that is not there.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1], [1, 1]]).with_gold({1: 0}).gold.tolist()
        [-1, 0]
        """
        from bda.labels import gold_codes

        return replace(self, gold=gold_codes(self, gold, strict=True))

    def protocol_report(self) -> ProtocolReport:
        """Return counts and places of every irregular or uninformative move, per agent and round.

        Returns
        -------
        ProtocolReport
            With `.to_frame()`, `.states()` and `.locations()`.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, -1], [1, 1]]).protocol_report().states()["not_asked"].tolist()
        [0, 1]
        """
        from bda.protocol import ProtocolReport

        return ProtocolReport(self)

    # ---- size and selection -----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.task_ids)

    @property
    def shape(self) -> tuple[int]:
        """(n_tasks,): lets scikit-learn's splitters index traces as they index arrays."""
        return (len(self),)

    @cached_property
    def n_candidates(self) -> NDArray[np.int64]:
        """K_n, shape (n_tasks,)."""
        return np.diff(self.candidate_start)

    @cached_property
    def counted(self) -> dict[tuple[bool, str], Evidence]:
        """Evidence already counted, by reading and view; filled by `bda.evidence.count_evidence`."""
        return {}

    @cached_property
    def candidate_task(self) -> NDArray[np.int64]:
        """The task of every candidate, shape (n_candidates,)."""
        return np.repeat(np.arange(len(self)), self.n_candidates)

    def __getitem__(self, index: Any) -> Traces:
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]
        return self.tasks(index)

    def __iter__(self) -> Iterator[Traces]:
        return (self.tasks(i) for i in range(len(self)))

    def __repr__(self) -> str:
        labelled = int((self.gold >= 0).sum())
        return (
            f"Traces({len(self)} tasks, {len(self.agent_names)} agents, {len(self.classes)} classes, "
            f"{len(self.moves_table)} moves, {labelled} labelled)"
        )

    def tasks(self, index: Any) -> Traces:
        """Return the tasks at `index`: a position, slice, mask, or sequence of positions.

        Parameters
        ----------
        index : int, slice, bool array or integer array
            Positions; repeats are allowed (a bootstrap sample).

        Returns
        -------
        Traces
            Same classes and agents, fewer tasks.

        Raises
        ------
        IndexError
            For a position out of range or a mask of another length.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1], [1, 1], [0, 0]]).tasks([2, 0]).task_ids.tolist()
        [2, 0]
        """
        rows = _positions(index, len(self))
        start = np.searchsorted(self.moves_table.task, np.arange(len(self) + 1))
        picked = _ranges(start[rows], start[rows + 1])
        moves = self.moves_table.take(
            picked, task=np.repeat(np.arange(len(rows)), start[rows + 1] - start[rows])
        )
        offered = _ranges(self.candidate_start[rows], self.candidate_start[rows + 1])
        return replace(
            self,
            task_ids=self.task_ids[rows],
            candidate_start=np.concatenate([[0], np.cumsum(self.n_candidates[rows])]),
            candidate_class=self.candidate_class[offered],
            gold=self.gold[rows],
            moves_table=moves,
            meta=None if self.meta is None else tuple(self.meta[i] for i in rows),
        )

    def position(self, task: Name) -> int:
        """Return the position of the task named `task`.

        Parameters
        ----------
        task : str, int or bool
            A task name.

        Returns
        -------
        int
            Where it stands in `task_ids`.

        Raises
        ------
        KeyError
            If there is no such task.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1], [1, 1]], tasks=["a", "b"]).position("b")
        1
        """
        try:
            return self._task_position[task]
        except (KeyError, TypeError):
            near = ", ".join(repr(t) for t in self.task_ids[:3])
            raise KeyError(f"there is no task {task!r}; tasks are named like {near}") from None

    @cached_property
    def _task_position(self) -> dict[Name, int]:
        return {task: i for i, task in reversed(list(enumerate(self.task_ids)))}

    def subset(self, **meta: Any) -> Traces:
        """Return the tasks whose `meta` has these values; values compare as text too.

        Parameters
        ----------
        **meta : values
            `subset="Neighbor"` keeps tasks with `meta["subset"] == "Neighbor"`.

        Returns
        -------
        Traces
            Possibly fewer tasks.

        Raises
        ------
        TraceError
            If no task matches, naming the values that exist.

        Examples
        --------
        >>> from bda import Traces
        >>> traces = Traces.read_jsonl("examples/llmbar_judges.jsonl.gz")
        >>> len(traces.subset(subset="Neighbor"))
        134
        """
        kept = np.ones(len(self), bool)
        for key, value in meta.items():
            values = [m.get(key) for m in self.meta or ()] or [None] * len(self)
            kept &= np.array([v is not None and (v == value or str(v) == str(value)) for v in values], bool)
            if len(self) and not kept.any():
                seen = sorted({str(v) for v in values if v is not None})
                raise TraceError(
                    "matches no task",
                    field=f"meta.{key}",
                    value=value,
                    remedy=f"values there are {', '.join(seen[:12])}" if seen else f"no task has meta.{key}",
                )
        return self.tasks(kept)

    # ---- views, taken on resolved moves -----------------------------------------------------------------

    def round0(self) -> Traces:
        """Return the moves of round 0 alone.

        Returns
        -------
        Traces
            A view: later rounds are gone, resolution stays.

        Examples
        --------
        >>> from bda import Traces
        >>> len(Traces.from_votes([[0, 1]]).round0().moves_table)
        2
        """
        return self._keep(self.moves_table.round == 0)

    def moves(self, types: str | Iterable[str]) -> Traces:
        """Return the moves of some types alone.

        Parameters
        ----------
        types : str or iterable of str
            Among propose, concede, challenge, abstain.

        Returns
        -------
        Traces
            A view: an answer that a removed move set still stands where it was used.

        Examples
        --------
        >>> from bda import Traces
        >>> len(Traces.from_votes([[0, 1]]).moves("challenge").moves_table)
        0
        """
        wanted = [types] if isinstance(types, str) else list(types)
        for name in wanted:
            if name not in TYPES:
                raise TraceError("is not a move type", field="types", value=name, remedy=f"use {', '.join(TYPES)}")
        return self._keep(np.isin(self.moves_table.type, [TYPES.index(name) for name in wanted]))

    def agents(self, names: Name | Iterable[Name]) -> Traces:
        """Return the moves of some agents alone.

        Parameters
        ----------
        names : name, glob pattern, or iterable of these
            Exact names first; what is not a name is matched as a shell pattern (`*/ab`).

        Returns
        -------
        Traces
            A view with those agents only.

        Raises
        ------
        TraceError
            If a name or pattern matches nobody.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1]], agents=["ada", "cox"]).agents("a*").agent_names
        ('ada',)
        """
        wanted: list[Name] = [names] if isinstance(names, (str, int)) else list(names)
        chosen = sorted({code for name in wanted for code in self._matching(name)})
        recode = np.full(len(self.agent_names) + 1, -1, np.int32)
        recode[chosen] = np.arange(len(chosen), dtype=np.int32)
        kept = recode[self.moves_table.agent] >= 0
        moves = self.moves_table.take(
            kept, agent=recode[self.moves_table.agent[kept]], target=recode[self.moves_table.target[kept]]
        )
        return replace(
            self, agent_names=tuple(self.agent_names[i] for i in chosen), moves_table=moves, is_view=True
        )

    def last_vote(self) -> Traces:
        """Return each agent's standing answer after the last round, as one proposal in round 0.

        A later unreadable move does not erase it; an agent that never endorsed has none.

        Returns
        -------
        Traces
            A view with at most one move per agent and task.

        Examples
        --------
        >>> from bda import Traces
        >>> traces = Traces.from_records([{"task": 1, "candidates": ["a", "b"], "moves": [
        ...     {"agent": "x", "round": 0, "type": "propose", "answer": "a"},
        ...     {"agent": "x", "round": 1, "type": "propose", "answer": "b"}]}])
        >>> traces.last_vote().to_frame()["answer"].tolist()
        ['b']
        """
        table = self.moves_table
        last = last_endorsements(table.task, table.agent, table.round, table.kind)
        zeros = np.zeros(len(last), np.int8)
        moves = table.take(
            last,
            round=zeros.astype(np.int64),
            type=zeros,
            answer=table.resolved[last],
            target=np.full(len(last), -1, np.int32),
            status=zeros,
            frozen=zeros.astype(bool),
            irregular=zeros.astype(np.int16),
        )
        return replace(self, moves_table=moves, is_view=True)

    def _keep(self, kept: NDArray[np.bool_]) -> Traces:
        return replace(self, moves_table=self.moves_table.take(kept), is_view=True)

    def _matching(self, name: Name) -> list[int]:
        if name in self.agent_names:
            return [self.agent_names.index(name)]
        if isinstance(name, str):
            found = [i for i, a in enumerate(self.agent_names) if fnmatch.fnmatchcase(str(a), name)]
            if found:
                return found
        shown = ", ".join(map(str, self.agent_names[:8]))
        raise TraceError(
            "matches no agent", field="agents", value=name, remedy=f"agents are {shown}" + ", ..." * (len(self.agent_names) > 8)
        )


def _positions(index: Any, n: int) -> NDArray[np.int64]:
    """Return `index` as positions 0..n-1."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    chosen: ArrayLike = np.asarray(index)
    if chosen.dtype == bool:
        if chosen.shape != (n,):
            raise IndexError(f"the mask has shape {chosen.shape} but there are {n} tasks")
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, np.int64)
    if chosen.dtype.kind not in "iu":
        raise IndexError(f"tasks are indexed by positions, slices or masks, not by {chosen.dtype}")
    rows = np.atleast_1d(chosen).astype(np.int64)
    outside = (rows < -n) | (rows >= n)
    if outside.any():
        raise IndexError(f"position {rows[outside][0]} is out of range for {n} tasks")
    return np.where(rows < 0, rows + n, rows)


def _ranges(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate the ranges start[i]..stop[i]-1."""
    length = stop - start
    offset = np.cumsum(length) - length
    return np.arange(int(length.sum())) - np.repeat(offset - start, length)
