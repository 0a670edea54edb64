"""The confusion arm: a row-stochastic matrix for each agent and a tempered composite likelihood.

    pi_i[k,l] = (C_i[k,l] + lambda base[k,l]) / (sum_l C_i[k,l] + lambda),   base[k,k] = rho, rest even
    log p(k | trace) = log pi0(k) + (1/tau) sum_i sum_l c_i[l] ln pi_i[k,l] + const          (BDA section 4, C.5)

Sums and base run over the task's candidates. C_i[k,l] adds up c_i[l] = e[l] + sum_{a != l} x[a] over labelled tasks
with gold k; with challenge="set" only endorsements, and a challenge rejecting a adds ln(1 - pi_i[k,a]).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm, Contributions
from bda.beta_integrals import log_rising
from bda.errors import TraceError, TraceWarning
from bda.evidence import Evidence, collapse, count_evidence
from bda.names import Name
from bda.parameters import check_number, check_option, check_prior
from bda.posteriors import log_class_prior, log_posterior
from bda.reliability import Reliability, measure_reliability, profile_frame
from bda.traces import Traces

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BATCH", "Block", "Confusion", "confusion_terms", "dense_blocks"]

READINGS = ("composite", "set", "ignore")
LIKELIHOODS = ("plugin", "marginal")
BATCH = 4_000_000
MOST_CELLS = 4e8

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Confusion(Arm):
    """A confusion matrix for each agent, smoothed towards an even spread of errors.

    Parameters
    ----------
    prior_strength : float, default 5.0
        lambda > 0, the prior count of every row.
    prior_accuracy : float, default 0.6
        rho in (0, 1), the prior's diagonal.
    temperature : float, default 1.0
        tau > 0; log evidence is divided by it.
    challenge : {"composite", "set", "ignore"}, default "composite"
        A challenge counts in every rival cell, multiplies by 1 - pi, or is dropped.
    likelihood : {"plugin", "marginal"}, default "plugin"
        Rows at their posterior mean, or integrated out (Dirichlet-multinomial). With "set" the challenges
        keep the plug-in rows under both.
    class_prior : mapping from class to weight, optional
        Uniform by default; renormalised over each task's candidates, never tempered.
    view, fit_view : str, default "all"
        The moves that decide, and those that `fit` counts: "all", "round0", "last_vote", or types of moves joined by
        "+", such as "propose+concede".
    random_state : int, default 0
        Seeds the draw that breaks ties.

    Attributes
    ----------
    classes_, agents_, reliability_
        As in `OneCoin`.
    gold_classes_ : int64 array, shape (n_rows,)
        Classes that were gold on a labelled task; only their rows hold counts.
    counts_ : float64 array, shape (n_agents, n_rows, n_classes)
        C_i[k,l] for those rows.

    References
    ----------
    "Counting Moves, Weighing Voices" (BDA), section 4 and appendix C.5.

    Examples
    --------
    >>> from bda import Confusion, Traces
    >>> traces = Traces.from_votes([[0], [0], [1]], agents=["ada"])
    >>> Confusion().fit(traces, [1, 1, 0]).confusion_.round(2).tolist()
    [[[0.5, 0.5], [0.57, 0.43]]]
    """

    def __init__(
        self,
        prior_strength: float = 5.0,
        prior_accuracy: float = 0.6,
        temperature: float = 1.0,
        challenge: str = "composite",
        likelihood: str = "plugin",
        class_prior: Mapping[Name, float] | None = None,
        view: str = "all",
        fit_view: str = "all",
        random_state: int = 0,
    ) -> None:
        self.prior_strength = prior_strength
        self.prior_accuracy = prior_accuracy
        self.temperature = temperature
        self.challenge = challenge
        self.likelihood = likelihood
        self.class_prior = class_prior
        self.view = view
        self.fit_view = fit_view
        self.random_state = random_state

    @property
    def confusion_(self) -> Floats:
        """Posterior-mean matrices over all classes, shape (n_agents, n_classes, n_classes)."""
        self._require_fit()
        k = len(self.classes_)
        rho, strength = self.prior_accuracy, self.prior_strength
        base = np.full((k, k), (1 - rho) / (k - 1))
        np.fill_diagonal(base, rho)
        counts = np.zeros((len(self.agents_), k, k))
        counts[:, self.gold_classes_] = self.counts_
        return np.asarray((counts + strength * base) / (counts.sum(axis=2, keepdims=True) + strength))

    @property
    def profile_(self) -> pd.DataFrame:
        """Reliability, interval and P(below chance) of every agent (docs/model.md).

        The posterior is Beta(lambda rho + n+, lambda (1 - rho) + n-). The weight is an endorsement's average log
        likelihood ratio of the class it names against the others.
        """
        self._require_fit()
        rho, strength = self.prior_accuracy, self.prior_strength
        prior = (strength * rho, strength * (1 - rho))
        return profile_frame(self.agents_, self.reliability_, prior, self._mean_weight(), [None] * len(self.agents_))

    def _mean_weight(self) -> Floats:
        """Average ln pi[k,k] - ln pi[t,k] over classes k and t != k; a row without counts is its prior."""
        k, rho = len(self.classes_), self.prior_accuracy
        base = np.full(self.counts_.shape[1:], (1 - rho) / (k - 1))
        rows = np.arange(len(base))
        base[rows, self.gold_classes_] = rho
        cells = self.counts_ + self.prior_strength * base
        log_pi = np.log(cells) - np.log(cells.sum(axis=2, keepdims=True))
        others = k - len(base)
        own = log_pi[:, rows, self.gold_classes_].sum(axis=1) + others * np.log(rho)
        total = log_pi.sum(axis=(1, 2)) + others * (np.log(rho) + (k - 1) * np.log((1 - rho) / (k - 1)))
        return np.asarray(own / k - (total - own) / (k * (k - 1)))

    def _check(self) -> None:
        super()._check()
        check_number(self, "prior_strength", "temperature")
        check_number(self, "prior_accuracy", below=1)
        check_option(self, "challenge", READINGS)
        check_option(self, "likelihood", LIKELIHOODS)
        check_prior(self.class_prior)

    def _learn(self, traces: Traces, gold_candidate: Ints) -> None:
        gold_classes, row = np.unique(traces.candidate_class[gold_candidate], return_inverse=True)
        shape = (len(traces.agent_names), len(gold_classes), len(traces.classes))
        if np.prod(shape, dtype=float) > MOST_CELLS:
            raise TraceError(
                f"Confusion would count in {np.prod(shape, dtype=float):.1e} cells: {shape[0]:,} agents x "
                f"{shape[1]:,} gold classes x {shape[2]:,} classes",
                remedy="use PerAgent, whose size does not grow with the classes",
            )
        evidence = count_evidence(traces, "ignore" if self.challenge == "set" else self.challenge, self.fit_view)
        counts = np.zeros(shape)
        for block in dense_blocks(traces, evidence, np.arange(len(evidence.task))):
            truth = row[evidence.task[block.pairs]]
            cell = (evidence.agent[block.pairs][:, None], truth[:, None], block.candidates)
            np.add.at(counts, cell, block.pseudo_counts())
        self.counts_, self.gold_classes_ = counts, gold_classes.astype(np.int64)
        self.reliability_: Reliability = measure_reliability(
            count_evidence(traces, self.challenge, self.fit_view), gold_candidate, traces.n_candidates
        )

    def _log_proba(self, traces: Traces) -> Floats:
        total = np.zeros(len(traces.candidate_class))
        evidence = count_evidence(traces, self.challenge, self.view)
        for pairs, values in self._blocks(traces, evidence):
            position = traces.candidate_start[evidence.task[pairs]][:, None] + np.arange(values.shape[1])
            total += np.bincount(position.ravel(), weights=values.ravel(), minlength=len(total))
        prior = log_class_prior(traces, self.class_prior)
        return np.asarray(log_posterior(total, self.temperature, prior, traces.candidate_task, len(traces)))

    def _contributions(self, traces: Traces) -> Contributions:
        evidence = count_evidence(traces, self.challenge, self.view)
        agents: dict[Name, Floats] = {}
        for pairs, values in self._blocks(traces, evidence):
            for pair, row in zip(pairs, values, strict=True):
                agents[traces.agent_names[evidence.agent[pair]]] = row / self.temperature
        return Contributions("nats", log_class_prior(traces, self.class_prior), agents)

    def _blocks(self, traces: Traces, evidence: Evidence) -> Iterator[tuple[Ints, Floats]]:
        """Yield pairs with each one's log evidence for its task's candidates; equal pairs are computed once."""
        fitted, columns = self._fitted_agent(traces), self._class_position(traces)
        shown, pattern = _pair_patterns(traces, evidence)
        order = np.argsort(pattern, kind="stable")
        start = np.searchsorted(pattern[order], np.arange(len(shown) + 1))
        number = np.empty(len(evidence.task), np.int64)
        number[shown] = np.arange(len(shown))
        for block in dense_blocks(traces, evidence, shown):
            counts = self._rows(fitted[evidence.agent[block.pairs]], columns, block)
            values = confusion_terms(
                counts, block.e, block.x, self.prior_strength, self.prior_accuracy,
                self.challenge, self.likelihood,
            )  # fmt: skip
            which = number[block.pairs]
            size = start[which + 1] - start[which]
            pairs = order[np.repeat(start[which] - np.cumsum(size) + size, size) + np.arange(size.sum())]
            step = max(1, BATCH // max(values.shape[1], 1))
            source = np.repeat(np.arange(len(which)), size)
            for i in range(0, len(pairs), step):
                part = source[i : i + step]
                yield pairs[i : i + step], values[part]

    def _class_position(self, traces: Traces) -> Ints:
        """Return the fitted code of each class of `traces`; one that was not fitted has no counts."""
        position = {name: i for i, name in enumerate(self.classes_.tolist())}
        known = np.array([position.get(name, len(position)) for name in traces.classes], np.int64)
        if len(traces) and (known[traces.candidate_class] == len(position)).all():
            warnings.warn(
                f"none of these candidates (such as {traces.classes[traces.candidate_class[0]]!r}) was a class in fit "
                f"(such as {self.classes_.tolist()[0]!r}); every confusion is its prior: name classes as in fit",
                TraceWarning,
                stacklevel=6,
            )
        return known

    def _rows(self, agent: Ints, columns: Ints, block: Block) -> Floats:
        """Gather C_i[k,l] over each pair's candidates, shape (n_pairs, K, K)."""
        classes = columns[block.candidates]
        row_of = np.full(len(self.classes_) + 1, len(self.gold_classes_))
        row_of[self.gold_classes_] = np.arange(len(self.gold_classes_))
        n_agents, n_rows, n_classes = self.counts_.shape
        who, truth, said = agent[:, None, None], row_of[classes][:, :, None], classes[:, None, :]
        known = (who >= 0) & (truth < n_rows) & (said < n_classes)
        if not n_agents:
            return np.zeros(known.shape)
        cell = (np.maximum(who, 0), np.minimum(truth, n_rows - 1), np.minimum(said, n_classes - 1))
        return np.where(known, self.counts_[cell], 0.0)


