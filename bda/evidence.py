"""Evidence: how often every agent endorsed and rejected every candidate, sparse.

Per task and agent, e[l] counts endorsements of candidate l and x[l] challenges rejecting it (BDA section 3,
C.5). Only touched (task, agent, candidate) cells are stored; a candidate that an agent never mentioned differs
between agents and tasks only through their totals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.labels import candidate_positions

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["VIEW_REMEDY", "Evidence", "apply_view", "collapse", "count_evidence", "is_view", "right_wrong"]

VIEWS = ("all", "round0", "last_vote")
TYPES_OF_VIEW = ("propose", "concede", "challenge")
VIEW_REMEDY = f"use {', '.join(VIEWS)}, or types of moves such as propose+concede"
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Evidence:
    """Sparse counts of informative moves.

    Attributes
    ----------
    task, agent, k, endorsed, rejected : int64 arrays, shape (n_pairs,)
        One entry per task and agent with an informative move, ordered by task, then agent: codes, K_n, and
        the totals of e and x.
    cell_pair, cell_candidate, e, x : int64 arrays, shape (n_cells,)
        One entry per pair and candidate it mentions: which pair, which position in
        `Traces.candidate_class`, and the counts.
    n_tasks, n_agents, n_candidates : int
        Sizes.
    """

    task: Ints
    agent: Ints
    k: Ints
    endorsed: Ints
    rejected: Ints
    cell_pair: Ints
    cell_candidate: Ints
    e: Ints
    x: Ints
    n_tasks: int
    n_agents: int
    n_candidates: int


def count_evidence(traces: Traces, challenge: str = "composite", view: str = "all", votes: bool = False) -> Evidence:
    """Count endorsements and rejections of a trace's informative moves; kept with the traces once counted.

    Parameters
    ----------
    traces : Traces
        Resolved moves.
    challenge : str
        "ignore" drops challenges; every other reading counts them.
    view : str
        Which moves, as for `apply_view`.
    votes : bool
        Only the last vote of each agent among these moves.

    Returns
    -------
    Evidence
        O(n_moves log n_moves).

    Examples
    --------
    >>> from bda import Traces
    >>> found = count_evidence(Traces.from_votes([[0, 1, 1]]))
    >>> found.e.tolist(), found.k.tolist()
    ([1, 1, 1], [2, 2, 2])
    """
    key = (challenge == "ignore", view, votes)
    if key not in traces.counted:
        seen = apply_view(traces, view)
        traces.counted[key] = _count(seen.last_vote() if votes else seen, challenge)
    return traces.counted[key]


def apply_view(traces: Traces, view: str) -> Traces:
    """Return all moves, those of round 0, last votes, or moves of some types.

    Parameters
    ----------
    traces : Traces
        Resolved moves.
    view : str
        "all", "round0", "last_vote", or types of moves joined by "+", such as "propose+concede".

    Returns
    -------
    Traces
        A view.

    Examples
    --------
    >>> from bda import Traces
    >>> len(apply_view(Traces.from_votes([[0, 1, 1]]), "concede+challenge").moves_table)
    0
    """
    if not is_view(view):
        raise TraceError("is not a view", field="view", value=view, remedy=VIEW_REMEDY)
    if view == "round0":
        return traces.round0()
    if view == "last_vote":
        return traces.last_vote()
    return traces if view == "all" else traces.moves(view.split("+"))


def is_view(view: Any) -> bool:
    """Return whether `apply_view` knows a view.

    Parameters
    ----------
    view : object
        What a user passed.

    Returns
    -------
    bool
        Whether it is one.

    Examples
    --------
    >>> is_view("propose+concede"), is_view("propose+abstain")
    (True, False)
    """
    return isinstance(view, str) and (view in VIEWS or all(part in TYPES_OF_VIEW for part in view.split("+")))


def _count(traces: Traces, challenge: str) -> Evidence:
    table = traces.moves_table
    used = table.kind != 0 if challenge != "ignore" else table.kind > 0
    task, agent, kind = table.task[used], table.agent[used].astype(np.int64), table.kind[used]
    candidate = candidate_positions(traces, task, table.resolved[used])
    width = max(len(traces.agent_names), 1)
    pair_key, pair = np.unique(task * width + agent, return_inverse=True)
    pair = pair.reshape(-1)
    # A candidate position is unique to its task, so (agent, candidate) identifies a cell; keep task order.
    cells, cell = np.unique(pair * max(len(traces.candidate_class), 1) + candidate, return_inverse=True)
    cell = cell.reshape(-1)
    n_pairs, n_cells = len(pair_key), len(cells)
    pair_task, pair_agent = pair_key // width, pair_key % width
    return Evidence(
        task=pair_task,
        agent=pair_agent,
        k=traces.n_candidates[pair_task],
        endorsed=np.bincount(pair[kind > 0], minlength=n_pairs),
        rejected=np.bincount(pair[kind < 0], minlength=n_pairs),
        cell_pair=cells // max(len(traces.candidate_class), 1),
        cell_candidate=cells % max(len(traces.candidate_class), 1),
        e=np.bincount(cell[kind > 0], minlength=n_cells),
        x=np.bincount(cell[kind < 0], minlength=n_cells),
        n_tasks=len(traces),
        n_agents=len(traces.agent_names),
        n_candidates=len(traces.candidate_class),
    )


def right_wrong(evidence: Evidence, gold_candidate: Ints) -> tuple[Ints, Ints]:
    """Return n+ and n- of every pair of agent and labelled task, taken at gold.

    Parameters
    ----------
    evidence : Evidence
        Counts.
    gold_candidate : int64 array, shape (n_tasks,)
        Position of the true candidate among all candidates, -1 where unlabelled.

    Returns
    -------
    right, wrong : int64 arrays, shape (n_pairs,)
        Moves that agree with gold (e[gold] + rejections of others) and that do not; 0 where unlabelled.
    """
    gold = gold_candidate[evidence.task]
    at_gold = evidence.cell_candidate == gold[evidence.cell_pair]
    pair = evidence.cell_pair[at_gold]
    e, x = np.zeros(len(evidence.task), np.int64), np.zeros(len(evidence.task), np.int64)
    e[pair], x[pair] = evidence.e[at_gold], evidence.x[at_gold]
    labelled = gold >= 0
    right = np.where(labelled, e + evidence.rejected - x, 0)
    wrong = np.where(labelled, evidence.endorsed - e + x, 0)
    return right, wrong


def collapse(*columns: NDArray[np.integer]) -> tuple[Ints, Ints]:
    """Return which rows of the columns are alike.

    Parameters
    ----------
    *columns : integer arrays, shape (n,)
        The rows' values.

    Returns
    -------
    first : int64 array, shape (n_patterns,)
        A row that shows each pattern.
    pattern : int64 array, shape (n,)
        The pattern of each row.

    Examples
    --------
    >>> first, pattern = collapse(np.array([5, 5, 7]), np.array([1, 1, 1]))
    >>> len(first), pattern.tolist()
    (2, [0, 0, 1])
    """
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        low = column.min(initial=0)
        span = int(column.max(initial=0)) - int(low) + 1
        if len(code) and int(code.max()) * span > 2**62:
            code = np.unique(code, return_inverse=True)[1].reshape(-1)
        if span > 2**31:
            column, low = np.unique(column, return_inverse=True)[1].reshape(-1), 0
            span = int(column.max(initial=0)) + 1
        code = code * span + (column - low)
    _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
    return first, pattern.reshape(-1)
