"""The confusion arm on a grid of (lambda, rho, tau, challenge, likelihood), each task predicted out of fold.

Counts C_i[k,l] are added up once for every fold of every block; leaving a fold out is a subtraction. One compiled
call per reading and likelihood evaluates all (lambda, rho) on padded blocks of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.confusion import BATCH, Confusion, confusion_terms, dense_blocks
from bda.evidence import count_evidence
from bda.padding import bucket, grown
from bda.posteriors import log_class_prior, log_posterior
from bda.traces import Traces

__all__ = ["confusion_grid"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def confusion_grid(arms: Sequence[Confusion], traces: Traces, gold_candidate: Ints, block: Ints, fold: Ints) -> Floats:
    """Return log probabilities of labelled tasks under every setting; evidence once for all temperatures.

    Parameters
    ----------
    arms : sequence of Confusion
        The settings.
    traces, gold_candidate, block, fold
        As in `bda.batched.out_of_fold_log_proba`.

    Returns
    -------
    float64 array, shape (n_settings, n_candidates)
        Nats.
    """
    keys = [(arm.challenge, arm.view, arm.fit_view, arm.likelihood) for arm in arms]
    priors = [(arm.prior_strength, arm.prior_accuracy) for arm in arms]
    totals: dict[tuple[object, ...], Floats] = {}
    for reading in dict.fromkeys(keys):
        distinct = list(dict.fromkeys(prior for key, prior in zip(keys, priors, strict=True) if key == reading))
        evidence = _evidence(traces, gold_candidate, block, fold, *reading, np.array(distinct, float))
        totals.update({(*reading, *prior): row for prior, row in zip(distinct, evidence, strict=True)})
    rows = [
        log_posterior(
            totals[*key, *prior],
            arm.temperature,
            log_class_prior(traces, arm.class_prior),
            traces.candidate_task,
            len(traces),
        )
        for key, prior, arm in zip(keys, priors, arms, strict=True)
    ]
    return np.stack(rows)


def _evidence(
    traces: Traces, gold_candidate: Ints, block: Ints, fold: Ints, challenge: str, view: str, fit_view: str,
    likelihood: str, priors: Floats,
) -> Floats:  # fmt: skip
    """Return summed log evidence of every candidate under every prior, shape (n_priors, n_candidates)."""
    import jax

    formula = "composite" if challenge == "ignore" else challenge  # the same without challenges
    total = np.zeros((len(priors), len(traces.candidate_class)))
    for first, last in _block_ranges(traces, block, int(fold.max(initial=0)) + 1):
        rows = np.arange(*np.searchsorted(block, [first, last]))
        part = traces.tasks(rows)
        offset = traces.candidate_start[rows[0]]
        counts, row_of = _fold_counts(
            part, gold_candidate[rows] - offset, block[rows] - first, fold[rows], challenge, fit_view
        )
        evidence = count_evidence(part, challenge, view)
        for dense in dense_blocks(part, evidence, np.arange(len(evidence.task))):
            task = evidence.task[dense.pairs]
            cell = (block[rows][task] - first, fold[rows][task], evidence.agent[dense.pairs])
            width = dense.candidates.shape[1]
            truth = row_of[cell[0][:, None], dense.candidates]
            gathered = counts[cell[0][:, None, None], cell[1][:, None, None], cell[2][:, None, None],
                              truth[:, :, None], dense.candidates[:, None, :]]  # fmt: skip
            size = bucket(len(task))
            with jax.enable_x64(True):
                values = _compiled_confusion()(
                    grown(gathered, size), grown(dense.e, size), grown(dense.x, size), priors, formula, likelihood
                )
            values = np.asarray(values)[:, : len(task)]
            position = offset + part.candidate_start[task][:, None] + np.arange(width)
            for row, value in zip(total, values, strict=True):
                row += np.bincount(position.ravel(), weights=value.ravel(), minlength=len(row))
    return total


def _fold_counts(
    traces: Traces, gold_candidate: Ints, block: Ints, fold: Ints, challenge: str, fit_view: str
) -> tuple[Floats, Ints]:
    """Return C over the other folds, shape (blocks, folds, agents, rows + 1, classes), and each class's row.

    A block has a row for each class that is gold in it; the last row stays empty and serves all others.
    """
    n_blocks, n_folds = int(block.max()) + 1, int(fold.max()) + 1
    gold = traces.candidate_class[gold_candidate]
    row_of = np.full((n_blocks, len(traces.classes)), -1, np.int64)
    for b in range(n_blocks):
        present = np.unique(gold[block == b])
        row_of[b, present] = np.arange(len(present))
    n_rows = int(row_of.max()) + 1
    row_of[row_of < 0] = n_rows
    shape = (n_blocks, n_folds, len(traces.agent_names), n_rows + 1, len(traces.classes))
    counts = np.zeros(shape)
    evidence = count_evidence(traces, "ignore" if challenge == "set" else challenge, fit_view)
    for dense in dense_blocks(traces, evidence, np.arange(len(evidence.task))):
        task = evidence.task[dense.pairs][:, None]
        where = (block[task], fold[task], evidence.agent[dense.pairs][:, None], row_of[block[task], gold[task]])
        np.add.at(counts, (*where, dense.candidates), dense.pseudo_counts())
    return counts.sum(axis=1, keepdims=True) - counts, row_of


def _block_ranges(traces: Traces, block: Ints, n_folds: int) -> Iterator[tuple[int, int]]:
    """Group blocks so that their count tables stay within a few times BATCH cells."""
    n_blocks = int(block.max(initial=-1)) + 1
    rows = min(len(traces.classes), int(np.bincount(block).max(initial=1))) + 1
    step = max(1, 4 * BATCH // (n_folds * max(len(traces.agent_names), 1) * rows * len(traces.classes)))
    for first in range(0, n_blocks, step):
        yield first, min(first + step, n_blocks)


@cache
def _compiled_confusion() -> Any:
    """Return the jitted evaluation of priors (lambda, rho), one after the other to bound memory."""
    import jax
    import jax.numpy as jnp

    def evaluate(counts: Any, e: Any, x: Any, priors: Any, challenge: str, likelihood: str) -> Any:
        def one(prior: Any) -> Any:
            return confusion_terms(counts, e, x, prior[0], prior[1], challenge, likelihood, jnp)

        return jax.lax.map(one, priors)

    return jax.jit(evaluate, static_argnames=("challenge", "likelihood"))
