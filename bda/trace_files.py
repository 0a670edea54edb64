"""Traces as JSON lines: one task a line, read and written as a stream.

    {"task": "q17", "candidates": ["A", "B"], "gold": "B", "meta": {"group": "q17"},
     "moves": [{"agent": "s1", "round": 0, "type": "propose", "answer": "A"},
               {"agent": "s2", "round": 1, "type": "challenge", "target": "s1"}]}
"""

from __future__ import annotations

import difflib
import gzip
import json
import math
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NoReturn

import numpy as np

from bda.assembly import RawMoves, assemble
from bda.errors import TraceError, TraceWarning
from bda.names import Name, Names, plain_name
from bda.resolution import STATUSES, TYPES
from bda.traces import Traces

__all__ = ["from_records", "read_jsonl", "record", "write_jsonl"]

TASK_FIELDS = ("task", "candidates", "gold", "meta", "moves")
MOVE_FIELDS = ("agent", "round", "type", "answer", "target", "confidence", "status", "frozen")
_TASK_FIELDS, _MOVE_FIELDS = frozenset(TASK_FIELDS), frozenset(MOVE_FIELDS)
_TYPE_CODE = {name: code for code, name in enumerate(TYPES)}
_STATUS_CODE = {name: code for code, name in enumerate(STATUSES)}


def read_jsonl(path: str | os.PathLike[str], duplicates: str = "keep") -> Traces:
    """Read a file of JSON lines; see `Traces.read_jsonl`."""
    reader = _Reader()
    for line, text in _lines(Path(path)):
        where = f"{path}:{line}"
        try:
            task = json.loads(text, object_pairs_hook=_unique_keys)
        except _DuplicateKey as fault:
            raise TraceError(
                "stands twice in one object", where=where, field="key", value=str(fault), remedy="keep one"
            ) from None
        except json.JSONDecodeError as fault:
            raise TraceError(
                f"is not JSON: {fault.msg} at column {fault.colno}",
                where=where,
                field="line",
                value=text.strip(),
                remedy="write one JSON object a line",
            ) from None
        reader.add_task(task, where)
    return reader.finish(duplicates, str(path))


def from_records(records: Iterable[Mapping[str, Any]], duplicates: str = "keep") -> Traces:
    """Read dictionaries in the JSON form; see `Traces.from_records`."""
    reader = _Reader()
    for i, task in enumerate(records):
        reader.add_task(task, f"records[{i}]")
    return reader.finish(duplicates, "records")


