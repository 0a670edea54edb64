"""Ties: equal log probabilities are broken by a draw keyed by seed and task, never by order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bda.names import Name, ordered

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["TIE_TOLERANCE", "Decisions", "decide", "keyed_uniform"]

TIE_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Decisions:
    """The candidate chosen for every task.

    Attributes
    ----------
    candidate : int64 array, shape (n_tasks,)
        Position among all candidates.
    tied : int64 array, shape (n_tasks,)
        How many candidates shared the maximum; 1 without a tie.
    """

    candidate: NDArray[np.int64]
    tied: NDArray[np.int64]


def decide(traces: Traces, log_proba: NDArray[np.float64], seed: int) -> Decisions:
    """Return the most probable candidate of every task, ties broken by a seeded draw.

    Parameters
    ----------
    traces : Traces
        The tasks.
    log_proba : float array, shape (n_candidates,)
        Log probabilities; within 1e-9 of the maximum is a tie.
    seed : int
        The draw depends on (seed, task name) alone: not on the order of tasks, moves or candidates, and over
        tasks it favours no class.

    Returns
    -------
    Decisions
        Choices and numbers tied.

    Examples
    --------
    >>> from bda import Traces
    >>> traces = Traces.from_votes([[0, 1]] * 4)
    >>> decide(traces, np.log(np.full(8, 0.5)), seed=0).tied.tolist()
    [2, 2, 2, 2]
    """
    n = len(traces)
    start, task = traces.candidate_start[:-1], traces.candidate_task
    if not n:
        return Decisions(np.zeros(0, np.int64), np.zeros(0, np.int64))
    top = np.maximum.reduceat(log_proba, start)
    best = log_proba >= top[task] - TIE_TOLERANCE
    tied = np.bincount(task[best], minlength=n)
    chosen = np.full(n, -1, np.int64)
    position = np.flatnonzero(best)
    chosen[task[position]] = position
    first = np.cumsum(tied) - tied
    for i in np.flatnonzero(tied > 1):
        among = position[first[i] : first[i] + tied[i]]
        names = [traces.classes[c] for c in traces.candidate_class[among]]
        pick = int(keyed_uniform(int(seed), traces.task_ids[i]) * len(names))
        chosen[i] = among[ordered(names)[pick]]
    return Decisions(chosen, tied)


def keyed_uniform(*key: Name) -> float:
    """Return a number in [0, 1) that depends on `key` alone, on every host and in every run.

    Parameters
    ----------
    *key : names
        Seed, task name and the like.

    Returns
    -------
    float
        53 bits of a BLAKE2b digest.

    Examples
    --------
    >>> keyed_uniform(0, "q17") == keyed_uniform(0, "q17")
    True
    """
    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return (int.from_bytes(digest, "big") >> 11) / 2**53
