"""Data frames at the edge: long tables of moves, wide tables of votes, Parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.assembly import RawMoves, assemble
from bda.errors import TraceError
from bda.labels import candidate_positions
from bda.names import Name, Names, is_missing, plain_name
from bda.resolution import STATUSES, TYPES
from bda.traces import Traces

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["from_frame", "from_votes", "read_parquet", "to_frame", "write_parquet"]

SYNONYMS = {"agent": ("agent", "worker"), "answer": ("answer", "label")}


def from_frame(
    frame: Any,
    gold: Any,
    classes: Sequence[Name] | None,
    candidates: Mapping[Name, Sequence[Name]] | None,
    duplicates: str,
) -> Traces:
    """Build traces from a long table; see `Traces.from_frame`."""
    import pandas as pd

    frame = _as_pandas(frame)
    columns = {name: _column(frame, name) for name in ("task", "agent", "answer")}
    task_ids, task = _coded(frame[columns["task"]], "task")
    moves = frame[columns["agent"]].notna().to_numpy()
    rows, kept = frame[moves], task[moves]
    agents = Names("agent")
    agent = _into(agents, rows[columns["agent"]], "agent")
    target = _into(agents, rows["target"], "target") if "target" in frame else np.full(len(rows), -1, np.int32)
    table = Names("classes")
    answer = _into(table, rows[columns["answer"]], "answer")
    wider = _wider_classes(frame[columns["answer"]], classes)
    for name in wider or ():
        table.add(plain_name(name, "classes"))
    inside, inside_gold = _task_values(frame, task, len(task_ids))
    offered = _offered(task_ids, candidates, inside, table)
    names: Names | list[Name] = table
    if wider is not None:
        names, recode = _given_order(table, wider)
        answer = np.where(answer >= 0, recode[answer], -1)
        offered = [recode[codes] for codes in offered]
    sizes = np.array([len(codes) for codes in offered], np.int64)
    raw = RawMoves(
        task=kept,
        agent=agent,
        round=_whole(rows, "round"),
        type=_choice(rows, "type", TYPES, "propose"),
        answer=answer.astype(np.int32),
        target=target,
        status=_choice(rows, "status", STATUSES, "ok"),
        frozen=rows["frozen"].fillna(False).astype(bool).to_numpy() if "frozen" in frame else np.zeros(len(rows), bool),
        confidence=pd.to_numeric(rows["confidence"]).to_numpy(float).copy() if "confidence" in frame else None,
    )
    if raw.confidence is not None and np.isnan(raw.confidence).all():
        raw.confidence = None
    traces = assemble(
        task_ids,
        agents,
        names,
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate(offered).astype(np.int32) if offered else np.zeros(0, np.int32),
        np.full(len(task_ids), -1, np.int32),
        inside["meta"],
        raw,
        duplicates,
    )
    _check_answers(traces)
    if inside_gold:
        traces = traces.with_gold(inside_gold)
    return traces if gold is None else traces.with_gold(gold)


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


def to_frame(traces: Traces) -> pd.DataFrame:
    """Return one row a move; see `Traces.to_frame`."""
    import pandas as pd

    table = traces.moves_table
    class_names = np.array([*traces.classes, None], object)
    agent_names = np.array([*traces.agent_names, None], object)
    resolved = class_names[table.resolved]
    frame = pd.DataFrame(
        {
            "task": traces.task_ids[table.task],
            "agent": agent_names[table.agent],
            "round": table.round,
            "type": np.array(TYPES, object)[table.type],
            "answer": class_names[table.answer],
            "target": agent_names[table.target],
            "status": np.array(STATUSES, object)[table.status],
            "frozen": table.frozen,
            "endorses": np.where(table.kind == 1, resolved, None),
            "rejects": np.where(table.kind == -1, resolved, None),
            "gold": class_names[traces.gold[table.task]],
        }
    )
    if table.confidence is not None:
        frame["confidence"] = table.confidence
    return frame.infer_objects()


def write_parquet(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Write one row a move and one for every task without moves; see `Traces.write_parquet`."""
    import pandas as pd

    frame = to_frame(traces).drop(columns=["endorses", "rejects"])
    if traces.is_view:
        table = traces.moves_table
        moved = (table.kind != 0) & (table.type > 0)
        class_names = np.array([*traces.classes, None], object)
        frame["answer"] = np.where(moved, class_names[table.resolved], frame["answer"])
        frame["frozen"] |= moved & (table.kind == 1)
    silent = np.setdiff1d(np.arange(len(traces)), traces.moves_table.task)
    gold = np.array([*traces.classes, None], object)[traces.gold]
    empty = pd.DataFrame({"task": traces.task_ids[silent], "gold": gold[silent]}).reindex(columns=frame.columns)
    empty = empty.astype({"round": "int64", "frozen": "bool"}, errors="ignore").fillna({"round": 0, "frozen": False})
    positions = np.concatenate([traces.moves_table.task, silent])
    frame = pd.concat([frame, empty], ignore_index=True) if len(silent) else frame
    offered = [
        json.dumps([traces.classes[c] for c in part], ensure_ascii=False)
        for part in np.split(traces.candidate_class, traces.candidate_start[1:-1])
    ]
    frame["candidates"] = np.array(offered, object)[positions]
    if traces.meta is not None:
        meta = np.array([json.dumps(dict(m), ensure_ascii=False) for m in traces.meta], object)
        frame["meta"] = meta[positions]
    frame = frame.iloc[np.argsort(positions, kind="stable")].reset_index(drop=True)
    frame = frame.astype({"round": "int64", "frozen": "bool"})
    _pyarrow()
    frame.to_parquet(path, engine="pyarrow", index=False)


