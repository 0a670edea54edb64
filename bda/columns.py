"""The columns of traces: tasks with their candidates, gold and moves, and how tasks are picked out of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.moves import Moves
from bda.names import Name, listed

if TYPE_CHECKING:
    from bda.evidence import Evidence

__all__ = ["TraceColumns"]


@dataclass(frozen=True, eq=False, repr=False)
class TraceColumns:
    """Columns of `Traces`, which documents them; everything here keeps the order and meaning of moves."""

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

    def __reduce__(self) -> Any:
        # Through the constructor, because pickled arrays come back writable and meta's proxies do not pickle.
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.meta is not None:
            columns["meta"] = tuple(map(dict, self.meta))
        return _rebuilt, (type(self), columns)

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
    def candidate_task(self) -> NDArray[np.int64]:
        """The task of every candidate, shape (n_candidates,)."""
        return np.repeat(np.arange(len(self)), self.n_candidates)

    @cached_property
    def counted(self) -> dict[tuple[bool, str, bool], Evidence]:
        """Evidence already counted, by reading, view, and whether of last votes alone; see `bda.evidence`."""
        return {}

    def __getitem__(self, index: Any) -> Self:
        if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:
            index = index[0]
        return self.tasks(index)

    def __iter__(self) -> Iterator[Self]:
        return (self.tasks(i) for i in range(len(self)))

    def __repr__(self) -> str:
        labelled = int((self.gold >= 0).sum())
        return (
            f"{type(self).__name__}({len(self)} tasks, {len(self.agent_names)} agents, {len(self.classes)} classes, "
            f"{len(self.moves_table)} moves, {labelled} labelled)"
        )

    def tasks(self, index: Any) -> Self:
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
        first, stop = start[rows], start[rows + 1]
        moves = self.moves_table.take(_ranges(first, stop), task=np.repeat(np.arange(len(rows)), stop - first))
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

    def subset(self, /, **meta: Any) -> Self:
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
            seen = sorted({str(v) for v, k in zip(values, kept, strict=True) if k and v is not None})
            kept &= np.array([v is not None and (v == value or str(v) == str(value)) for v in values], bool)
            if len(self) and not kept.any():
                raise TraceError(
                    "matches no task",
                    field=f"meta.{key}",
                    value=value,
                    remedy=f"values there are {listed(seen)}" if seen else f"no task has meta.{key}",
                )
        return self.tasks(kept)

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
            raise KeyError(f"there is no task {task!r}; tasks are named like {listed(self.task_ids[:3])}") from None

    @cached_property
    def _task_position(self) -> dict[Name, int]:
        return {task: i for i, task in reversed(list(enumerate(self.task_ids)))}


def _rebuilt(kind: type[TraceColumns], columns: dict[str, Any]) -> TraceColumns:
    if columns["meta"] is not None:
        columns["meta"] = tuple(map(MappingProxyType, columns["meta"]))
    return kind(**columns)


def _positions(index: Any, n: int) -> NDArray[np.int64]:
    """Return `index` as positions 0..n-1."""
    if isinstance(index, slice):
        return np.arange(n)[index]
    chosen = np.asarray(index)
    if chosen.dtype == bool:
        if chosen.shape != (n,):
            raise IndexError(f"the mask has shape {chosen.shape} but there are {n} tasks")
        return np.flatnonzero(chosen)
    if chosen.ndim > 1:
        raise IndexError(f"tasks are indexed in one dimension, not by an array of shape {chosen.shape}")
    if chosen.size == 0:
        return np.zeros(0, np.int64)
    if chosen.dtype.kind not in "iu":
        raise IndexError(
            f"tasks are indexed by positions, slices or masks, not by {index!r}; position(name) finds a name"
        )
    rows = np.atleast_1d(chosen).astype(np.int64)
    outside = (rows < -n) | (rows >= n)
    if outside.any():
        raise IndexError(f"position {rows[outside][0]} is out of range for {n} tasks")
    return np.where(rows < 0, rows + n, rows)


def _ranges(start: NDArray[np.int64], stop: NDArray[np.int64]) -> NDArray[np.int64]:
    """Concatenate the ranges start[i]..stop[i]-1."""
    length = stop - start
    offset = np.cumsum(length) - length
    found: NDArray[np.int64] = np.arange(int(length.sum())) - np.repeat(offset - start, length)
    return found
