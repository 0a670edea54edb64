"""Splits without leaks: outer folds over groups, draws of labels, inner folds (BDA appendix D.1).

A draw depends on the seed, the fold and the names of tasks alone: not on arms, the order of a file, or the host.
Outer folds never look at a label; within an outer-training part the labels are drawn by largest remainder on its
class frequencies; the plain draw of `protocol="draw"` looks at no label but for knowing which tasks have one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.names import Name, is_missing, ordered, plain_name
from bda.traces import Traces

__all__ = ["PROTOCOLS", "Split", "group_names", "inner_folds", "make_splits"]

PROTOCOLS = ("nested", "draw")
OUTER_FOLDS = 5
INNER_FOLDS = 5
OUTER, LABELS, INNER = range(3)  # purposes of a random stream

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Split:
    """One fit and what it is scored on.

    Attributes
    ----------
    seed, fold : int
        Which draw; fold is 0 under `protocol="draw"`.
    labelled : int64 array
        Positions of the tasks whose labels are used, one a group.
    inner : int64 array, shape (n_labelled,)
        Inner fold of each of them.
    test : int64 array
        Positions of the tasks that are scored; they share no group with `labelled`.
    """

    seed: int
    fold: int
    labelled: Ints
    inner: Ints
    test: Ints


def make_splits(
    traces: Traces, gold: NDArray[np.int32], groups: list[Name], n_labels: int, seeds: tuple[int, ...], protocol: str
) -> list[Split]:
    """Return every split of a comparison.

    Parameters
    ----------
    traces : Traces
        The tasks.
    gold : int32 array, shape (n_tasks,)
        Class codes; tasks with -1 are neither drawn nor scored.
    groups : list of names, length n_tasks
        The question each task belongs to.
    n_labels : int
        Labelled groups per draw.
    seeds : tuple of int
        One pass each.
    protocol : {"nested", "draw"}
        Outer 5-fold, or one draw with all other groups scored.

    Returns
    -------
    list of Split
        Ordered by seed, then fold.

    Raises
    ------
    TraceError
        If there are too few labelled groups, naming the counts.
    """
    if protocol not in PROTOCOLS:
        raise TraceError("is not a protocol", field="protocol", value=protocol, remedy=f"use {', '.join(PROTOCOLS)}")
    members: dict[Name, list[int]] = {}
    for n in np.array(ordered(traces.task_ids.tolist()), np.int64):
        if gold[n] >= 0:
            members.setdefault(groups[n], []).append(int(n))
    names = [list(members)[i] for i in ordered(list(members))]
    splits = []
    for seed in seeds:
        folds = _outer_folds(names, members, seed) if protocol == "nested" else [np.arange(0)]
        for fold, held_out in enumerate(folds):
            pool = np.setdiff1d(np.arange(len(names)), held_out)
            chosen = _draw(traces, gold, names, members, pool, n_labels, (seed, fold), protocol)
            labelled = np.array([n for _, n in chosen], np.int64)
            drawn = {group for group, _ in chosen}
            tested = held_out if protocol == "nested" else [g for g in pool if names[g] not in drawn]
            test = np.sort(np.array([n for g in tested for n in members[names[g]]], np.int64))
            if not len(test):
                raise TraceError(
                    f"leaves nothing to score: {len(names)} labelled groups, {n_labels} drawn",
                    field="n_labels", value=n_labels, remedy="draw fewer labels or pass more labelled tasks",
                )  # fmt: skip
            inner = inner_folds(gold[labelled], traces, np.random.default_rng([INNER, seed, fold]))
            splits.append(Split(seed, fold, labelled, inner, test))
    return splits


def group_names(traces: Traces, groups: object = None) -> list[Name]:
    """Return the group of every task.

    Parameters
    ----------
    traces : Traces
        The tasks.
    groups : None, str or sequence, optional
        None takes `meta.group`; a string names another key of `meta`; a sequence is aligned to the tasks. A task
        without a group is one of its own, under its own name.

    Returns
    -------
    list of names
        Length n_tasks.
    """
    if groups is None or isinstance(groups, str):
        key = groups or "group"
        meta = traces.meta or ({},) * len(traces)
        if groups is not None and not any(key in m for m in meta):
            raise TraceError("is in no task's meta", field="groups", value=key, remedy="name a key of meta")
        found = [m.get(key) for m in meta]
    else:
        found = list(groups)  # type: ignore[call-overload]
    if len(found) != len(traces):
        raise TraceError(
            f"has {len(found)} entries for {len(traces)} tasks", field="groups", value=type(groups).__name__,
            remedy="align it to the tasks",
        )  # fmt: skip
    return [
        task if is_missing(group) else plain_name(group, "group", f"task {task!r}")
        for task, group in zip(traces.task_ids, found, strict=True)
    ]


def inner_folds(gold: NDArray[np.int32], traces: Traces, rng: np.random.Generator) -> Ints:
    """Return an inner fold for every labelled task: shuffled within class, dealt round-robin.

    Parameters
    ----------
    gold : int32 array, shape (n_labelled,)
        Class codes.
    traces : Traces
        Brings class names, whose canonical order the deal follows.
    rng : Generator
        Shuffles.

    Returns
    -------
    int64 array, shape (n_labelled,)
        0..4, or 0..n_labelled - 1 if there are fewer than five.
    """
    fold = np.empty(len(gold), np.int64)
    dealt = 0
    for code in _by_name(gold, traces):
        rows = rng.permutation(np.flatnonzero(gold == code))
        fold[rows] = (dealt + np.arange(len(rows))) % min(INNER_FOLDS, len(gold))
        dealt += len(rows)
    return fold


def _outer_folds(names: list[Name], members: dict[Name, list[int]], seed: int) -> list[Ints]:
    """Deal shuffled groups to the fold with the fewest tasks so far."""
    folds: list[list[int]] = [[] for _ in range(OUTER_FOLDS)]
    if len(names) < OUTER_FOLDS:
        raise TraceError(
            f"there are {len(names)} labelled groups, fewer than {OUTER_FOLDS} outer folds",
            remedy="pass more labelled tasks",
        )
    load = np.zeros(OUTER_FOLDS, np.int64)
    for g in np.random.default_rng([OUTER, seed]).permutation(len(names)):
        light = int(load.argmin())
        folds[light].append(int(g))
        load[light] += len(members[names[g]])
    return [np.sort(np.array(fold, np.int64)) for fold in folds]


def _draw(
    traces: Traces,
    gold: NDArray[np.int32],
    names: list[Name],
    members: dict[Name, list[int]],
    pool: Ints,
    n_labels: int,
    key: tuple[int, int],
    protocol: str,
) -> list[tuple[Name, int]]:
    """Draw labelled groups and one task of each."""
    if n_labels < 1 or len(pool) < n_labels:
        raise TraceError(
            f"cannot be drawn: {len(pool)} labelled groups are available for training "
            f"({len(names)} in all, seed {key[0]}, fold {key[1]})",
            field="n_labels", value=n_labels, remedy="ask for between 1 and that many",
        )  # fmt: skip
    rng = np.random.default_rng([LABELS, *key])
    places = rng.random(len(pool))
    each = [(names[g], members[names[g]][int(u * len(members[names[g]]))]) for g, u in zip(pool, places, strict=True)]
    if protocol == "draw":
        return [each[i] for i in np.sort(rng.permutation(len(each))[:n_labels])]
    codes = gold[[n for _, n in each]]
    classes = _by_name(codes, traces)
    frequency = np.array([(codes == code).sum() for code in classes])
    quota = n_labels * frequency / frequency.sum()
    share = np.floor(quota).astype(np.int64)
    order = np.lexsort((rng.random(len(classes)), -(quota - share).round(12)))
    share[order[: n_labels - share.sum()]] += 1
    picked = [rng.permutation(np.flatnonzero(codes == code))[:size] for code, size in zip(classes, share, strict=True)]
    return [each[i] for i in np.sort(np.concatenate(picked))]


def _by_name(codes: NDArray[np.int32], traces: Traces) -> list[int]:
    """Return the class codes that occur, in canonical order of their names."""
    present = np.unique(codes).tolist()
    return [present[i] for i in ordered([traces.classes[code] for code in present])]
