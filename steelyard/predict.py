"""Apply a saved aggregator to traces: one prediction a task, with its probability.

Prints CSV with the columns task, prediction, probability, tied (how many candidates shared the first place).
"""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from bda.csv_tables import csv_text
from steelyard.arms import say_unknown
from steelyard.commands import check_output, emit, write_output
from steelyard.printing import say
from steelyard.trace_arguments import add_trace_arguments, load_traces

if TYPE_CHECKING:
    from bda.arm import Arm
    from bda.traces import Traces

__all__ = ["add_arguments", "candidate_rows", "prediction_rows", "run"]

PREDICTIONS = ("task", "prediction", "probability", "tied")
CANDIDATES = ("task", "candidate", "probability")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.predict import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["arm.json", "new.jsonl", "--candidates"]).candidates
    True
    """
    parser.add_argument("arm", metavar="ARM.json", help="an arm that steelyard fit saved")
    add_trace_arguments(parser, gold=False)
    parser.add_argument(
        "--candidates", action="store_true", help="one row a candidate instead: task, candidate, probability"
    )
    parser.add_argument("--output", metavar="FILE", help="write to this file instead of stdout")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    parser.add_argument("--json", action="store_true", help="print JSON, a list of rows, instead of CSV")


def run(args: argparse.Namespace) -> int:
    """Load the arm, apply it, and print or write the rows.

    Parameters
    ----------
    args : argparse.Namespace
        What `add_arguments` adds.

    Returns
    -------
    int
        0.

    Examples
    --------
    >>> import bda
    >>> from steelyard.commands import main
    >>> _ = bda.OneCoin().to_json("arm.json")
    >>> bda.Traces.from_votes([["yes", "yes", "no"]], tasks=["q1"]).write_jsonl("new.jsonl")
    >>> main(["predict", "arm.json", "new.jsonl"])
    task,prediction,probability,tied
    q1,yes,0.66666...,1
    0
    """
    if args.output is not None:
        check_output(args.output, args.overwrite)
    from bda.storage import load_arm

    arm = load_arm(args.arm)
    traces = load_traces(args)
    say_unknown(arm, traces)
    header = CANDIDATES if args.candidates else PREDICTIONS
    rows = candidate_rows(arm, traces) if args.candidates else prediction_rows(arm, traces)
    if args.json:
        records = [dict(zip(header, row, strict=True)) for row in rows]
        text = json.dumps(records, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = csv_text(header, rows)
    if args.output is None:
        emit(text.removesuffix("\n"), as_json=False)
    else:
        write_output(args.output, text, args.overwrite)
        say(f"wrote {len(rows):,} rows to {args.output}")
    return 0


def prediction_rows(arm: Arm, traces: Traces) -> list[tuple[object, ...]]:
    """Return one row a task: task, prediction, probability, number tied.

    Parameters
    ----------
    arm : Arm
        Fitted where it needs to be.
    traces : Traces
        What agents said.

    Returns
    -------
    list of tuples
        In the order of tasks. A tie is broken by the arm's seed and the task's name.

    Examples
    --------
    >>> from bda import Plurality, Traces
    >>> from steelyard.predict import prediction_rows
    >>> prediction_rows(Plurality(), Traces.from_votes([[0, 1, 1, 1]]))
    [(0, 1, 0.75, 1)]
    """
    import numpy as np

    from bda.ties import decide

    log_proba = arm.log_proba(traces)
    found = decide(traces, log_proba, int(arm.random_state))
    names = [traces.classes[code] for code in traces.candidate_class[found.candidate]]
    probability = np.exp(log_proba[found.candidate]).tolist()
    return list(zip(traces.task_ids.tolist(), names, probability, found.tied.tolist(), strict=True))


def candidate_rows(arm: Arm, traces: Traces) -> list[tuple[object, ...]]:
    """Return one row a candidate: task, candidate, probability.

    Parameters
    ----------
    arm : Arm
        Fitted where it needs to be.
    traces : Traces
        What agents said.

    Returns
    -------
    list of tuples
        Task after task, candidates in the order that the task lists them.

    Examples
    --------
    >>> from bda import Plurality, Traces
    >>> from steelyard.predict import candidate_rows
    >>> candidate_rows(Plurality(), Traces.from_votes([[0, 1, 1, 1]]))
    [(0, 0, 0.25), (0, 1, 0.75)]
    """
    import numpy as np

    tasks = traces.task_ids[traces.candidate_task].tolist()
    names = [traces.classes[code] for code in traces.candidate_class]
    return list(zip(tasks, names, np.exp(arm.log_proba(traces)).tolist(), strict=True))
