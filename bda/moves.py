"""The table of moves: one read-only NumPy column for each thing that a move states or means."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.resolution import CONCEDE, PROPOSE

__all__ = ["Moves"]


@dataclass(frozen=True, eq=False)
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

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # Through the constructor, because a pickled array comes back writable.
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def take(self, rows: NDArray[Any], **changed: Any) -> Moves:
        """Return the moves at `rows`, with some columns replaced."""
        columns: dict[str, Any] = {
            name: None if column is None else column[rows] for name, column in vars(self).items() if name not in changed
        }
        return Moves(**columns, **changed)

    def as_resolved(self) -> Moves:
        """Return the moves with targeted ones stating what they resolved to, as views are written.

        A concession then holds its answer (`frozen`), whatever became of the moves that it referred to.
        """
        settled = (self.kind != 0) & (self.type != PROPOSE)
        return replace(
            self,
            answer=np.where(settled, self.resolved, self.answer),
            frozen=self.frozen | (settled & (self.type == CONCEDE)),
        )
