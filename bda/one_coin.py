"""The one-coin arms: one reliability for each agent, integrated out.

    log p(k | trace) = log pi0(k) + (1/tau) sum_i [ ln B(alpha_i + n+, beta_i + n-) / B(alpha_i, beta_i)
                                                    - n- ln(K-1) ] + const               (BDA section 3)

`OneCoin` gives all agents one prior; `PerAgent` moves each agent's prior towards its labelled record with strength
kappa. An agent below chance gets a negative weight: its endorsement counts against what it endorses.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm, Contributions
from bda.beta_integrals import CHALLENGES
from bda.errors import EvidenceWarning
from bda.evidence import Evidence, count_evidence
from bda.names import Name
from bda.parameters import check_number, check_option, check_prior
from bda.posteriors import candidate_evidence, log_class_prior, log_posterior, one_coin_terms
from bda.reliability import Reliability, measure_reliability, profile_frame, turning_n
from bda.traces import Traces

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["OneCoin", "PerAgent"]

Floats = NDArray[np.float64]


class OneCoin(Arm):
    """One prior Beta(alpha, beta) for the reliability of every agent; predicts without a fit.

    Parameters
    ----------
    alpha, beta : float, default 2.0 and 1.0
        Prior counts of right and wrong moves.
    temperature : float, default 1.0
        tau > 0; log evidence is divided by it.
    challenge : {"composite", "set", "exact", "ignore"}, default "composite"
        How a challenge enters (docs/model.md).
    class_prior : mapping from class to weight, optional
        Uniform by default; renormalised over each task's candidates, never tempered.
    view, fit_view : str, default "all"
        The moves that decide, and those that `fit` counts: "all", "round0", "last_vote", or types of moves joined by
        "+", such as "propose+concede".
    random_state : int, default 0
        Seeds the draw that breaks ties.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Columns of `predict_proba`.
    agents_ : tuple
        Agents of the traces that were fitted.
    reliability_ : Reliability
        Counts on labelled tasks; they enter the profile, not the posterior of this arm.

    References
    ----------
    "Counting Moves, Weighing Voices" (BDA), section 3.

    Examples
    --------
    >>> from bda import OneCoin, Traces
    >>> OneCoin().predict_proba(Traces.from_votes([[0, 0, 1]])).round(4).tolist()
    [[0.6667, 0.3333]]
    """

    needs_labels = False

    def __init__(
        self,
        alpha: float = 2.0,
        beta: float = 1.0,
        temperature: float = 1.0,
        challenge: str = "composite",
        class_prior: Mapping[Name, float] | None = None,
        view: str = "all",
        fit_view: str = "all",
        random_state: int = 0,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.temperature = temperature
        self.challenge = challenge
        self.class_prior = class_prior
        self.view = view
        self.fit_view = fit_view
        self.random_state = random_state

    @property
    def profile_(self) -> pd.DataFrame:
        """Reliability, interval, P(below chance), weight and turning n of every agent (docs/model.md)."""
        self._require_fit()
        alpha, beta = self._prior_counts(len(self.agents_), np.arange(len(self.agents_)))
        k = self.reliability_.n_candidates
        weight = np.log(alpha * (k - 1) / beta)
        turning = [turning_n(a, b, k) for a, b in zip(alpha, beta, strict=True)]
        return profile_frame(self.agents_, self.reliability_, (self.alpha, self.beta), weight, turning)

    def _check(self) -> None:
        super()._check()
        check_number(self, "alpha", "beta", "temperature")
        check_option(self, "challenge", CHALLENGES)
        check_prior(self.class_prior)

    def _learn(self, traces: Traces, gold_candidate: NDArray[np.int64]) -> None:
        evidence = count_evidence(traces, self.challenge, self.fit_view)
        self.reliability_: Reliability = measure_reliability(evidence, gold_candidate, traces.n_candidates)

    def _prior_counts(self, n_agents: int, fitted: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return alpha_i and beta_i for agents at positions `fitted` of `agents_` (-1 unknown)."""
        return np.full(n_agents, float(self.alpha)), np.full(n_agents, float(self.beta))

    def _terms(self, traces: Traces) -> tuple[Evidence, Floats, Floats]:
        evidence = count_evidence(traces, self.challenge, self.view)
        fitted = self._fitted_agent(traces) if self.is_fitted else np.full(len(traces.agent_names), -1)
        alpha, beta = self._prior_counts(len(traces.agent_names), fitted)
        self._warn(traces, evidence, alpha, beta)
        return evidence, *one_coin_terms(evidence, alpha, beta, self.challenge)

    def _log_proba(self, traces: Traces) -> Floats:
        evidence, unmentioned, mentioned = self._terms(traces)
        total = candidate_evidence(evidence, unmentioned, mentioned, traces.candidate_task)
        prior = log_class_prior(traces, self.class_prior)
        return np.asarray(log_posterior(total, self.temperature, prior, traces.candidate_task, len(traces)))

    def _contributions(self, traces: Traces) -> Contributions:
        evidence, unmentioned, mentioned = self._terms(traces)
        rows = np.repeat(unmentioned[:, None], evidence.n_candidates, axis=1)
        rows[evidence.cell_pair, evidence.cell_candidate] = mentioned
        agents = {traces.agent_names[a]: row / self.temperature for a, row in zip(evidence.agent, rows, strict=True)}
        return Contributions("nats", log_class_prior(traces, self.class_prior), agents)

    def _warn(self, traces: Traces, evidence: Evidence, alpha: Floats, beta: Floats) -> None:
        """Warn where a reading of the evidence turns against its intention."""
        if self.challenge == "exact" and len(evidence.task):
            challenged = evidence.rejected > 0
            agent, k = evidence.agent[challenged], evidence.k[challenged]
            low = alpha[agent] < (k - 1) * beta[agent]
            if low.any():
                name = traces.agent_names[agent[low][0]]
                warnings.warn(
                    f"challenge='exact': {name!r} has mean reliability below (K-1)/K, where a challenge supports "
                    "what it rejects; use 'set' or 'composite'",
                    EvidenceWarning,
                    stacklevel=5,
                )
        self._warn_repeats(traces, evidence, alpha, beta)

    def _warn_repeats(self, traces: Traces, evidence: Evidence, alpha: Floats, beta: Floats) -> None:
        pair = evidence.cell_pair
        agent, k = evidence.agent[pair], evidence.k[pair]
        suspect = np.flatnonzero((evidence.e > 1) & (k > 2) & (alpha[agent] * (k - 1) < beta[agent]))
        turns: dict[tuple[int, int], int | None] = {}
        for cell in suspect:
            a, n = int(agent[cell]), int(evidence.e[cell])
            key = (a, int(k[cell]))
            if key not in turns:
                turns[key] = turning_n(float(alpha[a]), float(beta[a]), key[1])
            turn = turns[key]
            if turn is not None and n >= turn:
                warnings.warn(
                    f"{traces.agent_names[a]!r}, below chance, endorses one answer {n} times on task "
                    f"{traces.task_ids[evidence.task[pair[cell]]]!r}: from {turn} repeats on its weight turns "
                    "positive; use view='last_vote'",
                    EvidenceWarning,
                    stacklevel=6,
                )
                return


