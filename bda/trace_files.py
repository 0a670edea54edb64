"""Traces as JSON lines: one task a line, read and written as a stream.

{"task": "q17", "candidates": ["A", "B"], "gold": "B", "meta": {"group": "q17"},
 "moves": [{"agent": "s1", "round": 0, "type": "propose", "answer": "A"},
           {"agent": "s2", "round": 1, "type": "challenge", "target": "s1"}]}
"""

from __future__ import annotations

import codecs
import gzip
import json
import math
import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

from bda.errors import TraceError
from bda.labels import offered
from bda.moves import Moves
from bda.names import Name
from bda.records import RecordReader
from bda.resolution import STATUSES, TYPES
from bda.traces import Traces
from bda.whole_files import opened_for_bytes

__all__ = ["from_records", "json_text", "read_jsonl", "record", "refuse_repeated_tasks", "write_jsonl"]

GZIP_START = b"\x1f\x8b"


def read_jsonl(path: str | os.PathLike[str], duplicates: str = "keep") -> Traces:
    """Read a file of JSON lines; see `Traces.read_jsonl`."""
    reader = RecordReader(str(path))
    for line, text in _lines(Path(path)):
        where = f"{path}:{line}"
        reader.add(_parsed(text, where), where)
    return reader.finish(duplicates)


def from_records(records: Iterable[Mapping[str, Any]], duplicates: str = "keep") -> Traces:
    """Read dictionaries in the JSON form; see `Traces.from_records`."""
    reader = RecordReader("records")
    for i, task in enumerate(records):
        reader.add(task, f"records[{i}]")
    return reader.finish(duplicates)


def write_jsonl(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Write JSON lines; see `Traces.write_jsonl`."""
    with opened_for_bytes(path) as file:
        _write(traces, file)


def record(traces: Traces, n: int) -> dict[str, Any]:
    """Return task number n in the JSON form; of a view, as resolved."""
    return _record(traces, _written(traces), n)


def refuse_repeated_tasks(traces: Traces) -> None:
    """Refuse to write a bootstrap sample: its tasks could not be told apart when read."""
    name, times = next(iter(Counter(traces.task_ids).most_common(1)), ("", 1))
    if times > 1:
        raise TraceError(
            f"stands {times} times", field="task", value=name, remedy="write the traces that the sample was drawn from"
        )


def _write(traces: Traces, file: IO[bytes] | gzip.GzipFile) -> None:
    refuse_repeated_tasks(traces)
    table = _written(traces)
    for n in range(len(traces)):
        task = _record(traces, table, n)
        file.write(json_text(task, task["task"], task.get("meta")).encode() + b"\n")


def _written(traces: Traces) -> Moves:
    return traces.moves_table.as_resolved() if traces.is_view else traces.moves_table


def _record(traces: Traces, table: Moves, n: int) -> dict[str, Any]:
    start, stop = table.task.searchsorted([n, n + 1])
    gold = traces.gold[n]
    task: dict[str, Any] = {
        "task": traces.task_ids[n],
        "candidates": offered(traces, n),
        "gold": None if gold < 0 else traces.classes[gold],
    }
    if traces.meta is not None and traces.meta[n]:
        task["meta"] = dict(traces.meta[n])
    task["moves"] = [_move(table, i, traces.classes, traces.agent_names) for i in range(start, stop)]
    return task


def _move(table: Moves, i: int, classes: tuple[Name, ...], agents: tuple[Name, ...]) -> dict[str, Any]:
    type_, answer = TYPES[table.type[i]], table.answer[i]
    move: dict[str, Any] = {"agent": agents[table.agent[i]], "round": int(table.round[i]), "type": type_}
    if answer >= 0 or type_ == "propose":
        move["answer"] = None if answer < 0 else classes[answer]
    if table.target[i] >= 0:
        move["target"] = agents[table.target[i]]
    if table.confidence is not None and not math.isnan(table.confidence[i]):
        move["confidence"] = float(table.confidence[i])
    if table.status[i]:
        move["status"] = STATUSES[table.status[i]]
    if table.frozen[i]:
        move["frozen"] = True
    return move


def json_text(value: Any, task: Name, meta: Any) -> str:
    """Return JSON text of what is written about a task; only its meta may hold what JSON cannot."""

    def dumped(ascii_only: bool) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=False, default=_unwrapped)

    try:
        text = dumped(ascii_only=False)
    except (TypeError, ValueError) as fault:
        raise TraceError(
            f"cannot be written as JSON: {fault}",
            where=f"task {task!r}",
            field="meta",
            value=meta,
            remedy="keep text, finite numbers, true, false, null, lists and objects in meta",
        ) from None
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair has no UTF-8 form, but a JSON escape
        return dumped(ascii_only=True)
    return text


def _unwrapped(value: Any) -> Any:
    """Return what a NumPy scalar or array in meta holds."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON type")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line that is not blank."""
    number = 0
    try:
        with _opened(path) as file:
            for number, line in enumerate(file, 1):
                text = (line.removeprefix(codecs.BOM_UTF8) if number == 1 else line).decode()
                if text.strip(" \t\r\n"):
                    yield number, text
    except UnicodeDecodeError as fault:
        raise TraceError(
            f"is not UTF-8 text: {fault.reason}",
            where=f"{path}:{number}",
            field="byte",
            value=fault.object[fault.start : fault.start + 1],
            remedy="save the file as UTF-8",
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise TraceError(
            f"is not a whole gzip file: {fault}", where=f"{path}:{number + 1}", remedy="copy the file again"
        ) from None


def _opened(path: Path) -> IO[bytes]:
    """Open a file by what it holds: a gzip file may have lost its suffix, and a plain one gained it."""
    with path.open("rb") as file:
        start = file.read(2)
    if path.suffix == ".gz" and not start:
        raise EOFError("it is empty")
    return cast(IO[bytes], gzip.open(path)) if start == GZIP_START else path.open("rb")


def _parsed(text: str, where: str) -> Any:
    """Return the object on one line."""
    try:
        return json.loads(text.rstrip(), object_pairs_hook=_unique_keys)  # or the column of a cut line is 1
    except _RepeatedKey as fault:
        raise TraceError(
            "stands twice in one object", where=where, field="key", value=str(fault), remedy="keep one"
        ) from None
    except json.JSONDecodeError as fault:
        problem = f"is not JSON: {fault.msg} at column {fault.colno}"
    except (ValueError, RecursionError) as fault:  # a number of thousands of digits, brackets without end
        problem = f"cannot be read: {fault}"
    raise TraceError(problem, where=where, field="line", value=text.strip(), remedy="write one JSON object a line")


class _RepeatedKey(Exception):
    """A JSON object with one key twice."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _RepeatedKey(next(key for key, count in counts.items() if count > 1))
    return found
