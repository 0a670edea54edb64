"""Explained verdicts: which agent moved the answer, and by how much.

d_i is agent i's log evidence, divided by the temperature, for the winner minus the runner-up; the class prior has a
row of its own, and share_i = d_i / sum d (BDA table 20).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.names import Name
from bda.resolution import TYPES
from bda.ties import decide

if TYPE_CHECKING:
    import pandas as pd

    from bda.arm import Arm
    from bda.traces import Traces

__all__ = ["Contributions", "Part", "Verdict", "explain"]

PRIOR = "class prior"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Contributions:
    """What speaks for each candidate of one task, before normalisation.

    Attributes
    ----------
    unit : str
        "nats" for log evidence divided by the temperature, "votes" for shares.
    prior : float array, shape (n_candidates,)
        The class prior's part.
    agents : dict from name to float array, shape (n_candidates,)
        Every agent's part.
    """

    unit: str
    prior: Floats
    agents: dict[Name, Floats]


@dataclass(frozen=True)
class Part:
    """One row of a verdict.

    Attributes
    ----------
    source : name
        The agent, or "class prior".
    said : str
        Its moves in short.
    difference : float
        d_i, in the verdict's unit; infinite where the class prior excludes the runner-up.
    share : float or None
        d_i / sum of d; may be negative or exceed 1; None if the sum is below 1e-9 in size, or infinite.
    """

    source: Name
    said: str
    difference: float
    share: float | None


@dataclass(frozen=True)
class Verdict:
    """What an arm decided on a task, and why.

    Attributes
    ----------
    task : name
        The task.
    winner, runner_up : name
        The two most probable candidates.
    probability, runner_up_probability : float
        Their probabilities.
    tied : int
        How many candidates share the maximum.
    unit : str
        Of the differences: "nats" or "votes".
    gold : name or None
        The true candidate where it is known.
    parts : tuple of Part
        The prior first, then agents from most for the winner to most against it.

    Examples
    --------
    >>> from bda import OneCoin, Traces
    >>> traces = Traces.from_votes([[0, 0, 1]], agents=["ada", "bo", "cy"], tasks=["q1"])
    >>> print(OneCoin().explain(traces, "q1"))
    task 'q1': 0 with probability 0.667, before 1 with 0.333
      source       said      nats   share
      class prior         +0.0000   +0.00
      ada          0      +0.6931   +1.00
      bo           0      +0.6931   +1.00
      cy           1      -0.6931   -1.00
    """

    task: Name
    winner: Name
    runner_up: Name
    probability: float
    runner_up_probability: float
    tied: int
    unit: str
    gold: Name | None
    parts: tuple[Part, ...]

    def to_frame(self) -> pd.DataFrame:
        """Return one row a source: source, said, difference, share.

        Returns
        -------
        DataFrame
            In the order of `parts`.
        """
        import pandas as pd

        columns = ["source", "said", "difference", "share"]
        return pd.DataFrame([[p.source, p.said, p.difference, p.share] for p in self.parts], columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON.

        Returns
        -------
        dict
            The attributes; `parts` as a list of dictionaries, an infinite difference as None.
        """
        parts = [{**vars(p), "difference": p.difference if np.isfinite(p.difference) else None} for p in self.parts]
        return {**vars(self), "parts": parts}

    def __str__(self) -> str:
        head = (
            f"task {self.task!r}: {self.winner} with probability {self.probability:.3f}, "
            f"before {self.runner_up} with {self.runner_up_probability:.3f}"
        )
        if self.gold is not None:
            head += f"; gold is {self.gold}"
        if self.tied > 1:
            head += f"; {self.tied} tied, drawn by seed"
        wide = max(len(str(p.source)) for p in self.parts)
        spoken = max([4, *(len(p.said) for p in self.parts)])
        lines = [f"  {'source':<{wide}}  {'said':<{spoken}}  {self.unit:>8}   share"]
        for p in self.parts:
            share = "null" if p.share is None else f"{p.share:+.2f}"
            lines.append(f"  {p.source!s:<{wide}}  {p.said:<{spoken}}  {p.difference:+8.4f}  {share:>6}")
        return "\n".join([head, *lines])


def explain(arm: Arm, traces: Traces) -> Verdict:
    """Return the verdict of an arm on a single task.

    Parameters
    ----------
    arm : Arm
        Fitted where it needs to be.
    traces : Traces
        Exactly one task.

    Returns
    -------
    Verdict
        With one part for the prior and one for every agent that moved.
    """
    log_proba = arm.log_proba(traces)
    seed = int(arm.random_state)
    decision = decide(traces, log_proba, seed)
    win = int(decision.candidate[0])
    rest = np.where(np.arange(len(log_proba)) == win, -np.inf, np.maximum(log_proba, np.finfo(float).min))
    second = int(decide(traces, rest, seed).candidate[0])
    found = arm._contributions(traces)
    said = _said(traces)
    agents = [(name, said.get(name, ""), _difference(row, win, second)) for name, row in found.agents.items()]
    agents += [(name, text, 0.0) for name, text in said.items() if name not in found.agents]
    rows: list[tuple[Name, str, float]] = [(PRIOR, "", _difference(found.prior, win, second))]
    rows += sorted(agents, key=lambda row: (-row[2], str(row[0])))
    total = sum(row[2] for row in rows)
    shared = np.isfinite(total) and abs(total) >= 1e-9
    proba = np.exp(log_proba)
    names = [traces.classes[c] for c in traces.candidate_class]
    gold = int(traces.gold[0])
    return Verdict(
        task=traces.task_ids[0],
        winner=names[win],
        runner_up=names[second],
        probability=float(proba[win]),
        runner_up_probability=float(proba[second]),
        tied=int(decision.tied[0]),
        unit=found.unit,
        gold=None if gold < 0 else traces.classes[gold],
        parts=tuple(Part(s, t, d, d / total if shared else None) for s, t, d in rows),
    )


def _difference(row: Any, win: int, second: int) -> float:
    return 0.0 if row[win] == row[second] else float(row[win] - row[second])


def _said(traces: Traces) -> dict[Name, str]:
    """Return every agent's moves in short: "A", "not B" for a challenge, "-" for nothing usable."""
    table = traces.moves_table
    order = np.lexsort((np.arange(len(table)), table.round, table.agent))
    starts = np.flatnonzero(np.diff(table.agent[order], prepend=-1))
    words = {}
    for rows in np.split(order, starts[1:]) if len(order) else []:
        shown = [_word(traces, row) for row in (rows if len(rows) <= 6 else rows[:5])]
        more = [] if len(rows) <= 6 else [f"... ({len(rows)})"]
        words[traces.agent_names[table.agent[rows[0]]]] = " > ".join([*shown, *more])
    return words


def _word(traces: Traces, row: int) -> str:
    table = traces.moves_table
    if table.kind[row] == 0:
        return "abstains" if TYPES[table.type[row]] == "abstain" else "-"
    answer = str(traces.classes[table.resolved[row]])
    return answer if table.kind[row] > 0 else f"not {answer}"
