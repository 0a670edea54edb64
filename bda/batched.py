"""Posteriors in JAX, vectorised over tasks and over hyperparameter settings.

`one_coin_log_posterior` is the pure function: jit it, take its gradient in alpha, beta and tau, vmap it over
settings. `out_of_fold_log_proba` evaluates a whole grid on labelled tasks, each predicted from the other folds of its
split, in one compiled call per reading of a challenge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm
from bda.batched_confusion import confusion_grid
from bda.beta_integrals import log_evidence
from bda.confusion import Confusion
from bda.evidence import Evidence, count_evidence, right_wrong
from bda.one_coin import OneCoin, PerAgent
from bda.padding import bucket
from bda.posteriors import log_class_prior, log_posterior, sum_by
from bda.traces import Traces

__all__ = ["OneCoinInputs", "one_coin_inputs", "one_coin_log_posterior", "out_of_fold_log_proba"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class OneCoinInputs:
    """Evidence as flat arrays for JAX.

    Attributes
    ----------
    k, endorsed, rejected, agent, task : int64 arrays, shape (n_pairs,)
        As in `Evidence`.
    cell_pair, cell_candidate, e, x : int64 arrays, shape (n_cells,)
        As in `Evidence`.
    candidate_task : int64 array, shape (n_candidates,)
        The task of every candidate.
    log_prior : float64 array, shape (n_candidates,)
        Log class prior, nats.
    n_tasks, most_rejected : int
        Sizes that a compiled call fixes.
    """

    k: Any
    endorsed: Any
    rejected: Any
    agent: Any
    task: Any
    cell_pair: Any
    cell_candidate: Any
    e: Any
    x: Any
    candidate_task: Any
    log_prior: Any
    n_tasks: int
    most_rejected: int


def one_coin_inputs(traces: Traces, challenge: str = "composite", class_prior: Any = None) -> OneCoinInputs:
    """Return the evidence of traces as arrays for `one_coin_log_posterior`.

    Parameters
    ----------
    traces : Traces
        Resolved moves.
    challenge : str
        Reading; "ignore" drops challenges.
    class_prior : mapping, optional
        From class to weight.

    Returns
    -------
    OneCoinInputs
        NumPy arrays; a registered pytree once JAX is loaded by `one_coin_log_posterior`.

    Examples
    --------
    >>> from bda import Traces
    >>> one_coin_inputs(Traces.from_votes([[0, 1, 1]])).n_tasks
    1
    """
    _register()
    return _inputs(traces, count_evidence(traces, challenge), log_class_prior(traces, class_prior))


def one_coin_log_posterior(
    inputs: OneCoinInputs, alpha: Any, beta: Any, temperature: Any = 1.0, challenge: str = "composite"
) -> Any:
    """Return log posteriors of all candidates as a differentiable JAX computation.

    Parameters
    ----------
    inputs : OneCoinInputs
        From `one_coin_inputs`.
    alpha, beta : arrays, shape () or (n_agents,)
        Prior counts, shared or one for each agent of the traces.
    temperature : float
        tau.
    challenge : {"composite", "set", "exact", "ignore"}
        Reading.

    Returns
    -------
    jax array, shape (n_candidates,)
        Nats, float64.

    Raises
    ------
    RuntimeError
        If JAX runs in single precision.

    Examples
    --------
    >>> import jax
    >>> from bda import Traces
    >>> inputs = one_coin_inputs(Traces.from_votes([[0, 0, 1]]))
    >>> with jax.enable_x64(True):
    ...     slope = jax.grad(lambda a: one_coin_log_posterior(inputs, a, 1.0)[0])(2.0)
    >>> round(float(slope), 4)
    0.1667
    """
    import jax.numpy as jnp

    _require_x64()
    alpha, beta = jnp.asarray(alpha, float), jnp.asarray(beta, float)
    own_alpha = alpha if alpha.ndim == 0 else alpha[inputs.agent]
    own_beta = beta if beta.ndim == 0 else beta[inputs.agent]
    total = _pair_evidence(inputs, own_alpha, own_beta, challenge)
    return log_posterior(total, temperature, inputs.log_prior, inputs.candidate_task, inputs.n_tasks, jnp)


def out_of_fold_log_proba(
    arm: Arm,
    settings: Sequence[Mapping[str, Any]],
    traces: Traces,
    gold_candidate: Ints,
    block: Ints,
    fold: Ints,
) -> Floats:
    """Return log probabilities of labelled tasks, each predicted from the other folds of its block.

    Parameters
    ----------
    arm : Arm
        Holds what the settings do not set.
    settings : sequence of mappings
        Hyperparameters.
    traces : Traces
        Labelled tasks of all blocks, one after the other; a task may stand in several blocks.
    gold_candidate : int64 array, shape (n_tasks,)
        True position among all candidates.
    block, fold : int64 arrays, shape (n_tasks,)
        The split each task belongs to (non-decreasing), and its inner fold there.

    Returns
    -------
    float64 array, shape (n_settings, n_candidates)
        Nats.
    """
    arms = [type(arm)(**{**arm.get_params(), **setting}) for setting in settings]
    for each in arms:
        each._check()
    if type(arm) in (OneCoin, PerAgent):
        return _one_coin_grid(cast("list[OneCoin]", arms), traces, gold_candidate, block, fold)
    if type(arm) is Confusion:
        return confusion_grid(cast("list[Confusion]", arms), traces, gold_candidate, block, fold)
    return _refitted_grid(arms, traces, gold_candidate, block, fold)


# ---- one coin ---------------------------------------------------------------------------------------------


def _one_coin_grid(arms: list[OneCoin], traces: Traces, gold_candidate: Ints, block: Ints, fold: Ints) -> Floats:
    """Evaluate a grid; evidence once for all temperatures."""
    import jax

    log_prior = log_class_prior(traces, arms[0].class_prior)
    result = np.empty((len(arms), len(traces.candidate_class)))
    readings = [(arm.challenge, arm.view, arm.fit_view) for arm in arms]
    for challenge, view, fit_view in dict.fromkeys(readings):
        mine = [i for i, reading in enumerate(readings) if reading == (challenge, view, fit_view)]
        evidence = count_evidence(traces, challenge, view)
        right, wrong = _out_of_fold(count_evidence(traces, challenge, fit_view), evidence, gold_candidate, block, fold)
        priors = [(arms[i].alpha, arms[i].beta, getattr(arms[i], "kappa", 0.0)) for i in mine]
        distinct = list(dict.fromkeys(priors))
        with jax.enable_x64(True):
            inputs = _padded(_inputs(traces, evidence, log_prior))
            pad = len(inputs.k) - len(right)
            total = _compiled_grid()(
                inputs, np.pad(right, (0, pad)), np.pad(wrong, (0, pad)), np.array(distinct, float), _formula(challenge)
            )
        total = np.asarray(total)[:, : len(traces.candidate_class)]
        for i, prior in zip(mine, priors, strict=True):
            result[i] = log_posterior(
                total[distinct.index(prior)],
                arms[i].temperature,
                log_class_prior(traces, arms[i].class_prior),
                traces.candidate_task,
                len(traces),
            )
    return result


def _formula(challenge: str) -> str:
    """Return the reading whose formula applies: without challenges, as "ignore" counts, "composite" is the same."""
    return "composite" if challenge == "ignore" else challenge


def _out_of_fold(
    counted: Evidence, deciding: Evidence, gold_candidate: Ints, block: Ints, fold: Ints
) -> tuple[Ints, Ints]:
    """Return, for every deciding pair, its agent's n+ and n- over the other folds of its block."""
    n_agents, n_folds = counted.n_agents, int(fold.max(initial=0)) + 1
    n_blocks = int(block.max(initial=-1)) + 1
    cell = (block[counted.task] * n_folds + fold[counted.task]) * n_agents + counted.agent
    wanted = (block[deciding.task], fold[deciding.task], deciding.agent)
    totals = []
    for each in right_wrong(counted, gold_candidate):
        table = sum_by(each.astype(float), cell, n_blocks * n_folds * n_agents).reshape(n_blocks, n_folds, n_agents)
        totals.append((table.sum(axis=1, keepdims=True) - table)[wanted].astype(np.int64))
    return totals[0], totals[1]


