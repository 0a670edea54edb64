"""Resolution: which answer every typed move endorses or rejects.

Moves of one round are simultaneous across agents. An agent's *standing answer* in round r is its last
endorsed answer in rounds < r; an agent's own moves within a round keep file order. A challenge rejects its
explicit answer, else the target's standing answer; a concession endorses the target's standing answer, else
its explicit one, and a frozen concession the explicit one first (BDA section 3, as settled in docs/model.md).

All columns are sorted by task; within a task they keep file order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["IRREGULARITIES", "STATUSES", "TYPES", "Resolved", "last_endorsements", "resolve"]

TYPES = ("propose", "concede", "challenge", "abstain")
PROPOSE, CONCEDE, CHALLENGE, ABSTAIN = range(4)
STATUSES = ("ok", "failed", "truncated", "unreadable")

IRREGULARITIES = {
    "several_moves_in_a_round": 1,
    "inconsistent_concession": 2,
    "self_target": 4,
    "target_without_answer": 8,
    "target_on_proposal": 16,
    "no_target": 32,
    "challenge_of_another_answer": 64,
    "answer_on_abstention": 128,
    "target_not_in_trace": 256,
}

Ints = NDArray[np.integer]


@dataclass(frozen=True)
class Resolved:
    """What every move says once targets are looked up.

    Attributes
    ----------
    kind : int8 array, shape (n_moves,)
        1 the move endorses `answer`, -1 it rejects `answer`, 0 it carries no information.
    answer : int32 array, shape (n_moves,)
        Class code; -1 where `kind` is 0.
    irregular : int16 array, shape (n_moves,)
        Bits of `IRREGULARITIES`.
    """

    kind: NDArray[np.int8]
    answer: NDArray[np.int32]
    irregular: NDArray[np.int16]


def resolve(
    task: Ints,
    agent: Ints,
    round_: Ints,
    type_: Ints,
    answer: Ints,
    target: Ints,
    status: Ints,
    frozen: NDArray[np.bool_],
) -> Resolved:
    """Resolve moves against the answers that stood before their round.

    Parameters
    ----------
    task, agent, round_ : integer arrays, shape (n_moves,)
        `task` is non-decreasing.
    type_, status : integer arrays, shape (n_moves,)
        Positions in `TYPES` and `STATUSES`.
    answer, target : integer arrays, shape (n_moves,)
        Explicit class and target codes, -1 where absent.
    frozen : bool array, shape (n_moves,)
        Concessions whose stated answer holds.

    Returns
    -------
    Resolved
        O(n_moves log n_moves); one vectorised step for each round that has a targeted move.

    Examples
    --------
    One agent proposes class 0, the other challenges it a round later.

    >>> import numpy as np
    >>> two = np.array([-1, -1])
    >>> found = resolve(np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), np.array([0, 2]),
    ...                 np.array([0, -1]), np.array([-1, 0]), np.zeros(2, int), np.zeros(2, bool))
    >>> found.kind.tolist(), found.answer.tolist()
    ([1, -1], [0, 0])
    """
    n = len(task)
    said = np.where(status == 0, answer, -1).astype(np.int32)
    proposal, concession = type_ == PROPOSE, type_ == CONCEDE
    targeted = (concession | (type_ == CHALLENGE)) & (status == 0)
    holder, pair, target_pair, n_pairs = _pairs(task, agent, target)
    itself = targeted & (target == agent)

    kind = np.zeros(n, np.int8)
    found = np.full(n, -1, np.int32)
    found[proposal] = said[proposal]
    kind[proposal & (said >= 0)] = 1

    irregular = np.zeros(n, np.int16)
    standing = np.full(n_pairs, -1, np.int32)
    by_round = np.argsort(round_, kind="stable")
    rounds = round_[by_round]
    done = 0
    live = targeted & ~itself
    for r in np.unique(round_[live]):
        start, stop = np.searchsorted(rounds, [r, r + 1])
        _settle(standing, pair, found, kind, by_round[done:start])
        done = start
        moves = by_round[start:stop]
        moves = moves[live[moves]]
        reached = target_pair[moves]
        stands = np.where(reached >= 0, standing[reached], -1)
        explicit = said[moves]
        concedes = concession[moves]
        keeps = ~concedes | frozen[moves]
        chosen = np.where(keeps, np.where(explicit >= 0, explicit, stands), np.where(stands >= 0, stands, explicit))
        found[moves] = chosen
        kind[moves] = np.where(chosen < 0, 0, np.where(concedes, 1, -1))
        differs = (explicit >= 0) & (stands >= 0) & (explicit != stands)
        _mark(irregular, "inconsistent_concession", moves[concedes & differs])
        _mark(irregular, "challenge_of_another_answer", moves[~concedes & differs])
        _mark(irregular, "target_without_answer", moves[(target[moves] >= 0) & (chosen < 0)])

    _mark(irregular, "self_target", itself)
    _mark(irregular, "no_target", targeted & (target < 0))
    _mark(irregular, "target_not_in_trace", targeted & (target >= 0) & (target_pair < 0))
    _mark(irregular, "target_on_proposal", proposal & (target >= 0))
    _mark(irregular, "answer_on_abstention", (type_ == ABSTAIN) & (answer >= 0))
    _mark(irregular, "several_moves_in_a_round", _repeated(holder, pair, round_))
    return Resolved(kind, found, irregular)


def last_endorsements(task: Ints, agent: Ints, round_: Ints, kind: Ints) -> NDArray[np.int64]:
    """Return the positions of each agent's last endorsement of each task, in order of (task, agent)."""
    moves = np.flatnonzero(kind == 1)
    order = moves[np.lexsort((moves, round_[moves], agent[moves], task[moves]))]
    if not len(order):
        return order
    last = np.empty(len(order), bool)
    last[-1] = True
    last[:-1] = (task[order[1:]] != task[order[:-1]]) | (agent[order[1:]] != agent[order[:-1]])
    return order[last]


def _pairs(task: Ints, agent: Ints, target: Ints) -> tuple[Ints, Ints, Ints, int]:
    """Return numbers of the (task, agent) pairs that moved, and each target's pair, -1 if it never moved there."""
    width = int(max(agent.max(initial=0), target.max(initial=0))) + 1
    key = task.astype(np.int64) * width + agent
    pairs, pair = np.unique(key, return_inverse=True)
    wanted = task.astype(np.int64) * width + target
    at = np.searchsorted(pairs, wanted)
    at = np.minimum(at, max(len(pairs) - 1, 0))
    hit = (target >= 0) & (pairs[at] == wanted) if len(pairs) else np.zeros(len(task), bool)
    return key, pair.reshape(-1), np.where(hit, at, -1), len(pairs)


def _settle(standing: Ints, pair: Ints, found: Ints, kind: Ints, moves: Ints) -> None:
    """Let the endorsements among `moves`, in order of round and file, become the standing answers."""
    moves = moves[kind[moves] == 1]
    standing[pair[moves]] = found[moves]  # the last of repeated indices wins, as NumPy documents


def _repeated(holder: Ints, pair: Ints, round_: Ints) -> NDArray[np.int64]:
    """Positions of an agent's second and later moves in one round of one task."""
    order = np.lexsort((np.arange(len(pair)), round_, pair))
    same = (pair[order][1:] == pair[order][:-1]) & (round_[order][1:] == round_[order][:-1])
    found: NDArray[np.int64] = order[1:][same]
    return found


def _mark(irregular: NDArray[np.int16], name: str, where: NDArray[np.bool_] | Ints) -> None:
    irregular[where] |= IRREGULARITIES[name]
