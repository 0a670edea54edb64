"""Selection of hyperparameters by inner cross-validation on the Brier score (BDA appendix D.1).

For every split the labelled tasks are predicted out of fold under every setting of a grid; the setting with the
smallest pooled Brier score wins; equal scores go to smaller kappa, larger lambda, larger tau. All settings of all
splits are evaluated together (`bda.batched`), not looped.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm
from bda.batched import out_of_fold_log_proba
from bda.errors import TraceError
from bda.labels import candidate_positions
from bda.posteriors import sum_by
from bda.splits import Split
from bda.traces import Traces

__all__ = ["KAPPAS", "PRIOR_ACCURACIES", "PRIOR_COUNTS", "PRIOR_STRENGTHS", "TEMPERATURES", "Choice", "Tuned", "choose"]

TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0)
KAPPAS = (0.0, 5.0, 10.0, 20.0, 60.0)
PRIOR_COUNTS = ((2.0, 1.0), (3.0, 2.0), (4.0, 1.0))
PRIOR_STRENGTHS = (1.0, 3.0, 10.0)
PRIOR_ACCURACIES = (0.4, 0.6, 0.8)
SAME_BRIER = 1e-12


@dataclass(frozen=True)
class Tuned:
    """An arm whose hyperparameters the inner folds pick.

    Parameters
    ----------
    arm : Arm
        Holds everything that is not tuned.
    grid : mapping
        From parameter, or tuple of parameters that move together, to the values tried.

    Examples
    --------
    >>> from bda import PerAgent, Tuned
    >>> tuned = Tuned(PerAgent(), {"kappa": (5.0, 20.0), ("alpha", "beta"): ((2.0, 1.0), (4.0, 1.0))})
    >>> len(tuned.settings())
    4
    """

    arm: Arm
    grid: Mapping[str | tuple[str, ...], Sequence[Any]]

    def settings(self) -> list[dict[str, Any]]:
        """Return every setting of the grid.

        Returns
        -------
        list of dict
            The product of the grid's axes, in order.

        Raises
        ------
        TraceError
            For a parameter that the arm does not have, or an axis without values.
        """
        axes: list[list[dict[str, Any]]] = []
        known = self.arm.get_params()
        seen: set[str] = set()
        for name, values in self.grid.items():
            names = (name,) if isinstance(name, str) else tuple(name)
            for part in names:
                if part not in known:
                    raise TraceError(
                        f"is not a parameter of {type(self.arm).__name__}", field="grid", value=part,
                        remedy=f"it has {', '.join(known)}",
                    )  # fmt: skip
                if part in seen:
                    raise TraceError("stands on two axes", field="grid", value=part, remedy="name it once")
                seen.add(part)
            if isinstance(values, str) or not len(values):
                raise TraceError("has no values", field="grid", value=name, remedy="list at least one")
            rows = [(value,) if isinstance(name, str) else value for value in values]
            for row in rows:
                if not isinstance(row, Sequence | np.ndarray) or len(row) != len(names):
                    raise TraceError(
                        f"is not {len(names)} values", field=f"grid[{name!r}]", value=row,
                        remedy=f"give one value each for {', '.join(names)}",
                    )  # fmt: skip
            axes.append([dict(zip(names, row, strict=True)) for row in rows])
        return [{k: v for part in parts for k, v in part.items()} for parts in itertools.product(*axes)]


@dataclass(frozen=True)
class Choice:
    """What the inner folds of one split picked.

    Attributes
    ----------
    setting : dict
        Parameters and values.
    brier : float
        Brier score pooled over the inner predictions, 0..2.
    """

    setting: dict[str, Any]
    brier: float


def choose(tuned: Tuned, traces: Traces, gold: NDArray[np.int32], splits: Sequence[Split]) -> list[Choice]:
    """Return the best setting of every split.

    Parameters
    ----------
    tuned : Tuned
        Arm and grid.
    traces : Traces
        All tasks; only labelled ones of each split are read.
    gold : int32 array, shape (n_tasks,)
        Class codes.
    splits : sequence of Split
        Which tasks are labelled, and their inner folds.

    Returns
    -------
    list of Choice
        One a split.
    """
    settings = tuned.settings()
    rows = np.concatenate([split.labelled for split in splits])
    block = np.repeat(np.arange(len(splits)), [len(split.labelled) for split in splits])
    fold = np.concatenate([split.inner for split in splits])
    labelled = traces.tasks(rows)
    gold_candidate = candidate_positions(labelled, np.arange(len(rows)), gold[rows])
    log_proba = out_of_fold_log_proba(tuned.arm, settings, labelled, gold_candidate, block, fold)
    scores = np.stack([_brier(row, labelled, gold_candidate, block, len(splits)) for row in log_proba])
    choices = []
    for column in scores.T:
        level = np.floor((column - column.min()) / SAME_BRIER)
        best = min(np.flatnonzero(level < 1).tolist(), key=lambda s: _preference(settings[s], s))
        choices.append(Choice(settings[best], float(column[best])))
    return choices


def _brier(
    log_proba: NDArray[np.float64], traces: Traces, gold_candidate: NDArray[np.int64], block: NDArray[np.int64], n: int
) -> NDArray[np.float64]:
    """Return the mean over each block's tasks of the sum over candidates of (p - y)^2."""
    miss = np.exp(log_proba)
    miss[gold_candidate] -= 1
    each = sum_by(miss**2, traces.candidate_task, len(traces))
    return np.asarray(sum_by(each, block, n) / np.bincount(block, minlength=n))


def _preference(setting: Mapping[str, Any], position: int) -> tuple[float, float, float, int]:
    """Order equal scores: smaller kappa, larger lambda, larger tau, earlier in the grid."""
    return (
        setting.get("kappa", 0.0),
        -setting.get("prior_strength", 0.0),
        -setting.get("temperature", 1.0),
        position,
    )
