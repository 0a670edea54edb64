"""Tasks in the JSON form, checked field by field and gathered into columns.

Every fault names its place, field, value and remedy; `Traces` come out at the end or not at all.
"""

from __future__ import annotations

import difflib
import math
import warnings
from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from bda.assembly import RawMoves, assemble, candidate_codes
from bda.errors import TraceError, TraceWarning
from bda.names import Name, Names, listed, plain_name
from bda.resolution import STATUSES, TYPES
from bda.traces import Traces

__all__ = ["LAST_ROUND", "RecordReader", "refuse_near_miss"]

TASK_FIELDS = ("task", "candidates", "gold", "meta", "moves")
MOVE_FIELDS = ("agent", "round", "type", "answer", "target", "confidence", "status", "frozen")
LAST_ROUND = 2**31 - 1
_TASK_FIELDS, _MOVE_FIELDS = frozenset(TASK_FIELDS), frozenset(MOVE_FIELDS)
_TYPE_CODE = {name: code for code, name in enumerate(TYPES)}
_STATUS_CODE = {name: code for code, name in enumerate(STATUSES)}


class RecordReader:
    """Columns that grow task by task.

    Parameters
    ----------
    source : str
        The name of all records together, for warnings.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.agents, self.classes = Names("agent"), Names("candidates")
        self.task_ids: list[Name] = []
        self.first: dict[Name, str] = {}
        self.sizes: list[int] = []
        self.candidates: list[int] = []
        self.gold: list[int] = []
        self.meta: list[Mapping[str, Any]] = []
        self.counts: list[int] = []
        self.columns: dict[str, array[Any]] = {
            name: array("d" if name == "confidence" else "i") for name in MOVE_FIELDS
        }
        self.unread: Counter[str] = Counter()

    def add(self, task: Any, where: str) -> None:
        """Check one task and append it."""
        if not isinstance(task, Mapping):
            _fail("is not an object", where, "task", task, 'write {"task": ..., "candidates": ..., "moves": ...}')
        if not _TASK_FIELDS.issuperset(task):
            self._note_unknown(task, TASK_FIELDS, where, "keep other data under meta")
        for field in ("task", "candidates"):
            if field not in task:
                _fail("is missing", where, field, None, "every task needs task and candidates")
        name = plain_name(task["task"], "task", where)
        if name in self.first:
            _fail(f"stands already at {self.first[name]}", where, "task", name, "give every task its own name")
        self.first[name] = where
        where = f"{where}, task {name!r}"
        codes = candidate_codes(task["candidates"], self.classes, where)
        moves = task.get("moves", [])
        if not isinstance(moves, (list, tuple)):
            _fail("is not a list", where, "moves", moves, "write a list of moves, empty if there were none")
        self.task_ids.append(name)
        self.sizes.append(len(codes))
        self.candidates.extend(codes.values())
        self.gold.append(self._answer(task.get("gold"), codes, where, "gold", "use null for unlabelled"))
        self.meta.append(_meta(task.get("meta"), where))
        self.counts.append(len(moves))
        for i, move in enumerate(moves):
            self._add_move(move, codes, where, i)

    def _add_move(self, move: Any, codes: Mapping[Name, int], where: str, i: int) -> None:
        if not isinstance(move, Mapping):
            _fail("is not an object", where, f"moves[{i}]", move, 'write {"agent": ..., "type": ...}')
        if not _MOVE_FIELDS.issuperset(move):
            self._note_unknown(move, MOVE_FIELDS, f"{where}, moves[{i}]", "keep other data under the task's meta")
        get, columns = move.get, self.columns
        status = 0 if get("status") is None else _choice(get("status"), _STATUS_CODE, "status", where, i)
        answer = get("answer")
        code = codes.get(answer, -1) if type(answer) is str else -1
        if code < 0 and answer is not None and (status == 0 or type(answer) is not str):
            remedy = "use null, or a status, for an answer that could not be read"
            code = self._answer(answer, codes, where, f"moves[{i}].answer", remedy, strict=status == 0)
        target = get("target")
        columns["agent"].append(self._agent(get("agent"), where, f"moves[{i}].agent"))
        columns["target"].append(-1 if target is None else self._agent(target, where, f"moves[{i}].target"))
        columns["round"].append(_round(get("round", 0), where, i))
        columns["type"].append(_choice(get("type"), _TYPE_CODE, "type", where, i))
        columns["answer"].append(code)
        columns["status"].append(status)
        columns["frozen"].append(_flag(get("frozen"), where, i))
        columns["confidence"].append(_number(get("confidence"), where, i))

    def _answer(
        self, answer: Any, codes: Mapping[Name, int], where: str, field: str, remedy: str, strict: bool = True
    ) -> int:
        """Return the code of a candidate; what is no candidate is an error, or -1 if not strict."""
        if answer is None:
            return -1
        code = self.classes.find(answer)
        if code >= 0 and plain_name(answer, field) in codes:
            return code
        if strict:
            _fail(f"is not a candidate ({listed(codes)})", where, field, answer, remedy)
        return -1

    def _agent(self, name: Any, where: str, field: str) -> int:
        return self.agents.add(name if type(name) is str and name else plain_name(name, field, where), where)

    def _note_unknown(self, found: Mapping[str, Any], known: tuple[str, ...], where: str, remedy: str) -> None:
        for key in found:
            if key not in known:
                refuse_near_miss(key, known, found, where, "field", remedy)
                self.unread[str(key)] += 1

    def finish(self, duplicates: str) -> Traces:
        """Return everything added as traces."""
        if self.unread:
            kinds = ", ".join(f"{key!r} ({count} times)" for key, count in self.unread.most_common(5))
            warnings.warn(f"{self.source}: fields not read: {kinds}", TraceWarning, stacklevel=4)
        columns = self.columns
        confidence = np.array(columns["confidence"], float)
        raw = RawMoves(
            task=np.repeat(np.arange(len(self.counts)), self.counts),
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


def refuse_near_miss(
    key: Any, known: Sequence[str], found: Collection[Any], where: str, field: str, remedy: str
) -> None:
    """Refuse a field whose name is nearly that of one that is absent, so that a slip is not passed over.

    Parameters
    ----------
    key : object
        A name that is not known.
    known, found : collections of str
        Names that are read, and those that are there.
    where, field, remedy : str
        For the error.
    """
    near = difflib.get_close_matches(str(key), [name for name in known if name not in found], 1, 0.75)
    if near:
        raise TraceError(
            f"is not read (is {near[0]!r} meant?)",
            where=where,
            field=field,
            value=key,
            remedy=f"correct it, or {remedy}",
        )


def _meta(meta: Any, where: str) -> Mapping[str, Any]:
    if meta is not None and not isinstance(meta, Mapping):
        _fail("is not an object", where, "meta", meta, 'write "meta": {"group": "q17"}')
    return MappingProxyType(dict(meta or {}))


def _choice(name: Any, codes: Mapping[str, int], field: str, where: str, i: int) -> int:
    code = codes.get(name) if isinstance(name, str) else None
    if code is None:
        _fail(
            f"is not a {'move type' if field == 'type' else field}",
            where,
            f"moves[{i}].{field}",
            name,
            f"use {', '.join(codes)}",
        )
    return code


def _round(value: Any, where: str, i: int) -> int:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 <= value <= LAST_ROUND:
        _fail("is not a round", where, f"moves[{i}].round", value, "rounds are the integers 0, 1, ...")
    return int(value)


def _flag(value: Any, where: str, i: int) -> bool:
    if value is not None and not isinstance(value, (bool, np.bool_)):
        _fail("is not true or false", where, f"moves[{i}].frozen", value, "write true, or leave it out")
    return bool(value)


def _number(value: Any, where: str, i: int) -> float:
    if value is None:
        return math.nan
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    _fail("is not a finite number", where, f"moves[{i}].confidence", value, "write a number or null")


def _fail(problem: str, where: str, field: str, value: Any, remedy: str) -> NoReturn:
    raise TraceError(problem, where=where, field=field, value=value, remedy=remedy)