def read_parquet(path: str | os.PathLike[str]) -> Traces:
    """Read what `write_parquet` wrote; see `Traces.read_parquet`."""
    import pandas as pd

    _pyarrow()
    return from_frame(pd.read_parquet(path, engine="pyarrow"), None, None, None, "keep")


def _pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as fault:
        raise ImportError("Parquet needs pyarrow: pip install 'steelyard[parquet]'") from fault


def _as_pandas(frame: Any) -> pd.DataFrame:
    import pandas as pd

    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "to_pandas"):
        return frame.to_pandas()  # type: ignore[no-any-return]
    return pd.DataFrame(frame)


def _column(frame: pd.DataFrame, name: str) -> str:
    for known in SYNONYMS.get(name, (name,)):
        if known in frame:
            return known
    raise TraceError(
        "lacks a column", field="columns", value=list(frame.columns),
        remedy=f"add {' or '.join(repr(n) for n in SYNONYMS.get(name, (name,)))}",
    )  # fmt: skip


def _coded(column: pd.Series, field: str) -> tuple[list[Name], NDArray[np.int64]]:
    """Return the names in a column in order of first appearance, and every row's code."""
    import pandas as pd

    codes, values = pd.factorize(column)
    missing = np.flatnonzero(codes < 0)
    if len(missing):
        raise TraceError("is missing", where=f"row {missing[0]}", field=field, value=None, remedy="name every row's task")
    table = Names(field)
    for value in values:
        table.add(plain_name(value, field))
    if len(table) < len(values):
        raise TraceError("names one thing twice, as number and text alike", field=field, value=list(values)[:5])
    return list(table.code), codes.astype(np.int64)


def _into(table: Names, column: pd.Series, field: str) -> NDArray[np.int32]:
    """Code a column's names into `table`; -1 where missing."""
    import pandas as pd

    codes, values = pd.factorize(column)
    first = {int(code): row for row, code in reversed(list(enumerate(codes[:1])))}
    known = np.array([table.add(plain_name(v, field, _row(column, codes, i, first))) for i, v in enumerate(values)], np.int32)
    return np.append(known, np.int32(-1))[codes].astype(np.int32)


def _row(column: pd.Series, codes: NDArray[Any], code: int, first: dict[int, int]) -> str:
    return f"column {column.name!r}"


def _wider_classes(column: pd.Series, classes: Sequence[Name] | None) -> list[Name] | None:
    if classes is not None:
        return [plain_name(name, "classes") for name in classes]
    if str(column.dtype) == "category":
        return [plain_name(name, "classes") for name in column.cat.categories]
    return None


def _given_order(table: Names, wider: list[Name]) -> tuple[list[Name], NDArray[np.int32]]:
    """Return the user's order of classes and the code that each seen class has in it."""
    position = {name: i for i, name in enumerate(wider)}
    extra = [name for name in table.code if name not in position]
    if extra:
        raise TraceError(
            "is not among the classes", field="answer", value=extra[0], remedy=f"classes are {wider[:8]}"
        )
    return wider, np.array([position[name] for name in table.code], np.int32)