@cache
def _compiled_grid() -> Any:
    """Return the jitted evaluation of priors (alpha, beta, kappa) on out-of-fold records."""
    import jax
    import jax.numpy as jnp

    def evaluate(inputs: OneCoinInputs, right: Any, wrong: Any, priors: Any, challenge: str) -> Any:
        def one(prior: Any) -> Any:
            alpha, beta, kappa = prior
            moves = right + wrong
            rate = jnp.where(moves > 0, right / jnp.maximum(moves, 1), alpha / (alpha + beta))
            return _pair_evidence(inputs, alpha + kappa * rate, beta + kappa * (1 - rate), challenge)

        return jax.vmap(one)(priors)

    _register()
    return jax.jit(evaluate, static_argnames="challenge")


def _pair_evidence(inputs: OneCoinInputs, alpha: Any, beta: Any, challenge: str) -> Any:
    """Sum log evidence over agents; alpha and beta are scalars or one for each pair."""
    import jax.numpy as jnp

    _require_x64()
    pair, n_pairs = inputs.cell_pair, len(inputs.k)

    def both(whole: Any) -> Any:  # the pairs, then the pairs of the cells: one formula compiles half as long as two
        return jnp.concatenate([whole, whole[pair]]) if jnp.ndim(whole) else whole

    zero = jnp.zeros(n_pairs)
    values = log_evidence(
        both(inputs.k), jnp.concatenate([zero, inputs.e]), both(inputs.endorsed), jnp.concatenate([zero, inputs.x]),
        both(inputs.rejected), both(alpha), both(beta), challenge, jnp, inputs.most_rejected,
    )  # fmt: skip
    unmentioned, mentioned = values[:n_pairs], values[n_pairs:]
    base = sum_by(unmentioned, inputs.task, inputs.n_tasks, jnp)
    extra = sum_by(mentioned - unmentioned[pair], inputs.cell_candidate, len(inputs.candidate_task), jnp)
    return base[inputs.candidate_task] + extra