def confusion_terms(
    counts: Any,
    e: Any,
    x: Any,
    prior_strength: Any,
    prior_accuracy: Any,
    challenge: str,
    likelihood: str,
    xp: Any = np,
) -> Any:
    """Return the log evidence of pairs of task and agent for each of the task's candidates.

    Parameters
    ----------
    counts : float array, shape (n_pairs, K, K)
        C_i[k,l] over the task's candidates.
    e, x : float arrays, shape (n_pairs, K)
        Endorsements and rejections of each candidate.
    prior_strength, prior_accuracy : float
        lambda and rho.
    challenge, likelihood : str
        As in `Confusion`.
    xp : module
        numpy or jax.numpy.

    Returns
    -------
    float array, shape (n_pairs, K)
        Nats.

    Examples
    --------
    An agent without a record endorses the first of three candidates.

    >>> nothing, first = np.zeros((1, 3, 3)), np.array([[1.0, 0.0, 0.0]])
    >>> np.exp(confusion_terms(nothing, first, 0 * first, 5.0, 0.6, "composite", "plugin")).round(12).tolist()
    [[0.6, 0.2, 0.2]]
    """
    width = counts.shape[-1]
    off_diagonal = (1 - prior_accuracy) / (width - 1)
    cells = counts + prior_strength * xp.where(np.eye(width, dtype=bool), prior_accuracy, off_diagonal)
    total = xp.sum(cells, axis=-1, keepdims=True)
    said = e if challenge == "set" else e + xp.sum(x, axis=-1, keepdims=True) - x
    said = said[:, None, :]
    if likelihood == "marginal":
        values = xp.sum(log_rising(cells, said, xp), axis=-1)
        values = values - log_rising(total[..., 0], xp.sum(said, axis=-1), xp)
    else:
        values = xp.sum(said * (xp.log(cells) - xp.log(total)), axis=-1)
    if challenge == "set":
        spared = xp.log(_sum_of_others(cells, xp)) - xp.log(total)
        values = values + xp.sum(x[:, None, :] * spared, axis=-1)
    return values


