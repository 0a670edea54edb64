"""Arms beside the oracle: messy traces, the arms' answers as plain lists, and views written out as tasks."""

import random
import warnings

import numpy as np
import pytest

from bda import EvidenceWarning, Traces, TraceWarning
from tests.bda import oracle

READINGS = ("composite", "set", "exact", "ignore")
VIEWS = ("all", "round0", "last_vote", "propose", "challenge+propose")
CLASSES = "ABCDEFGH"


def close(value, tolerance=1e-10):
    return pytest.approx(value, rel=tolerance, abs=tolerance)


def fitted(arm, tasks, labels=None):
    """Fit on tasks in JSON form and return the arm."""
    return arm.fit(Traces.from_records(tasks), labels)


def probabilities(arm, tasks):
    """One list a task, in the order of its candidates."""
    traces = tasks if isinstance(tasks, Traces) else Traces.from_records(tasks)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        warnings.simplefilter("ignore", TraceWarning)
        flat = np.exp(arm.log_proba(traces))
    return [part.tolist() for part in np.split(flat, traces.candidate_start[1:-1])]


def messy(seed, n=4, n_labelled=10):
    """Return labelled tasks of a random council and further tasks of the same."""
    rng = random.Random(seed)
    calibration = [oracle.random_task(rng, f"cal{i}", labelled=0.8) for i in range(n_labelled)]
    calibration.append(oracle.random_task(rng, "cal", labelled=1.0))
    return calibration, oracle.random_tasks(rng, n)


def seen_as(task, view):
    """Write what a view shows of a task as proposals and challenges that state their answer."""
    moves = [
        {"agent": m["agent"], "round": m["round"], "answer": m["answer"]}
        | ({"type": "propose"} if m["kind"] == "endorse" else {"type": "challenge", "target": "nobody"})
        for m in oracle.informative(task, view)
    ]
    return {**task, "moves": moves}