def _task_values(
    frame: pd.DataFrame, task: NDArray[np.int64], n_tasks: int
) -> tuple[dict[str, Any], dict[Name, Any]]:
    """Return what each task carries in columns candidates, meta and gold; rows of a task must agree."""
    found: dict[str, Any] = {"candidates": None, "meta": None}
    first = np.full(n_tasks, -1)
    first[task[::-1]] = np.arange(len(task))[::-1]
    if "candidates" in frame:
        found["candidates"] = [_parsed(v) for v in frame["candidates"].iloc[first]]
    if "meta" in frame:
        found["meta"] = [MappingProxyType(dict(_parsed(v) or {})) for v in frame["meta"].iloc[first]]
    gold: dict[Name, Any] = {}
    if "gold" in frame:
        column = frame["gold"].to_list()
        names = frame["task"].to_list()
        for row, (name, label) in enumerate(zip(names, column, strict=True)):
            if is_missing(label):
                continue
            if gold.setdefault(name, label) != label:
                raise TraceError(
                    f"differs from {gold[name]!r} in an earlier row of task {name!r}",
                    where=f"row {row}", field="gold", value=label, remedy="give a task one gold",
                )  # fmt: skip
    return found, gold


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        return json.loads(value)
    return None if not isinstance(value, (list, tuple, np.ndarray, Mapping)) else value


def _offered(
    task_ids: list[Name],
    candidates: Mapping[Name, Sequence[Name]] | None,
    inside: dict[str, Any],
    table: Names,
) -> list[NDArray[np.int32]]:
    """Return the class codes that every task offers."""
    lists = inside["candidates"]
    if candidates is not None:
        missing = [name for name in task_ids if name not in candidates]
        if missing:
            raise TraceError("has no entry in candidates", field="task", value=missing[0], remedy="list every task")
        lists = [candidates[name] for name in task_ids]
    if lists is None:
        if len(table) < 2 and task_ids:
            raise TraceError(
                "are fewer than two classes", field="classes", value=list(table.code),
                remedy="pass classes= with every class there is",
            )  # fmt: skip
        every = np.arange(len(table), dtype=np.int32)
        order = table.sorted()[1]
        return [every[np.argsort(order)]] * len(task_ids)
    offered = []
    for name, listed in zip(task_ids, lists, strict=True):
        codes = [table.add(plain_name(c, "candidates", f"task {name!r}")) for c in listed or ()]
        if len(set(codes)) < 2 or len(set(codes)) < len(codes):
            raise TraceError(
                "does not list two or more different answers", where=f"task {name!r}", field="candidates",
                value=list(listed or ()), remedy="list at least two, each once",
            )  # fmt: skip
        offered.append(np.array(codes, np.int32))
    return offered


def _check_answers(traces: Traces) -> None:
    table = traces.moves_table
    stated = np.flatnonzero((table.answer >= 0) & (table.status == 0))
    outside = stated[candidate_positions(traces, table.task[stated], table.answer[stated]) < 0]
    if len(outside):
        i = outside[0]
        raise TraceError(
            "is not a candidate of its task",
            where=f"task {traces.task_ids[table.task[i]]!r}, agent {traces.agent_names[table.agent[i]]!r}",
            field="answer",
            value=traces.classes[table.answer[i]],
            remedy="leave answers that could not be read empty, or give them a status",
        )


def _whole(rows: pd.DataFrame, name: str) -> NDArray[np.int64]:
    import pandas as pd

    if name not in rows:
        return np.zeros(len(rows), np.int64)
    values = pd.to_numeric(rows[name], errors="coerce").to_numpy(float)
    bad = np.flatnonzero(~(values >= 0) | (values != np.floor(values)))
    if len(bad):
        raise TraceError(
            "is not a round", where=f"row {rows.index[bad[0]]}", field=name, value=rows[name].iloc[bad[0]],
            remedy="rounds are the integers 0, 1, ...",
        )  # fmt: skip
    return values.astype(np.int64)


def _choice(rows: pd.DataFrame, name: str, options: tuple[str, ...], default: str) -> NDArray[np.int8]:
    if name not in rows:
        return np.full(len(rows), options.index(default), np.int8)
    column = rows[name].astype(object)
    codes = np.array([options.index(default if is_missing(v) else v) if is_missing(v) or v in options else -1 for v in column], np.int8)
    bad = np.flatnonzero(codes < 0)
    if len(bad):
        raise TraceError(
            f"is not one of {', '.join(options)}", where=f"row {rows.index[bad[0]]}", field=name,
            value=column.iloc[bad[0]], remedy="correct it",
        )  # fmt: skip
    return codes


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
            f"votes[{n}, {a}] is {wide[n, a]!r} but there are {len(names)} classes; "
            f"labels are {labels}, -1 or NaN for a missing vote"
        )
    return names, codes


def _all_numbers(values: NDArray[Any]) -> bool:
    return all(isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) for v in values)