def _sum_of_others(cells: Any, xp: Any) -> Any:
    """Sum each row without the cell itself; total minus cell would cancel where one cell holds nearly all."""
    nothing = xp.zeros_like(cells[..., :1])
    before = xp.concatenate([nothing, xp.cumsum(cells, axis=-1)[..., :-1]], axis=-1)
    after = xp.concatenate([xp.cumsum(cells[..., :0:-1], axis=-1)[..., ::-1], nothing], axis=-1)
    return before + after


@dataclass(frozen=True)
class Block:
    """Pairs of task and agent with their candidates side by side; all tasks of a block offer as many.

    Attributes
    ----------
    pairs : int64 array, shape (n_pairs,)
        Positions among the pairs of `Evidence`.
    candidates : int64 array, shape (n_pairs, K)
        Class codes.
    e, x : float64 arrays, shape (n_pairs, K)
        Endorsements and rejections of each candidate.
    """

    pairs: Ints
    candidates: Ints
    e: Floats
    x: Floats

    def pseudo_counts(self) -> Floats:
        """c[l] = e[l] + sum_{a != l} x[a]."""
        return np.asarray(self.e + self.x.sum(axis=1, keepdims=True) - self.x)


def dense_blocks(traces: Traces, evidence: Evidence, pairs: Ints) -> Iterator[Block]:
    """Yield blocks of pairs that share K, small enough that (n_pairs, K, K) stays within BATCH cells."""
    cell_start = np.searchsorted(evidence.cell_pair, np.arange(len(evidence.task) + 1))
    k = evidence.k[pairs]
    for width in np.unique(k):
        same = pairs[k == width]
        step = max(1, BATCH // int(width) ** 2)
        for i in range(0, len(same), step):
            part = same[i : i + step]
            first = traces.candidate_start[evidence.task[part]]
            candidates = traces.candidate_class[first[:, None] + np.arange(width)].astype(np.int64)
            length = cell_start[part + 1] - cell_start[part]
            cells = np.repeat(cell_start[part] - np.cumsum(length) + length, length) + np.arange(length.sum())
            row = np.repeat(np.arange(len(part)), length)
            column = evidence.cell_candidate[cells] - first[row]
            e, x = np.zeros((len(part), width)), np.zeros((len(part), width))
            e[row, column], x[row, column] = evidence.e[cells], evidence.x[cells]
            yield Block(part, candidates, e, x)


def _pair_patterns(traces: Traces, evidence: Evidence) -> tuple[Ints, Ints]:
    """Collapse pairs of one agent with equal candidates and equal counts; O(n_cells log n_cells)."""
    pattern = collapse(_candidate_sets(traces)[evidence.task], evidence.agent)[1]
    start = np.searchsorted(evidence.cell_pair, np.arange(len(evidence.task) + 1))
    column = evidence.cell_candidate - traces.candidate_start[evidence.task[evidence.cell_pair]]
    cell = collapse(column, evidence.e, evidence.x)[1] + 1
    length = np.diff(start)
    open_pairs = np.arange(len(pattern))
    depth = 0
    while len(open_pairs):
        code = np.zeros(len(pattern), np.int64)
        open_pairs = open_pairs[length[open_pairs] > depth]
        code[open_pairs] = cell[start[open_pairs] + depth]
        pattern = collapse(pattern, code)[1]
        depth += 1
    shown = np.full(int(pattern.max(initial=-1)) + 1, -1, np.int64)
    shown[pattern[::-1]] = np.arange(len(pattern))[::-1]
    return shown, pattern


def _candidate_sets(traces: Traces) -> Ints:
    """Return a number for each task, the same where the lists of candidates are; shape (n_tasks,)."""
    seen: dict[bytes, int] = {}
    lists = pairwise(traces.candidate_start.tolist())
    return np.array([seen.setdefault(traces.candidate_class[a:b].tobytes(), len(seen)) for a, b in lists], np.int64)
