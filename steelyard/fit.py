"""Fit an aggregator on labelled traces, print how reliable it finds every agent, and save it.

ARM is a name, perhaps with parameters: per-agent, or per-agent:kappa=10,temperature=2. With --tune the
parameters that are not set are picked by five-fold cross-validation on the labelled tasks, by the Brier score.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from steelyard.arms import EXAMPLES, add_setting_arguments, named_arm, tunable
from steelyard.commands import check_output, emit, write_output
from steelyard.printing import progress, say, shown, table
from steelyard.trace_arguments import add_trace_arguments, load_traces

if TYPE_CHECKING:
    from bda.arm import Arm
    from bda.selection import Choice, Tuned
    from bda.traces import Traces

__all__ = ["add_arguments", "profile_rows", "run", "tune"]

COLUMNS = ("agent", "right", "wrong", "mean", "low", "high", "chance", "p_below_chance", "weight", "turning_n")
HEADINGS = {"p_below_chance": "P(below)", "turning_n": "turning"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.fit import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl", "per-agent", "--output", "arm.json"]).arm
    'per-agent'
    """
    add_trace_arguments(parser)
    parser.add_argument("arm", metavar="ARM", help=f"{', '.join(EXAMPLES)}; parameters as NAME:param=value,...")
    parser.add_argument("--output", required=True, metavar="FILE", help="where to save the fitted arm, as JSON")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    add_setting_arguments(parser)
    parser.add_argument("--tune", action="store_true", help="pick the parameters that are not set by cross-validation")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Fit, save, and print the reliability profile.

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
    >>> from steelyard.commands import main
    >>> words = "fit examples/llmbar_judges.jsonl.gz per-agent --output arm.json --agents GPT-4/Vanilla/ab"
    >>> main(words.split())
    PerAgent() fitted on 419 labelled tasks of 419
    ...
    0
    """
    check_output(args.output, args.overwrite)
    named_arm(args.arm, args.set)  # refuses a wrong name before the file is read
    traces = load_traces(args)
    choice = None
    if args.tune:
        contender = tunable(args.arm, args.set, challenged=bool((traces.moves_table.kind < 0).any()))
        arm, choice = tune(contender, traces)
    else:
        arm = named_arm(args.arm, args.set)
    arm.fit(traces)
    write_output(args.output, arm.to_json() + "\n", args.overwrite)
    n_labels = int((traces.gold >= 0).sum())
    rows = profile_rows(arm)
    if args.json:
        tuned = None if choice is None else {"setting": choice.setting, "brier": choice.brier}
        report = {
            "arm": type(arm).__name__,
            "parameters": arm.get_params(),
            "tasks": len(traces),
            "labels": n_labels,
            "tuned": tuned,
            "profile": rows,
            "output": str(args.output),
        }
        emit(report, as_json=True)
    else:
        emit(_text(arm, rows, choice, f"{n_labels:,} labelled tasks of {len(traces):,}"), as_json=False)
    say(f"wrote {args.output}")
    return 0


def tune(contender: Tuned | Arm, traces: Traces, seed: int = 0) -> tuple[Arm, Choice]:
    """Pick hyperparameters by inner folds over all labelled tasks.

    Parameters
    ----------
    contender : Tuned or Arm
        An arm with its grid; one without is an error.
    traces : Traces
        Gold inside. Tasks of one group stand in one fold, so that no task is predicted from its twin.
    seed : int
        Of the folds.

    Returns
    -------
    arm : Arm
        With the parameters picked, not fitted.
    choice : Choice
        The setting, and its Brier score pooled over the folds.

    Raises
    ------
    TraceError
        For an arm that has nothing to pick, or fewer than two labelled groups.

    Examples
    --------
    >>> from bda import Traces
    >>> from steelyard.arms import tunable
    >>> from steelyard.fit import tune
    >>> traces = Traces.read_jsonl("examples/llmbar_judges.jsonl.gz").subset(subset="Manual").agents("GPT-4/*")
    >>> tune(tunable("per-agent:alpha=2,beta=1,temperature=1"), traces)[0]
    PerAgent(kappa=60.0)
    """
    import numpy as np

    from bda.errors import TraceError
    from bda.names import ordered
    from bda.selection import Tuned, choose
    from bda.splits import INNER, Split, group_names, inner_folds

    if not isinstance(contender, Tuned):
        raise TraceError(f"{contender!r} has nothing left to pick", remedy="leave out --tune, or set fewer parameters")
    groups = group_names(traces)
    members: dict[Any, list[int]] = {}
    for n in ordered(traces.task_ids.tolist()):  # the order of a file has no part in the folds
        if traces.gold[n] >= 0:
            members.setdefault(groups[n], []).append(n)
    if len(members) < 2:
        raise TraceError(
            f"there are {len(members)} labelled questions, too few for cross-validation",
            remedy="label more tasks, or leave out --tune",
        )
    first = np.array([tasks[0] for tasks in members.values()])
    fold = inner_folds(traces.gold[first], traces, np.random.default_rng([INNER, seed, 0]))
    labelled = np.concatenate([np.array(tasks) for tasks in members.values()])
    inner = np.repeat(fold, [len(tasks) for tasks in members.values()])
    progress(f"trying {len(contender.settings())} settings on {len(labelled)} labelled tasks")
    none = np.zeros(0, np.int64)
    (choice,) = choose(contender, traces, traces.gold, [Split(seed, 0, labelled, inner, none)])
    return type(contender.arm)(**{**contender.arm.get_params(), **choice.setting}), choice


def profile_rows(arm: Arm) -> list[dict[str, Any]]:
    """Return the reliability profile of a fitted arm as plain data.

    Parameters
    ----------
    arm : Arm
        Fitted.

    Returns
    -------
    list of dict
        One an agent; empty for an arm that learns none.

    Examples
    --------
    >>> from bda import PerAgent, Traces
    >>> from steelyard.fit import profile_rows
    >>> rows = profile_rows(PerAgent().fit(Traces.from_votes([[0], [1]], agents=["ada"]), [0, 0]))
    >>> rows[0]["agent"], rows[0]["right"], rows[0]["turning_n"]
    ('ada', 1, None)
    """
    import pandas as pd

    if not hasattr(arm, "profile_"):
        return []
    return [
        {name: None if pd.isna(value) else value for name, value in row.items()}
        for row in arm.profile_.to_dict("records")
    ]


def _text(arm: Arm, rows: list[dict[str, Any]], choice: Choice | None, labelled: str) -> str:
    lines = [f"{arm!r} fitted on {labelled}"]
    if choice is not None:
        picked = ", ".join(f"{name}={value}" for name, value in choice.setting.items())
        lines.append(f"cross-validation picked {picked or 'nothing'}: Brier score {choice.brier:.4f}")
    if not rows:
        return "\n".join([*lines, "this arm learns no reliability"])
    turns = any(row["turning_n"] is not None for row in rows)
    names = COLUMNS if turns else COLUMNS[:-1]
    header = [HEADINGS.get(name, name) for name in names]
    cells = [[shown(row["agent"]), *(row[name] for name in names[1:])] for row in rows]
    legend = _LEGEND.format(k=rows[0]["n_candidates"]) + (_TURNING if turns else "")
    return "\n".join([*lines, "", *table(header, cells), "", legend])


_LEGEND = """\
mean, low, high  reliability and its 95 % interval
P(below)         probability that the agent is worse than chance
weight           log odds of one endorsement with {k} candidates; below 0 it counts against what it names"""
_TURNING = """
turning          from how many repeats of one answer a negative weight turns positive"""