def write_jsonl(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Write JSON lines; see `Traces.write_jsonl`."""
    path = Path(path)
    partial = path.with_name(f".{path.name}.partial")
    try:
        with partial.open("wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                    _write(traces, file)
            else:
                _write(traces, raw)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def record(traces: Traces, n: int) -> dict[str, Any]:
    """Return task n in the JSON form."""
    table, classes, agents = traces.moves_table, traces.classes, traces.agent_names
    start, stop = np.searchsorted(table.task, [n, n + 1])
    offered = traces.candidate_class[traces.candidate_start[n] : traces.candidate_start[n + 1]]
    gold = traces.gold[n]
    task: dict[str, Any] = {
        "task": traces.task_ids[n],
        "candidates": [classes[c] for c in offered],
        "gold": None if gold < 0 else classes[gold],
    }
    if traces.meta is not None and traces.meta[n]:
        task["meta"] = dict(traces.meta[n])
    task["moves"] = [_move(traces, i, classes, agents) for i in range(start, stop)]
    return task


def _move(traces: Traces, i: int, classes: tuple[Name, ...], agents: tuple[Name, ...]) -> dict[str, Any]:
    """Return one move; in a view a targeted move states what it resolved to."""
    table = traces.moves_table
    kind = TYPES[table.type[i]]
    answer, frozen = table.answer[i], bool(table.frozen[i])
    if traces.is_view and table.kind[i] and kind in {"concede", "challenge"}:
        answer, frozen = table.resolved[i], frozen or kind == "concede"
    move: dict[str, Any] = {"agent": agents[table.agent[i]], "round": int(table.round[i]), "type": kind}
    if answer >= 0 or kind == "propose":
        move["answer"] = None if answer < 0 else classes[answer]
    if table.target[i] >= 0:
        move["target"] = agents[table.target[i]]
    if table.confidence is not None and not math.isnan(table.confidence[i]):
        move["confidence"] = float(table.confidence[i])
    if table.status[i]:
        move["status"] = STATUSES[table.status[i]]
    if frozen:
        move["frozen"] = True
    return move


def _write(traces: Traces, file: IO[bytes] | gzip.GzipFile) -> None:
    for n in range(len(traces)):
        text = json.dumps(record(traces, n), ensure_ascii=False, separators=(",", ":"))
        file.write(text.encode() + b"\n")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of every line that is not blank."""
    opener = gzip.open if path.suffix == ".gz" else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8-sig") as file:
            for number, text in enumerate(file, 1):
                if not text.isspace():
                    yield number, text
    except UnicodeDecodeError as fault:
        raise TraceError(
            f"is not UTF-8 text: {fault.reason}", where=f"{path}:{number + 1}", remedy="save the file as UTF-8"
        ) from None
    except (EOFError, gzip.BadGzipFile) as fault:
        raise TraceError(
            f"is not a whole gzip file: {fault}", where=f"{path}:{number + 1}", remedy="copy the file again"
        ) from None


class _DuplicateKey(Exception):
    """A JSON object with one key twice."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _DuplicateKey(next(key for key, count in counts.items() if count > 1))
    return found


class _Reader:
    """Collects columns task by task and turns them into `Traces` at the end, so nothing is half-loaded."""

    def __init__(self) -> None:
        self.agents, self.classes = Names("agent"), Names("candidates")
        self.task_ids: list[Name] = []
        self.seen: dict[tuple[type, Name], str] = {}
        self.sizes: list[int] = []
        self.candidates: list[int] = []
        self.gold: list[int] = []
        self.meta: list[Mapping[str, Any]] = []
        self.counts: list[int] = []
        self.columns: dict[str, list[Any]] = {name: [] for name in MOVE_FIELDS}
        self.unread: Counter[str] = Counter()

    def add_task(self, task: Any, where: str) -> None:
        """Check one task and append it."""
        if not isinstance(task, Mapping):
            _fail("is not an object", where, "line", task, 'write {"task": ..., "candidates": ..., "moves": ...}')
        if not _TASK_FIELDS.issuperset(task):
            self._note_unknown(task, TASK_FIELDS, where, "keep other data under meta")
        for name in ("task", "candidates"):
            if name not in task:
                _fail("is missing", where, name, None, "every task needs task, candidates and moves")
        name = plain_name(task["task"], "task", where)
        where = f"{where}, task {name!r}"
        first = self.seen.setdefault((type(name), name), where)
        if first is not where:
            _fail(f"stands already at {first.split(', task')[0]}", where, "task", name, "give every task its own name")
        codes = self._candidates(task["candidates"], where)
        gold = task.get("gold")
        gold_code = -1 if gold is None else codes.get(plain_name(gold, "gold", where), -1)
        if gold is not None and gold_code < 0:
            _fail(f"is not a candidate ({_listed(codes)})", where, "gold", gold, "use null for unlabelled")
        meta = task.get("meta")
        if meta is not None and not isinstance(meta, Mapping):
            _fail("is not an object", where, "meta", meta, 'write "meta": {"group": "q17"}')
        moves = task.get("moves", [])
        if not isinstance(moves, (list, tuple)):
            _fail("is not a list", where, "moves", moves, "write a list of moves, empty if there were none")
        for i, move in enumerate(moves):
            self._add_move(move, codes, where, i)
        self.task_ids.append(name)
        self.sizes.append(len(codes))
        self.candidates.extend(self.classes.code[c] for c in codes)
        self.gold.append(gold_code)
        self.meta.append(MappingProxyType(dict(meta)) if meta else MappingProxyType({}))
        self.counts.append(len(moves))

    def _candidates(self, candidates: Any, where: str) -> dict[Name, int]:
        if not isinstance(candidates, (list, tuple)):
            _fail("is not a list", where, "candidates", candidates, "list the answers that the task offers")
        codes: dict[Name, int] = {}
        for candidate in candidates:
            name = plain_name(candidate, "candidates", where)
            if name in codes:
                _fail("stands twice", where, "candidates", name, "list every candidate once")
            codes[name] = self.classes.add(name)
        if len(codes) < 2:
            _fail("offers fewer than two answers", where, "candidates", list(codes), "list at least two")
        return codes

    def _add_move(self, move: Any, codes: dict[Name, int], where: str, i: int) -> None:
        if not isinstance(move, Mapping):
            _fail("is not an object", where, f"moves[{i}]", move, 'write {"agent": ..., "type": ...}')
        get = move.get
        if not _MOVE_FIELDS.issuperset(move):
            self._note_unknown(move, MOVE_FIELDS, f"{where}, moves[{i}]", "keep other data under the task's meta")
        type_ = _TYPE_CODE.get(get("type")) if type(get("type")) is str else None
        if type_ is None:
            _fail("is not a move type", where, f"moves[{i}].type", get("type"), f"use {', '.join(TYPES)}")
        status = get("status")
        status_code = 0 if status is None else _STATUS_CODE.get(status) if type(status) is str else None
        if status_code is None:
            _fail("is not a status", where, f"moves[{i}].status", status, f"use {', '.join(STATUSES)}")
        round_ = get("round", 0)
        if type(round_) is not int or not 0 <= round_ < 2**31:
            _fail("is not a round", where, f"moves[{i}].round", round_, "rounds are the integers 0, 1, ...")
        answer = get("answer")
        code = -1 if answer is None else codes.get(answer, -1) if type(answer) is str else self._code(answer, codes)
        if answer is not None and code < 0 and status_code == 0:
            _fail(
                f"is not a candidate ({_listed(codes)})", where, f"moves[{i}].answer", answer,
                "use null, or a status, for an answer that could not be read",
            )  # fmt: skip
        columns = self.columns
        columns["agent"].append(self._agent(get("agent"), where, i, "agent"))
        target = get("target")
        columns["target"].append(-1 if target is None else self._agent(target, where, i, "target"))
        columns["round"].append(round_)
        columns["type"].append(type_)
        columns["answer"].append(code)
        columns["status"].append(status_code)
        columns["frozen"].append(_flag(get("frozen"), where, i))
        columns["confidence"].append(_number(get("confidence"), where, i))

    def _agent(self, name: Any, where: str, i: int, field: str) -> int:
        if type(name) is str and name:
            return self.agents.add(name)
        return self.agents.add(plain_name(name, f"moves[{i}].{field}", where))

    def _code(self, answer: Any, codes: dict[Name, int]) -> int:
        """Look up an answer that is not a string: 1 must not find True, nor a list crash."""
        try:
            name = plain_name(answer, "answer")
        except TraceError:
            return -1
        return next((code for key, code in codes.items() if key == name and type(key) is type(name)), -1)

    def _note_unknown(self, found: Mapping[str, Any], known: tuple[str, ...], where: str, remedy: str) -> None:
        for key in found:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, 1, 0.75)
                if near:
                    _fail(f"is not a field; did you mean {near[0]!r}?", where, "field", key, remedy)
                self.unread[str(key)] += 1

    def finish(self, duplicates: str, source: str) -> Traces:
        if self.unread:
            kinds = ", ".join(f"{key!r} ({count} times)" for key, count in self.unread.most_common(5))
            warnings.warn(f"{source}: fields not read: {kinds}", TraceWarning, stacklevel=4)
        columns = self.columns
        confidence = np.array(columns["confidence"], float)
        task = np.fromiter(
            (n for n, count in enumerate(self.counts) for _ in repeat(None, count)), np.int64, sum(self.counts)
        )
        raw = RawMoves(
            task=task,
            agent=np.array(columns["agent"], np.int32),
            round=np.array(columns["round"], np.int64),
            type=np.array(columns["type"], np.int8),
            answer=np.array(columns["answer"], np.int32),
            target=np.array(columns["target"], np.int32),
            status=np.array(columns["status"], np.int8),
            frozen=np.array(columns["frozen"], bool),
            confidence=None if np.isnan(confidence).all() else confidence,
        )
        return assemble(
            self.task_ids,
            self.agents,
            self.classes,
            np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)]),
            np.array(self.candidates, np.int32),
            np.array(self.gold, np.int32),
            self.meta if any(self.meta) else None,
            raw,
            duplicates,
        )


def _flag(value: Any, where: str, i: int) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    _fail("is not true or false", where, f"moves[{i}].frozen", value, "write true, or leave it out")


def _number(value: Any, where: str, i: int) -> float:
    if value is None:
        return math.nan
    if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    _fail("is not a finite number", where, f"moves[{i}].confidence", value, "write a number or null")


def _listed(codes: Mapping[Name, int]) -> str:
    names = [repr(name) for name in codes]
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _fail(problem: str, where: str, field: str, value: Any, remedy: str) -> NoReturn:
    raise TraceError(problem, where=where, field=field, value=value, remedy=remedy)
