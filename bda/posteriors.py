"""Posteriors over candidates from log evidence, normalised task by task.

    log p(k | trace) = log pi0(k) + (1/tau) sum_i log ev_i(k) + const                      (BDA section 3)

Candidates of all tasks lie in one flat array, task after task (`Traces.candidate_class`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.beta_integrals import log_evidence
from bda.errors import TraceError
from bda.evidence import Evidence, collapse
from bda.names import Name

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["candidate_evidence", "log_class_prior", "log_posterior", "one_coin_terms", "sum_by"]

Floats = NDArray[np.float64]


def log_posterior(evidence: Any, temperature: Any, log_prior: Any, task: Any, n_tasks: int, xp: Any = np) -> Any:
    """Return normalised log posterior probabilities of all candidates.

    Parameters
    ----------
    evidence : float array, shape (n_candidates,)
        Log evidence summed over agents, nats.
    temperature : float
        tau > 0.
    log_prior : float array, shape (n_candidates,)
        Log class prior; -inf excludes a candidate.
    task : int array, shape (n_candidates,)
        Non-decreasing.
    n_tasks : int
        Number of tasks, each with at least one candidate.
    xp : module
        numpy or jax.numpy.

    Returns
    -------
    float array, shape (n_candidates,)
        Nats; exponentials sum to one over each task.

    Examples
    --------
    >>> np.exp(log_posterior(np.log([1.0, 3.0]), 1.0, np.zeros(2), np.zeros(2, int), 1)).round(12).tolist()
    [0.25, 0.75]
    """
    joint = log_prior + evidence / temperature
    if xp is np:
        start = np.searchsorted(task, np.arange(n_tasks))
        top = np.maximum.reduceat(joint, start) if n_tasks else np.zeros(0)
    else:
        top = xp.full(n_tasks, -np.inf).at[task].max(joint)
    shifted = joint - top[task]
    return shifted - xp.log(sum_by(xp.exp(shifted), task, n_tasks, xp))[task]


def one_coin_terms(evidence: Evidence, alpha: Floats, beta: Floats, challenge: str) -> tuple[Floats, Floats]:
    """Return each agent's log evidence for a candidate it never mentioned, and for each it did.

    Parameters
    ----------
    evidence : Evidence
        Counts.
    alpha, beta : float arrays, shape (n_agents,)
        Prior counts of every agent.
    challenge : str
        Reading of a challenge.

    Returns
    -------
    unmentioned : float array, shape (n_pairs,)
        Log evidence of the pair for any other candidate, nats.
    mentioned : float array, shape (n_cells,)
        Log evidence of the cell's pair for the cell's candidate, nats.
    """
    prior = np.unique(np.stack([alpha, beta]), axis=1, return_inverse=True)[1].reshape(-1)
    pair = evidence.cell_pair
    zeros = np.zeros(len(evidence.task), np.int64)
    rows = [
        np.concatenate([whole, whole[pair]])
        for whole in (prior[evidence.agent], evidence.k, evidence.endorsed, evidence.rejected)
    ]
    rows += [np.concatenate([zeros, evidence.e]), np.concatenate([zeros, evidence.x])]
    first, pattern = collapse(*rows)
    agent = np.concatenate([evidence.agent, evidence.agent[pair]])[first]
    _, k, endorsed, rejected, e, x = (column[first] for column in rows)
    values = np.empty(len(first))
    for part in _batches(rejected if challenge == "set" else np.zeros(len(first), np.int64)):
        who = agent[part]
        values[part] = log_evidence(
            k[part], e[part], endorsed[part], x[part], rejected[part], alpha[who], beta[who], challenge
        )
    values = values[pattern]
    return values[: len(zeros)], values[len(zeros) :]


def candidate_evidence(
    evidence: Evidence, unmentioned: Floats, mentioned: Floats, candidate_task: NDArray[np.int64]
) -> Floats:
    """Sum the agents' log evidence over every task's candidates.

    Parameters
    ----------
    evidence : Evidence
        Counts.
    unmentioned, mentioned : float arrays
        From `one_coin_terms`.
    candidate_task : int64 array, shape (n_candidates,)
        The task of every candidate.

    Returns
    -------
    float array, shape (n_candidates,)
        Nats.
    """
    base = sum_by(unmentioned, evidence.task, evidence.n_tasks)
    extra = mentioned - unmentioned[evidence.cell_pair]
    return np.asarray(base[candidate_task] + sum_by(extra, evidence.cell_candidate, evidence.n_candidates))


def log_class_prior(traces: Traces, class_prior: Mapping[Name, float] | None) -> Floats:
    """Return the log prior of every candidate, renormalised over its task's candidates.

    Parameters
    ----------
    traces : Traces
        The tasks.
    class_prior : mapping, optional
        From class to a non-negative weight; uniform if None.

    Returns
    -------
    float array, shape (n_candidates,)
        Nats.

    Raises
    ------
    TraceError
        If a class has no weight, or a task's candidates have none between them.
    """
    if class_prior is None:
        return np.asarray(-np.log(traces.n_candidates.astype(float))[traces.candidate_task])
    with np.errstate(divide="ignore"):
        each = np.log([_weight(class_prior, name) for name in traces.classes])[traces.candidate_class]
    held = sum_by(np.isfinite(each).astype(float), traces.candidate_task, len(traces))
    if len(held) and held.min() <= 0:
        raise TraceError(
            "gives no weight to any candidate",
            where=f"task {traces.task_ids[held.argmin()]!r}",
            field="class_prior",
            value=dict(class_prior),
            remedy="give one of them a positive weight",
        )
    return np.asarray(log_posterior(np.zeros(len(each)), 1.0, each, traces.candidate_task, len(traces)))


def _weight(class_prior: Mapping[Name, float], name: Name) -> float:
    weight = class_prior.get(name)
    number = isinstance(weight, (int, float, np.integer, np.floating)) and not isinstance(weight, bool)
    if weight is None or not number or not 0 <= weight < np.inf:
        raise TraceError(
            f"is not a prior weight of class {name!r}",
            field="class_prior",
            value=weight,
            remedy="map every class to a non-negative number",
        )
    return float(weight)


def sum_by(values: Any, index: Any, size: int, xp: Any = np) -> Any:
    """Return sums of `values` over equal `index`, shape (size,).

    Parameters
    ----------
    values : float array, shape (m,)
        What to add.
    index : int array, shape (m,)
        Where, in 0..size-1.
    size : int
        Number of sums.
    xp : module
        numpy or jax.numpy.

    Returns
    -------
    float array, shape (size,)
        Zero where nothing was added.
    """
    if xp is np:
        return np.bincount(index, weights=values, minlength=size)[:size]
    return xp.zeros(size, dtype=values.dtype).at[index].add(values)


def _batches(rejected: NDArray[np.int64], cells: int = 500_000) -> list[NDArray[np.int64]]:
    """Split rows so that each batch holds sums of like length and bounded size."""
    if not rejected.max(initial=0):
        return [np.arange(len(rejected))]
    order = np.argsort(rejected, kind="stable")
    bucket = np.ceil(np.log2(rejected[order] + 1)).astype(int)
    batches = []
    for part in np.split(order, np.flatnonzero(np.diff(bucket)) + 1):
        size = max(1, cells // (int(rejected[part].max()) + 1))
        batches += [part[i : i + size] for i in range(0, len(part), size)]
    return batches
