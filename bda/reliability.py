"""Reliability of every agent: Beta posteriors, chance, weight and the turning n.

With n+ right and n- wrong moves on labelled tasks, theta ~ Beta(alpha0 + n+, beta0 + n-) is an agent's posterior
reliability (BDA section 3). Decisions use Beta(alpha0 + kappa r, beta0 + kappa (1 - r)), r = n+ / (n+ + n-),
which is not a posterior: kappa is a strength, not a number of moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bda.beta_integrals import log_rising
from bda.evidence import Evidence, right_wrong
from bda.names import Name

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Reliability", "measure_reliability", "profile_frame", "turning_n"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reliability:
    """What labelled tasks say about every agent.

    Attributes
    ----------
    right, wrong : int64 arrays, shape (n_agents,)
        Moves that agree with gold and that do not.
    chance : float array, shape (n_agents,)
        Mean over its moves of 1/K (endorsement) or (K-1)/K (challenge); NaN without a labelled move.
    n_candidates : int
        The commonest K among the labelled tasks, at which weights are stated; 2 without a labelled task.
    """

    right: NDArray[np.int64]
    wrong: NDArray[np.int64]
    chance: Floats
    n_candidates: int

    def rate(self, alpha: float, beta: float) -> Floats:
        """Return r_i, the prior mean where an agent has no labelled move; shape (n_agents,)."""
        moves = self.right + self.wrong
        return np.where(moves > 0, self.right / np.maximum(moves, 1), alpha / (alpha + beta))

    def strengthened(self, alpha: float, beta: float, kappa: float) -> tuple[Floats, Floats]:
        """Return alpha_i and beta_i, the prior counts that decisions use; shape (n_agents,) each."""
        rate = self.rate(alpha, beta)
        return alpha + kappa * rate, beta + kappa * (1 - rate)


def measure_reliability(
    evidence: Evidence, gold_candidate: NDArray[np.int64], n_candidates: NDArray[np.int64]
) -> Reliability:
    """Count every agent's right and wrong moves on labelled tasks.

    Parameters
    ----------
    evidence : Evidence
        Counts.
    gold_candidate : int64 array, shape (n_tasks,)
        Position of the true candidate, -1 where unlabelled.
    n_candidates : int64 array, shape (n_tasks,)
        K of every task.

    Returns
    -------
    Reliability
        Per agent.
    """
    right, wrong = right_wrong(evidence, gold_candidate)
    labelled = gold_candidate[evidence.task] >= 0
    agent, k = evidence.agent[labelled], evidence.k[labelled]
    by_chance = (evidence.endorsed[labelled] + evidence.rejected[labelled] * (k - 1)) / k
    n = evidence.n_agents
    total_right = np.bincount(agent, weights=right[labelled], minlength=n).astype(np.int64)
    total_wrong = np.bincount(agent, weights=wrong[labelled], minlength=n).astype(np.int64)
    moves = total_right + total_wrong
    expected = np.bincount(agent, weights=by_chance, minlength=n)
    chance = np.divide(expected, moves, out=np.full(n, np.nan), where=moves > 0)
    sizes = np.bincount(n_candidates[gold_candidate >= 0], minlength=3)
    return Reliability(total_right, total_wrong, chance, int(sizes.argmax()) if sizes.any() else 2)


def turning_n(alpha: float, beta: float, k: int) -> int | None:
    """Return from how many equal endorsements on an agent with negative weight counts as positive.

    Parameters
    ----------
    alpha, beta : float
        The agent's prior counts.
    k : int
        Number of candidates.

    Returns
    -------
    int or None
        The smallest n with ln B(alpha+n, beta) - ln B(alpha, beta+n) + n ln(K-1) > 0; None if one endorsement
        does not weigh negatively, or K = 2, where the sign never turns.

    Notes
    -----
    The weight's increments ln((alpha+j)/(beta+j)) + ln(K-1) grow with j, so it crosses zero once.

    Examples
    --------
    >>> turning_n(3.0, 20.0, 4)
    15
    """
    if k < 3 or alpha * (k - 1) >= beta:
        return None
    high = 2
    while not _weighs_positively(alpha, beta, k, high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _weighs_positively(alpha, beta, k, middle) else (middle, high)
    return high


def profile_frame(
    names: tuple[Name, ...],
    found: Reliability,
    prior: tuple[float, float],
    weight: Floats,
    turning: Sequence[int | None],
    level: float = 0.95,
) -> pd.DataFrame:
    """Return the reliability profile, one row an agent.

    Parameters
    ----------
    names : tuple
        Agents.
    found : Reliability
        Counts on labelled tasks.
    prior : (float, float)
        alpha0 and beta0 of the reported posterior.
    weight : float array, shape (n_agents,)
        Weight of one endorsement at K = `found.n_candidates`, nats.
    turning : sequence of int or None
        Turning n of every agent.
    level : float
        Of the central credible interval.

    Returns
    -------
    DataFrame
        Columns agent, right, wrong, mean, low, high, chance, p_below_chance, weight, n_candidates, turning_n.
    """
    import pandas as pd
    from scipy.special import betainc, betaincinv

    a, b = prior[0] + found.right, prior[1] + found.wrong
    tail = (1 - level) / 2
    return pd.DataFrame(
        {
            "agent": list(names),
            "right": found.right,
            "wrong": found.wrong,
            "mean": a / (a + b),
            "low": betaincinv(a, b, tail),
            "high": betaincinv(a, b, 1 - tail),
            "chance": found.chance,
            "p_below_chance": betainc(a, b, found.chance),
            "weight": weight,
            "n_candidates": found.n_candidates,
            "turning_n": pd.array([pd.NA if n is None else n for n in turning], dtype="Int64"),
        }
    )


def _weighs_positively(alpha: float, beta: float, k: int, n: int) -> bool:
    """Whether n equal endorsements weigh more than rounding: where they cross zero, one more adds far more."""
    weight = float(log_rising(alpha, n) - log_rising(beta, n) + n * np.log(k - 1))
    return weight > 1e-13 * n
