"""Wide tables of votes: one row a task, one column an agent, one proposal of round 0 in every filled cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bda.assembly import RawMoves, assemble
from bda.errors import TraceError
from bda.names import Name, Names, plain_name
from bda.traces import Traces

__all__ = ["from_votes"]


def from_votes(
    votes: Any,
    tasks: Sequence[Name] | None,
    agents: Sequence[Name] | None,
    classes: Sequence[Name] | int | None,
    gold: Any,
) -> Traces:
    """Build traces from a wide table of votes; see `Traces.from_votes`."""
    if hasattr(votes, "columns") and hasattr(votes, "iloc"):
        tasks = list(votes.index) if tasks is None else tasks
        agents = list(votes.columns) if agents is None else agents
        votes = votes.to_numpy(dtype=object) if len({str(t) for t in votes.dtypes}) > 1 else votes.to_numpy()
    wide = np.asarray(votes)
    if wide.ndim != 2:
        raise TraceError(
            "is not a table of tasks by agents",
            field="votes.shape",
            value=wide.shape,
            remedy="pass a two-dimensional array; a long table goes to from_frame",
        )
    n_tasks, n_agents = wide.shape
    names = _axis_names(tasks, n_tasks, "task")
    agent_table = Names("agent", _axis_names(agents, n_agents, "agent"))
    class_names, codes = _vote_codes(wide, classes)
    task, agent = np.nonzero(codes >= 0)
    zeros = np.zeros(len(task), np.int8)
    raw = RawMoves(
        task=task,
        agent=agent.astype(np.int32),
        round=zeros.astype(np.int64),
        type=zeros,
        answer=codes[task, agent].astype(np.int32),
        target=np.full(len(task), -1, np.int32),
        status=zeros,
        frozen=zeros.astype(bool),
        confidence=None,
    )
    k = len(class_names)
    traces = assemble(
        names,
        agent_table,
        class_names,
        np.arange(n_tasks + 1) * k,
        np.tile(np.arange(k, dtype=np.int32), n_tasks),
        np.full(n_tasks, -1, np.int32),
        None,
        raw,
    )
    return traces if gold is None else traces.with_gold(gold)


def _axis_names(names: Sequence[Name] | None, n: int, field: str) -> list[Name]:
    if names is None:
        return list(range(n))
    plain = [plain_name(name, field) for name in names]
    if len(plain) != n or len(set(plain)) != n:
        raise TraceError(
            f"are {len(plain)} names, {len(set(plain))} of them different, for {n} of the table",
            field=f"{field}s", value=plain[:5], remedy="give each its own name",
        )  # fmt: skip
    return plain


def _vote_codes(wide: NDArray[Any], classes: Sequence[Name] | int | None) -> tuple[list[Name], NDArray[np.int64]]:
    """Return class names and the code of every vote, -1 where missing."""
    import pandas as pd

    missing = pd.isna(wide)
    if wide.dtype.kind in "iuf" or (wide.dtype.kind == "O" and _all_numbers(wide[~missing])):
        missing |= np.where(missing, False, wide == -1).astype(bool)
    given = list(range(classes)) if isinstance(classes, (int, np.integer)) else classes
    votes = wide[~missing]
    codes = np.full(wide.shape, -1, np.int64)
    if given is not None:
        names = [plain_name(name, "classes") for name in given]
        as_codes = votes.dtype.kind in "iuf" and any(isinstance(name, str) for name in names)
        position: dict[Any, int] = {i if as_codes else name: i for i, name in enumerate(names)}
    else:
        seen = Names("votes", (plain_name(v, "votes") for v in pd.unique(votes)))
        names = list(seen.sorted()[0])
        position = {name: i for i, name in enumerate(names)}
    if len(names) < 2 and len(wide):
        raise TraceError(
            "are fewer than two classes", field="classes", value=names,
            remedy="pass classes= with every class there is",
        )  # fmt: skip
    coded, values = pd.factorize(votes.ravel() if votes.dtype.kind != "O" else np.array(votes, object))
    table = np.array([position.get(plain_name(v, "votes"), -1) for v in values], np.int64)
    codes[~missing] = table[coded] if len(values) else 0
    wrong = np.argwhere(~missing & (codes < 0))
    if len(wrong):
        n, a = wrong[0]
        labels = f"0..{len(names) - 1}" if list(position) == list(range(len(names))) else ", ".join(map(repr, position))
        raise TraceError(
            f"votes[{n}, {a}] is {plain_name(wide[n, a], 'votes')!r} but there are {len(names)} classes; "
            f"labels are {labels}, -1 or NaN for a missing vote"
        )
    return names, codes


def _all_numbers(values: NDArray[Any]) -> bool:
    return all(isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) for v in values)
