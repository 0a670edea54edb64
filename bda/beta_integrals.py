r"""Log evidence of one agent on one candidate: Beta integrals in closed form.

An agent is right with probability theta ~ Beta(alpha, beta). With e of its E endorsements naming the candidate
and x of its X challenges rejecting it, n+ = e + X - x moves agree with the candidate and n- = E - e + x do not:

    composite   ln B(alpha + n+, beta + n-) / B(alpha, beta) - n- ln(K-1)
    exact       the same with -(E - e + X - x) ln(K-1) as last term
    set         ln of the integral of theta^e (1-theta)^(E-e+x) (K-2+theta)^(X-x), a finite sum of Beta
                integrals, - (E - e + x + 2 (X - x)) ln(K-1)

(BDA section 3 and appendix C.5.) Everything is written once over an array namespace: NumPy to apply an arm,
jax.numpy to differentiate and to vectorise over settings. Ratios of Beta functions are written as one difference, so
that nothing cancels at alpha = 1e6 or at 1e6 moves, and nothing overflows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CHALLENGES", "log_beta_ratio", "log_evidence", "log_rising"]

CHALLENGES = ("composite", "set", "exact", "ignore")
SHIFT = 8
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)


def log_rising(a: Any, n: Any, xp: Any = np) -> Any:
    """Return ln Gamma(a + n) - ln Gamma(a), the log of a (a+1) ... (a+n-1).

    Parameters
    ----------
    a : array
        Positive.
    n : array
        Non-negative, not necessarily whole; broadcasts against `a`.
    xp : module
        numpy or jax.numpy.

    Returns
    -------
    float64 array
        Nats; exactly 0 at n = 0. Relative error about 1e-15 for a from 1e-8 to 1e12, n up to 1e12.

    Notes
    -----
    Both gamma functions are moved up by `SHIFT`, which costs a sum of log1p(n / (a+j)), and Stirling's series
    is written as one difference: no two large numbers are subtracted.

    Examples
    --------
    >>> float(log_rising(3.0, 2.0).round(12)) == float(np.log(3 * 4).round(12))
    True
    """
    a, n = xp.broadcast_arrays(xp.asarray(a, dtype=np.float64), xp.asarray(n, dtype=np.float64))
    low = a + SHIFT
    high = low + n
    total = (high - 0.5) * xp.log1p(n / low) + n * (xp.log(low) - 1.0)
    total = total + _stirling(high) - _stirling(low)
    return total - xp.sum(xp.log1p(n[..., None] / (a[..., None] + np.arange(SHIFT))), axis=-1)


def log_beta_ratio(alpha: Any, beta: Any, right: Any, wrong: Any, xp: Any = np) -> Any:
    """Return ln B(alpha + right, beta + wrong) - ln B(alpha, beta).

    Parameters
    ----------
    alpha, beta : arrays
        Positive prior counts.
    right, wrong : arrays
        Non-negative counts.
    xp : module
        numpy or jax.numpy.

    Returns
    -------
    float64 array
        Nats; exactly 0 without moves. Off by about 1e-15 of its size and 1e-14.

    Notes
    -----
    Stirling's series at a = alpha + 8, b = beta + 8, c = alpha + beta + 8 before and a', b', c' after the moves. The
    three x ln x of each are gathered into ratios such as a'/c', whose logarithms stay small where the result does:

        (a - 1/2) ln(a'c / ac') + (b - 1/2) ln(b'c / bc') + right ln(a'/c') + wrong ln(b'/c') + (8 - 1/2) ln(c'/c)

    Examples
    --------
    One right move under Beta(2, 1): probability 2/3.

    >>> float(np.exp(log_beta_ratio(2.0, 1.0, 1, 0)).round(12))
    0.666666666667
    """
    arguments = (xp.asarray(value, dtype=np.float64) for value in (alpha, beta, right, wrong))
    alpha, beta, right, wrong = xp.broadcast_arrays(*arguments)
    both, moves = alpha + beta, right + wrong
    a, b, c = alpha + SHIFT, beta + SHIFT, both + SHIFT
    a_, b_, c_ = a + right, b + wrong, c + moves
    # Stacked, so that a compiler meets every logarithm once.
    ratio = xp.stack([(a_ / a) * (c / c_), (b_ / b) * (c / c_), a_ / c_, b_ / c_, c_ / c])
    excess = xp.stack(
        [
            (right * beta - wrong * a) / a / c_,
            (wrong * alpha - right * b) / b / c_,
            -(beta + wrong) / c_,
            -(alpha + right) / c_,
            moves / c,
        ]
    )
    times = xp.stack([a - 0.5, b - 0.5, right, wrong, xp.full_like(a, SHIFT - 0.5)])
    total = xp.sum(times * _log_near(ratio, excess, xp), axis=0)
    series = _stirling(xp.stack([a_, a, b_, b, c, c_]))
    total = total + xp.sum(series[::2] - series[1::2], axis=0)
    start, count = xp.stack([alpha, beta, both]), xp.stack([right, wrong, moves])
    steps = xp.sum(xp.log1p(count[..., None] / (start[..., None] + np.arange(SHIFT))), axis=-1)
    return total + steps[2] - steps[0] - steps[1]


def log_evidence(
    k: Any, e: Any, endorsed: Any, x: Any, rejected: Any, alpha: Any, beta: Any, challenge: str, xp: Any = np,
    most_rejected: int | None = None,
) -> Any:  # fmt: skip
    """Return the log evidence of an agent's moves on a task if one candidate is true.

    Parameters
    ----------
    k : array
        K, the number of candidates.
    e, endorsed : arrays of counts
        Endorsements of the candidate, and of any candidate.
    x, rejected : arrays of counts
        Challenges rejecting the candidate, and any candidate.
    alpha, beta : arrays
        Prior counts; all arguments broadcast.
    challenge : {"composite", "set", "exact", "ignore"}
        How a challenge enters; for "ignore" pass counts without challenges.
    xp : module
        numpy or jax.numpy.
    most_rejected : int, optional
        A bound on `rejected` for "set", static under jit; by default its maximum.

    Returns
    -------
    float64 array
        Nats.

    Examples
    --------
    At K = 2 a challenge of one candidate is an endorsement of the other.

    >>> a = log_evidence(2, 1, 1, 0, 0, 2.0, 1.0, "composite")
    >>> b = log_evidence(2, 0, 0, 0, 1, 2.0, 1.0, "set")
    >>> bool(np.isclose(a, b, rtol=1e-15))
    True
    """
    agree, against = e + rejected - x, endorsed - e + x
    rivals = xp.log(xp.asarray(k, dtype=np.float64) - 1.0)
    if challenge == "set":
        bound = int(np.max(rejected, initial=0)) if most_rejected is None else most_rejected
        return _set_evidence(k, e, against, rejected - x, alpha, beta, rivals, bound, xp)
    spread = endorsed - e + (rejected - x if challenge == "exact" else x)
    return log_beta_ratio(alpha, beta, agree, against, xp) - spread * rivals


def _set_evidence(k: Any, e: Any, wrong: Any, m: Any, alpha: Any, beta: Any, rivals: Any, bound: int, xp: Any) -> Any:
    """Sum over j of C(m, j) (K-2)^(m-j) B(alpha + e + j, beta + wrong), m challenges missing the candidate."""
    k, e, wrong, m = (xp.asarray(v, dtype=np.float64)[..., None] for v in (k, e, wrong, m))
    alpha, beta = xp.asarray(alpha)[..., None], xp.asarray(beta)[..., None]
    j = xp.arange(bound + 1, dtype=np.float64)
    inside = j <= m
    left = xp.where(inside, m - j, 0.0)
    others = xp.where(k > 2, left * xp.log(xp.maximum(k - 2.0, 1.0)), xp.where(left > 0, -np.inf, 0.0))
    ways = log_rising(1.0, m, xp) - log_rising(1.0, j, xp) - log_rising(1.0, left, xp)
    terms = xp.where(inside, ways + others + log_beta_ratio(alpha, beta, e + j, wrong, xp), -np.inf)
    top = xp.max(terms, axis=-1, keepdims=True)
    total = top[..., 0] + xp.log(xp.sum(xp.exp(terms - top), axis=-1))
    return total - (wrong + 2.0 * m)[..., 0] * rivals


def _log_near(ratio: Any, excess: Any, xp: Any) -> Any:
    """Return ln(ratio) from ratio - 1 where that is small and known to more digits than the ratio."""
    near = xp.abs(excess) < 0.5
    return xp.where(near, xp.log1p(xp.where(near, excess, 0.0)), xp.log(ratio))


def _stirling(x: Any) -> Any:
    """Return the series 1/(12 x) - 1/(360 x^3) + ... of ln Gamma, below 1e-14 off for x >= 8."""
    square = (1.0 / x) * (1.0 / x)
    total = STIRLING[-1]
    for coefficient in reversed(STIRLING[:-1]):
        total = total * square + coefficient
    return total / x