class PerAgent(OneCoin):
    """A prior for each agent, moved towards its labelled record: alpha_i = alpha + kappa r_i.

    Parameters
    ----------
    alpha, beta : float, default 2.0 and 1.0
        Prior counts shared by all agents.
    kappa : float, default 20.0
        Strength of an agent's labelled share r_i of right moves; 0 gives `OneCoin`.
    temperature : float, default 1.0
        tau > 0; log evidence is divided by it.
    challenge : {"composite", "set", "exact", "ignore"}, default "composite"
        How a challenge enters (docs/model.md).
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

    References
    ----------
    "Counting Moves, Weighing Voices" (BDA), section 3.

    Examples
    --------
    Ada is always wrong on three labelled tasks, so her vote counts against what she says.

    >>> from bda import PerAgent, Traces
    >>> traces = Traces.from_votes([[0], [0], [1]], agents=["ada"])
    >>> PerAgent().fit(traces, [1, 1, 0]).predict(traces).tolist()
    [1, 1, 0]
    """

    needs_labels = True

    def __init__(
        self,
        alpha: float = 2.0,
        beta: float = 1.0,
        kappa: float = 20.0,
        temperature: float = 1.0,
        challenge: str = "composite",
        class_prior: Mapping[Name, float] | None = None,
        view: str = "all",
        fit_view: str = "all",
        random_state: int = 0,
    ) -> None:
        super().__init__(alpha, beta, temperature, challenge, class_prior, view, fit_view, random_state)
        self.kappa = kappa

    def _check(self) -> None:
        super()._check()
        check_number(self, "kappa", least=0)

    def _prior_counts(self, n_agents: int, fitted: NDArray[np.int64]) -> tuple[Floats, Floats]:
        return known_or_prior(self.reliability_, self.alpha, self.beta, self.kappa, fitted)


def known_or_prior(
    found: Reliability, alpha: float, beta: float, kappa: float, fitted: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return alpha_i and beta_i of agents at positions `fitted`; an unknown agent (-1) has r = the prior mean."""
    known_alpha, known_beta = found.strengthened(alpha, beta, kappa)
    mean = alpha / (alpha + beta)
    return (
        np.append(known_alpha, alpha + kappa * mean)[fitted],
        np.append(known_beta, beta + kappa * (1 - mean))[fitted],
    )
