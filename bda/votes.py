"""Arms that count last votes: plurality, the best member, and the weighted vote (BDA section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm, Contributions
from bda.evidence import Evidence, count_evidence
from bda.names import Name
from bda.one_coin import known_or_prior
from bda.parameters import check_number
from bda.posteriors import log_posterior, sum_by
from bda.reliability import Reliability, measure_reliability, profile_frame
from bda.ties import keyed_uniform
from bda.traces import Traces

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BestMember", "Plurality", "WeightedVote"]

Floats = NDArray[np.float64]


class Plurality(Arm):
    """Shares of last votes; uniform on a task without any.

    Parameters
    ----------
    view : str, default "all"
        The moves whose last votes are counted: "all", "round0", "last_vote", or types of moves such as "propose".
    random_state : int, default 0
        Seeds the draw that breaks ties.

    Examples
    --------
    >>> from bda import Plurality, Traces
    >>> Plurality().predict_proba(Traces.from_votes([[0, 1, 1, 1]])).tolist()
    [[0.25, 0.75]]
    """

    needs_labels = False

    def __init__(self, view: str = "all", random_state: int = 0) -> None:
        self.view = view
        self.random_state = random_state

    def _learn(self, traces: Traces, gold_candidate: NDArray[np.int64]) -> None:
        """Plurality learns nothing."""

    def _log_proba(self, traces: Traces) -> Floats:
        votes = _votes(traces, self.view)
        counts = sum_by(votes.e.astype(float), votes.cell_candidate, votes.n_candidates)
        total = sum_by(counts, traces.candidate_task, len(traces))[traces.candidate_task]
        k = traces.n_candidates[traces.candidate_task]
        with np.errstate(divide="ignore"):
            return np.log(np.where(total > 0, counts / np.maximum(total, 1), 1 / k))

    def _contributions(self, traces: Traces) -> Contributions:
        votes = _votes(traces, self.view)
        return _vote_contributions(traces, votes, "votes", np.full(len(votes.task), 1 / max(len(votes.task), 1)))


class BestMember(Arm):
    """The answer of the agent with the highest mean reliability; the next best one's where it has none.

    Parameters
    ----------
    alpha, beta : float, default 2.0 and 1.0
        Prior counts.
    kappa : float, default 20.0
        Strength of the labelled record: mean = (alpha + kappa r_i) / (alpha + beta + kappa).
    view, fit_view : str, default "all"
        The moves whose last votes decide, and the moves that r_i counts.
    random_state : int, default 0
        Seeds the draws that break ties between agents and between candidates.

    Attributes
    ----------
    classes_, agents_, reliability_
        As in `OneCoin`.

    Examples
    --------
    >>> from bda import BestMember, Traces
    >>> traces = Traces.from_votes([[0, 1], [0, 1], [1, 0]], agents=["ada", "cox"])
    >>> BestMember().fit(traces, [0, 0, 1]).predict(traces).tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        alpha: float = 2.0,
        beta: float = 1.0,
        kappa: float = 20.0,
        view: str = "all",
        fit_view: str = "all",
        random_state: int = 0,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.kappa = kappa
        self.view = view
        self.fit_view = fit_view
        self.random_state = random_state

    @property
    def profile_(self) -> pd.DataFrame:
        """Reliability, interval, P(below chance) and weight of every agent (docs/model.md)."""
        self._require_fit()
        alpha, beta = self._prior_counts(np.arange(len(self.agents_)))
        weight = _log_odds(alpha, beta, self.reliability_.n_candidates)
        nobody = [None] * len(self.agents_)
        return profile_frame(self.agents_, self.reliability_, (self.alpha, self.beta), weight, nobody)

    def _check(self) -> None:
        super()._check()
        check_number(self, "alpha", "beta")
        check_number(self, "kappa", least=0)

    def _learn(self, traces: Traces, gold_candidate: NDArray[np.int64]) -> None:
        self.reliability_: Reliability = measure_reliability(
            count_evidence(traces, view=self.fit_view), gold_candidate, traces.n_candidates
        )

    def _prior_counts(self, fitted: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return alpha_i and beta_i, theta_i = alpha_i / (alpha_i + beta_i); -1 stands for an unknown agent."""
        return known_or_prior(self.reliability_, self.alpha, self.beta, self.kappa, fitted)

    def _log_proba(self, traces: Traces) -> Floats:
        votes = _votes(traces, self.view)
        k = traces.n_candidates.astype(float)
        log_proba = np.asarray(-np.log(k[traces.candidate_task]))
        best = self._leaders(traces, votes)
        task = votes.task[best]
        alpha, beta = (count[votes.agent[best]] for count in self._prior_counts(self._fitted_agent(traces)))
        rest = np.zeros(len(traces))
        rest[task] = np.log(beta / (alpha + beta)) - np.log(k[task] - 1)
        decided = np.isin(traces.candidate_task, task)
        log_proba[decided] = rest[traces.candidate_task[decided]]
        log_proba[votes.cell_candidate[best]] = np.log(alpha / (alpha + beta))
        return log_proba

    def _leaders(self, traces: Traces, votes: Evidence) -> NDArray[np.int64]:
        """Return, for every task with a vote, which vote is that of the best agent that voted."""
        alpha, beta = self._prior_counts(self._fitted_agent(traces))
        draw = np.array([keyed_uniform(int(self.random_state), name) for name in traces.agent_names])
        rank = np.empty(len(alpha), np.int64)
        rank[np.lexsort((draw, -np.log(alpha / beta).round(12)))] = np.arange(len(alpha))
        order = np.lexsort((rank[votes.agent], votes.task))
        task = votes.task[order]
        first = np.ones(len(order), bool)
        first[1:] = task[1:] != task[:-1]
        return order[first]

    def _weights(self, traces: Traces, votes: Evidence) -> Floats:
        """Return ln(theta (K-1) / (1 - theta)) of every vote."""
        alpha, beta = (count[votes.agent] for count in self._prior_counts(self._fitted_agent(traces)))
        return _log_odds(alpha, beta, votes.k)

    def _contributions(self, traces: Traces) -> Contributions:
        votes = _votes(traces, self.view)
        decides = np.isin(np.arange(len(votes.task)), self._leaders(traces, votes))
        return _vote_contributions(traces, votes, "nats", np.where(decides, self._weights(traces, votes), 0.0))


class WeightedVote(BestMember):
    """Log-odds weighted last votes: softmax of sums of ln(theta_i (K-1) / (1 - theta_i)).

    Parameters
    ----------
    alpha, beta : float, default 2.0 and 1.0
        Prior counts.
    kappa : float, default 20.0
        Strength of the labelled record: theta_i = (alpha + kappa r_i) / (alpha + beta + kappa).
    view, fit_view : str, default "all"
        The moves whose last votes are counted, and the moves that r_i counts.
    random_state : int, default 0
        Seeds the draw that breaks ties.

    Attributes
    ----------
    classes_, agents_, reliability_
        As in `OneCoin`.

    Examples
    --------
    >>> from bda import Traces, WeightedVote
    >>> traces = Traces.from_votes([[0, 1], [0, 1], [1, 0]], agents=["ada", "cox"])
    >>> WeightedVote(kappa=2.0).fit(traces, [0, 0, 1]).predict_proba(traces).round(2)[0].tolist()
    [0.86, 0.14]
    """

    def _log_proba(self, traces: Traces) -> Floats:
        votes = _votes(traces, self.view)
        total = sum_by(self._weights(traces, votes), votes.cell_candidate, votes.n_candidates)
        flat = np.zeros(len(traces.candidate_class))
        return np.asarray(log_posterior(total, 1.0, flat, traces.candidate_task, len(traces)))

    def _contributions(self, traces: Traces) -> Contributions:
        votes = _votes(traces, self.view)
        return _vote_contributions(traces, votes, "nats", self._weights(traces, votes))


def _log_odds(alpha: Floats, beta: Floats, k: NDArray[np.int64] | int) -> Floats:
    """Return ln(theta (K-1) / (1 - theta)) for theta = alpha / (alpha + beta)."""
    return np.asarray(np.log(alpha / beta) + np.log(np.asarray(k, float) - 1))


def _votes(traces: Traces, view: str) -> Evidence:
    """Return last votes as evidence: one cell with e = 1 for every pair."""
    return count_evidence(traces, view=view, votes=True)


def _vote_contributions(traces: Traces, votes: Evidence, unit: str, weight: Floats) -> Contributions:
    agents: dict[Name, Floats] = {}
    for agent, candidate, w in zip(votes.agent, votes.cell_candidate, weight, strict=True):
        row = np.zeros(votes.n_candidates)
        row[candidate] = w
        agents[traces.agent_names[agent]] = row
    return Contributions(unit, np.zeros(votes.n_candidates), agents)
