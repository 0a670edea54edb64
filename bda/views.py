"""Views: some of the moves, taken after resolution, so that what is left keeps its meaning.

An answer that a removed move set still stands where a kept move used it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bda.columns import TraceColumns
from bda.errors import TraceError
from bda.names import Name, listed, plain_name
from bda.resolution import TYPES, last_endorsements

__all__ = ["TraceViews"]


@dataclass(frozen=True, eq=False, repr=False)
class TraceViews(TraceColumns):
    """The views of `Traces`."""

    def round0(self) -> Self:
        """Return the moves of round 0 alone.

        Returns
        -------
        Traces
            A view: later rounds are gone, resolution stays.

        Examples
        --------
        >>> from bda import Traces
        >>> len(Traces.from_votes([[0, 1]]).round0().moves_table)
        2
        """
        return self._keep(self.moves_table.round == 0)

    def moves(self, types: str | Iterable[str]) -> Self:
        """Return the moves of some types alone.

        Parameters
        ----------
        types : str or iterable of str
            Among propose, concede, challenge, abstain.

        Returns
        -------
        Traces
            A view: an answer that a removed move set still stands where it was used.

        Raises
        ------
        TraceError
            For a type that does not exist.

        Examples
        --------
        >>> from bda import Traces
        >>> len(Traces.from_votes([[0, 1]]).moves("challenge").moves_table)
        0
        """
        wanted = [types] if isinstance(types, str) else list(types)
        for name in wanted:
            if name not in TYPES:
                raise TraceError("is not a move type", field="types", value=name, remedy=f"use {', '.join(TYPES)}")
        return self._keep(np.isin(self.moves_table.type, [TYPES.index(name) for name in wanted]))

    def agents(self, names: Name | Iterable[Name]) -> Self:
        """Return the moves of some agents alone.

        Parameters
        ----------
        names : name, glob pattern, or iterable of these
            Exact names first; what is not a name is matched as a shell pattern (`*/ab`).

        Returns
        -------
        Traces
            A view with those agents only.

        Raises
        ------
        TraceError
            If a name or pattern matches nobody.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1]], agents=["ada", "cox"]).agents("a*").agent_names
        ('ada',)
        """
        wanted = [names] if isinstance(names, (str, int, np.generic)) else list(names)
        code = {name: i for i, name in enumerate(self.agent_names)}
        chosen = sorted({i for name in wanted for i in self._matching(plain_name(name, "agents"), code)})
        recode = np.full(len(self.agent_names) + 1, -1, np.int32)
        recode[chosen] = np.arange(len(chosen), dtype=np.int32)
        table = self.moves_table
        kept = recode[table.agent] >= 0
        moves = table.take(kept, agent=recode[table.agent[kept]], target=recode[table.target[kept]])
        return replace(self, agent_names=tuple(self.agent_names[i] for i in chosen), moves_table=moves, is_view=True)

    def last_vote(self) -> Self:
        """Return each agent's standing answer after the last round, as one proposal in round 0.

        A later unreadable move does not erase it; an agent that never endorsed has none.

        Returns
        -------
        Traces
            A view with at most one move per agent and task.

        Examples
        --------
        >>> from bda import Traces
        >>> traces = Traces.from_records([{"task": 1, "candidates": ["a", "b"], "moves": [
        ...     {"agent": "x", "round": 0, "type": "propose", "answer": "a"},
        ...     {"agent": "x", "round": 1, "type": "propose", "answer": "b"}]}])
        >>> traces.last_vote().to_frame()["answer"].tolist()
        ['b']
        """
        table = self.moves_table
        last = last_endorsements(table.task, table.agent, table.round, table.kind)
        zeros = np.zeros(len(last), np.int8)
        moves = table.take(
            last,
            round=zeros.astype(np.int64),
            type=zeros,
            answer=table.resolved[last],
            target=np.full(len(last), -1, np.int32),
            status=zeros,
            frozen=zeros.astype(bool),
            irregular=zeros.astype(np.int16),
        )
        return replace(self, moves_table=moves, is_view=True)

    def _keep(self, kept: NDArray[np.bool_]) -> Self:
        return replace(self, moves_table=self.moves_table.take(kept), is_view=True)

    def _matching(self, name: Name, code: dict[Name, int]) -> list[int]:
        if name in code:
            return [code[name]]
        found = []
        if isinstance(name, str):
            found = [i for i, agent in enumerate(self.agent_names) if fnmatch.fnmatchcase(str(agent), name)]
        if not found:
            remedy = f"agents are {listed(self.agent_names)}"
            raise TraceError("matches no agent", field="agents", value=name, remedy=remedy)
        return found
