"""Small traces in words, and what it means that two traces are the same."""

import numpy as np

from bda import Traces

ARRAYS = ("task_ids", "candidate_start", "candidate_class", "gold")
STATED = ("task", "agent", "round", "type", "answer", "target", "status", "frozen", "confidence")
MEANT = ("task", "agent", "round", "type", "status", "kind", "resolved")


def move(text, **fields):
    """Return the move that "ada 0 propose A", "bo 1 concede ada B" or "bo 1 challenge ada" says; - is null."""
    agent, r, kind, *rest = text.split()
    names = ("answer",) if kind in ("propose", "abstain") else ("target", "answer")
    said = {name: None if word == "-" else word for name, word in zip(names, rest, strict=False)}
    return {"agent": agent, "round": int(r), "type": kind} | said | fields


def task(*moves, name="q1", candidates="ABC", **fields):
    """Return a task in JSON form; moves in words or as dictionaries."""
    moves = [move(m) if isinstance(m, str) else m for m in moves]
    return {"task": name, "candidates": list(candidates), "moves": moves} | fields


def traces(*moves, **fields):
    """Return the traces of one task."""
    return Traces.from_records([task(*moves, **fields)])


def meanings(found):
    """List (kind, answer) of every move, in file order."""
    table = found.moves_table
    kinds = {1: "endorse", -1: "reject", 0: "none"}
    answers = (*found.classes, None)
    return [(kinds[k], answers[c]) for k, c in zip(table.kind.tolist(), table.resolved.tolist(), strict=True)]


def problems(found):
    """List (number of the move, problem)."""
    return found.protocol_report().locations()[["move", "problem"]].apply(tuple, axis=1).tolist()


def assert_same(found, expected, columns=(*STATED, "kind", "resolved", "irregular")):
    """Compare everything that two traces hold; of the moves, some columns."""
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)
    assert list(map(type, found.task_ids)) == list(map(type, expected.task_ids))
    assert found.agent_names == expected.agent_names
    assert found.classes == expected.classes
    assert list(map(dict, found.meta or ())) == list(map(dict, expected.meta or ()))
    for name in columns:
        one, other = getattr(found.moves_table, name), getattr(expected.moves_table, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.dtype == other.dtype, name
            np.testing.assert_array_equal(one, other, name)