def _inputs(traces: Traces, evidence: Evidence, log_prior: Floats) -> OneCoinInputs:
    return OneCoinInputs(
        k=evidence.k, endorsed=evidence.endorsed, rejected=evidence.rejected, agent=evidence.agent, task=evidence.task,
        cell_pair=evidence.cell_pair, cell_candidate=evidence.cell_candidate, e=evidence.e, x=evidence.x,
        candidate_task=traces.candidate_task, log_prior=log_prior, n_tasks=len(traces),
        most_rejected=int(evidence.rejected.max(initial=0)),
    )  # fmt: skip


def _padded(inputs: OneCoinInputs) -> OneCoinInputs:
    """Pad to powers of two, so that another size does not compile again; padding feeds a dummy task and candidate."""
    pairs, cells = bucket(len(inputs.k)), bucket(len(inputs.e))
    tasks, candidates = bucket(inputs.n_tasks + 1), bucket(len(inputs.candidate_task) + 1)

    def fill(array: Any, size: int, value: int) -> Any:
        return np.pad(array, (0, size - len(array)), constant_values=value)

    return OneCoinInputs(
        k=fill(inputs.k, pairs, 2),
        endorsed=fill(inputs.endorsed, pairs, 0),
        rejected=fill(inputs.rejected, pairs, 0),
        agent=fill(inputs.agent, pairs, 0),
        task=fill(inputs.task, pairs, tasks - 1),
        cell_pair=fill(inputs.cell_pair, cells, pairs - 1),
        cell_candidate=fill(inputs.cell_candidate, cells, candidates - 1),
        e=fill(inputs.e, cells, 0),
        x=fill(inputs.x, cells, 0),
        candidate_task=fill(inputs.candidate_task, candidates, tasks - 1),
        log_prior=fill(inputs.log_prior, candidates, 0),
        n_tasks=tasks,
        most_rejected=bucket(inputs.most_rejected),
    )


# ---- any other arm ----------------------------------------------------------------------------------------


def _refitted_grid(arms: list[Arm], traces: Traces, gold_candidate: Ints, block: Ints, fold: Ints) -> Floats:
    """Fit every setting on every fold: for arms without a vectorised form."""
    gold = [traces.classes[c] for c in traces.candidate_class[gold_candidate]]
    result = np.empty((len(arms), len(traces.candidate_class)))
    for b in range(int(block.max(initial=-1)) + 1):
        for f in np.unique(fold[block == b]):
            rest = np.flatnonzero((block == b) & (fold != f))
            held = np.flatnonzero((block == b) & (fold == f))
            known, asked = traces.tasks(rest), traces.tasks(held)
            where = np.isin(traces.candidate_task, held)
            for i, arm in enumerate(arms):
                result[i, where] = arm.fit(known, [gold[n] for n in rest]).log_proba(asked)
    return result


def _require_x64() -> None:
    import jax.numpy as jnp

    if jnp.result_type(float) != np.float64:
        raise RuntimeError(
            "these posteriors need float64: call inside `with jax.enable_x64(True):`, "
            "or jax.config.update('jax_enable_x64', True) for the whole process"
        )


@cache
def _register() -> None:
    import jax

    jax.tree_util.register_dataclass(
        OneCoinInputs,
        data_fields=[n for n in OneCoinInputs.__dataclass_fields__ if n not in {"n_tasks", "most_rejected"}],
        meta_fields=["n_tasks", "most_rejected"],
    )
