"""The protocol report: every irregular or uninformative move, counted and located per agent and round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bda.resolution import IRREGULARITIES, STATUSES, TYPES

if TYPE_CHECKING:
    import pandas as pd

    from bda.traces import Traces

__all__ = ["ProtocolReport"]

STATES = ("not_asked", "failed", "truncated", "unreadable")


@dataclass(frozen=True)
class ProtocolReport:
    """Counts and places of what a council did outside the protocol.

    Attributes
    ----------
    traces : Traces
        What is reported on.

    Examples
    --------
    >>> from bda import Traces
    >>> traces = Traces.from_records([{"task": "q", "candidates": ["a", "b"], "moves": [
    ...     {"agent": "x", "round": 0, "type": "propose", "answer": None},
    ...     {"agent": "y", "round": 0, "type": "challenge", "target": "x"}]}])
    >>> traces.protocol_report().locations()["problem"].tolist()
    ['unreadable', 'target_without_answer']
    """

    traces: Traces

    def to_frame(self) -> pd.DataFrame:
        """Return one row per agent and round: moves by type, states and irregularities, as counts.

        Returns
        -------
        DataFrame
            Columns agent, round, moves, the four types, informative, failed, truncated, unreadable and every
            irregularity.
        """
        import pandas as pd

        table = self.traces.moves_table
        columns: dict[str, Any] = {
            "agent": table.agent,  # codes, because names of several types have no order in pandas
            "round": table.round,
            "moves": np.ones(len(table), np.int64),
        }
        for code, name in enumerate(TYPES):
            columns[name] = (table.type == code).astype(np.int64)
        columns["informative"] = (table.kind != 0).astype(np.int64)
        for name in STATUSES[1:]:
            columns[name] = (table.status == STATUSES.index(name)).astype(np.int64)
        for name, bit in IRREGULARITIES.items():
            columns[name] = (table.irregular & bit > 0).astype(np.int64)
        counts = pd.DataFrame(columns).groupby(["agent", "round"], sort=True).sum().reset_index()
        counts["agent"] = [self.traces.agent_names[code] for code in counts["agent"]]
        return counts

    def states(self) -> pd.DataFrame:
        """Return one row per agent: on how many tasks it was not asked, failed, was truncated or unreadable.

        Returns
        -------
        DataFrame
            Columns agent, tasks (asked), not_asked, failed, truncated, unreadable (moves).
        """
        import pandas as pd

        table, n_agents = self.traces.moves_table, len(self.traces.agent_names)
        pairs = np.unique(table.task * max(n_agents, 1) + table.agent)
        asked = np.bincount(pairs % max(n_agents, 1), minlength=n_agents)[:n_agents]
        columns: dict[str, Any] = {
            "agent": list(self.traces.agent_names),
            "tasks": asked,
            "not_asked": len(self.traces) - asked,
        }
        for name in STATES[1:]:
            hit = table.status == STATUSES.index(name)
            columns[name] = np.bincount(table.agent[hit], minlength=n_agents)
        return pd.DataFrame(columns)

    def locations(self) -> pd.DataFrame:
        """Return one row for every irregular or unread move: where it stands and what is the matter.

        Returns
        -------
        DataFrame
            Columns task, agent, round, move (its number within the task), type, problem.
        """
        import pandas as pd

        table = self.traces.moves_table
        first = np.searchsorted(table.task, np.arange(len(self.traces)))
        flags = [(name, table.status == STATUSES.index(name)) for name in STATES[1:]]
        flags += [(name, table.irregular & bit > 0) for name, bit in IRREGULARITIES.items()]
        rows = [(i, order) for order, (_, hit) in enumerate(flags) for i in np.flatnonzero(hit)]
        rows.sort()
        moves = np.array([i for i, _ in rows], np.int64)
        return pd.DataFrame(
            {
                "task": self.traces.task_ids[table.task[moves]],
                "agent": [self.traces.agent_names[a] for a in table.agent[moves]],
                "round": table.round[moves],
                "move": moves - first[table.task[moves]],
                "type": [TYPES[t] for t in table.type[moves]],
                "problem": [flags[order][0] for _, order in rows],
            }
        )
