"""What a set of traces holds: counts, coverage, agreement, and how often unanimity is wrong.

Votes are last votes: an agent's standing answer after the last round. Two agents agree on a task when their last
votes are the same candidate; agreement is the share of the tasks on which both voted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.evidence import Evidence, count_evidence
from bda.labels import candidate_positions
from bda.names import Name
from bda.outcomes import Unanimity, measure_unanimity
from bda.resolution import TYPES
from bda.splits import group_names
from bda.traces import Traces
from bda.votes import Plurality

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Overview", "overview"]


@dataclass(frozen=True, eq=False)
class Overview:
    """What traces hold.

    Attributes
    ----------
    n_tasks, n_labelled, n_groups, n_agents, n_moves, n_rounds : int
        Counts; rounds are numbered from 0, so `n_rounds` is the last one plus 1.
    moves : dict from str to int
        Moves of every type.
    candidates : dict from int to int
        How many tasks offer K candidates.
    gold : dict from name to int
        Labelled tasks of every class that is offered.
    agents : DataFrame
        One row an agent: agent, asked, committed (tasks with a last vote), coverage (share of all tasks), accuracy
        (of last votes on labelled tasks; NaN without one), scored, not_asked, failed, truncated, unreadable.
    agreement, common : arrays, shape (n_agents, n_agents)
        Share of tasks on which two agents' last votes agree (NaN without a common task), and how many they share.
    problems : dict from str to int
        Moves of every irregularity and state that occurs.
    locations : DataFrame
        As `ProtocolReport.locations`.
    unanimity : Unanimity
        Of round-0 votes on labelled tasks.
    plurality_accuracy : float
        On labelled tasks, ties by a draw with seed 0; NaN without a label.
    meta_keys : tuple of str
        Keys of `meta` that occur, sorted.
    """

    n_tasks: int
    n_labelled: int
    n_groups: int
    n_agents: int
    n_moves: int
    n_rounds: int
    moves: dict[str, int]
    candidates: dict[int, int]
    gold: dict[Name, int]
    agents: pd.DataFrame
    agreement: NDArray[np.float64]
    common: NDArray[np.int64]
    problems: dict[str, int]
    locations: pd.DataFrame
    unanimity: Unanimity
    plurality_accuracy: float
    meta_keys: tuple[str, ...]

    def pairs(self) -> pd.DataFrame:
        """Return one row a pair of agents that voted on a common task: first, second, agreement, common.

        Returns
        -------
        DataFrame
            Most agreement first.
        """
        import pandas as pd

        first, second = np.triu_indices(self.n_agents, 1)
        names = self.agents["agent"].to_numpy()
        frame = pd.DataFrame(
            {
                "first": names[first],
                "second": names[second],
                "agreement": self.agreement[first, second],
                "common": self.common[first, second],
            }
        )
        return frame[frame["common"] > 0].sort_values("agreement", ascending=False, kind="stable", ignore_index=True)


def overview(traces: Traces) -> Overview:
    """Return what traces hold.

    Parameters
    ----------
    traces : Traces
        Any.

    Returns
    -------
    Overview
        Counts, coverage, agreement and problems.

    Examples
    --------
    >>> from bda import Traces
    >>> from bda.overview import overview
    >>> found = overview(Traces.from_votes([[0, 0, 1], [1, 1, -1]], gold=[0, 1], agents=["ada", "bo", "cy"]))
    >>> found.agents["coverage"].tolist(), found.agreement[0].tolist()
    ([1.0, 1.0, 0.5], [1.0, 1.0, 0.0])
    """
    table, report = traces.moves_table, traces.protocol_report()
    votes = count_evidence(traces, view="last_vote")
    agreement, common = _agreement(votes)
    locations = report.locations()
    labelled = traces.gold >= 0
    types = np.bincount(table.type, minlength=len(TYPES)).tolist()
    offered = np.bincount(traces.gold[labelled], minlength=len(traces.classes)).tolist()
    right = traces.tasks(np.flatnonzero(labelled))
    return Overview(
        n_tasks=len(traces),
        n_labelled=int(labelled.sum()),
        n_groups=len(set(group_names(traces))),
        n_agents=len(traces.agent_names),
        n_moves=len(table),
        n_rounds=int(table.round.max(initial=-1)) + 1,
        moves=dict(zip(TYPES, types, strict=True)),
        candidates=dict(sorted(Counter(traces.n_candidates.tolist()).items())),
        gold=dict(zip(traces.classes, offered, strict=True)),
        agents=_agents(traces, votes, report.states()),
        agreement=agreement,
        common=common,
        problems={str(k): int(n) for k, n in locations["problem"].value_counts().sort_index().items()},
        locations=locations,
        unanimity=measure_unanimity(traces, traces.gold),
        plurality_accuracy=Plurality().score(right) if len(right) else float("nan"),
        meta_keys=tuple(sorted({key for meta in traces.meta or () for key in meta})),
    )


def _agents(traces: Traces, votes: Evidence, states: pd.DataFrame) -> pd.DataFrame:
    """Put commitment, coverage and accuracy beside the states of every agent."""
    n = votes.n_agents
    labelled = np.flatnonzero(traces.gold >= 0)
    at_gold = np.full(len(traces), -1, np.int64)
    at_gold[labelled] = candidate_positions(traces, labelled, traces.gold[labelled])
    gold = at_gold[votes.task]
    committed = np.bincount(votes.agent, minlength=n)
    scored = np.bincount(votes.agent[gold >= 0], minlength=n)
    right = np.bincount(votes.agent[votes.cell_candidate == gold], minlength=n)
    frame = states.rename(columns={"tasks": "asked"})
    frame.insert(2, "committed", committed)
    frame.insert(3, "coverage", committed / max(len(traces), 1))
    frame.insert(4, "accuracy", np.divide(right, scored, out=np.full(n, np.nan), where=scored > 0))
    frame.insert(5, "scored", scored)
    return frame


def _agreement(votes: Evidence) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the share of common tasks with equal last votes, and the number of common tasks."""
    from scipy.sparse import csr_array

    ones = np.ones(len(votes.agent), np.int64)
    task = np.asarray(votes.task)
    said: Any = csr_array((ones, (votes.agent, votes.cell_candidate)), shape=(votes.n_agents, votes.n_candidates))
    voted: Any = csr_array((ones, (votes.agent, task)), shape=(votes.n_agents, int(task.max(initial=-1)) + 1))
    equal, common = (said @ said.T).toarray(), (voted @ voted.T).toarray()
    return np.divide(equal, common, out=np.full(common.shape, np.nan), where=common > 0), common
