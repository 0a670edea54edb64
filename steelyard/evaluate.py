"""Compare aggregators on traces with known answers: who is right, how often, and with what honesty.

Every draw takes the same labels for all arms; parameters are picked by cross-validation on those labels; tasks
that share no question with them are scored. Intervals resample questions. An arm is a name, perhaps with
parameters that are then held fixed: per-agent, or per-agent:kappa=10,temperature=2.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from bda.csv_tables import csv_text
from steelyard.arms import named_arm, tunable
from steelyard.commands import check_output, emit, write_output
from steelyard.printing import progress, say, shown, table
from steelyard.trace_arguments import add_trace_arguments, load_traces

if TYPE_CHECKING:
    from bda.comparison import Comparison

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.evaluate import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl"]).labels
    25
    """
    add_trace_arguments(parser)
    parser.add_argument("--labels", type=int, default=25, metavar="N", help="labelled questions of a draw (25)")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="passes, with seeds 0 to N - 1 (3)")
    parser.add_argument(
        "--protocol", choices=("nested", "draw"), default="nested",
        help="nested: every task is scored once a seed, by labels from the other folds of an outer 5-fold (default); "
        "draw: one draw a seed, everything else is scored",
    )  # fmt: skip
    parser.add_argument("--arms", nargs="+", action="extend", metavar="ARM", help="the arms to compare (all)")
    parser.add_argument("--groups", metavar="KEY", help="the key of meta that names a task's question (group)")
    parser.add_argument(
        "--uncommitted", choices=("uniform", "wrong"), default="uniform",
        help="score a task on which nobody committed from its uniform posterior (default), or count it as wrong",
    )  # fmt: skip
    parser.add_argument("--reference", metavar="ARM", help="also print every arm's differences from this one")
    parser.add_argument("--report", metavar="FILE", help="write the report, one HTML page that needs nothing else")
    parser.add_argument("--predictions", metavar="FILE", help="write every scored prediction, as CSV")
    parser.add_argument("--overwrite", action="store_true", help="replace files that exist")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Compare, print the table, and write what was asked for.

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
    >>> main(["evaluate", "examples/llmbar_judges.jsonl.gz", "--agents", "GPT-4/*", "--arms", "plurality"])
    26 agents, 419 labelled tasks; protocol nested: ...
    0
    """
    if args.seeds < 1:
        raise ValueError(f"--seeds {args.seeds} makes no pass; ask for at least 1")
    for path in (args.report, args.predictions):
        if path is not None:
            check_output(path, args.overwrite)
    for text in args.arms or ():
        named_arm(text)  # refuses a wrong name before the file is read
    traces = load_traces(args)

    from bda.comparison import compare

    challenged = bool((traces.moves_table.kind < 0).any())
    arms = None if args.arms is None else {text: tunable(text, challenged=challenged) for text in args.arms}
    progress(f"comparing arms on {len(traces):,} tasks, {args.seeds} seeds")
    comparison = compare(
        traces, arms, n_labels=args.labels, seeds=range(args.seeds), protocol=args.protocol, groups=args.groups,
        uncommitted=args.uncommitted,
    )  # fmt: skip
    differences = None if args.reference is None else comparison.differences(args.reference)
    emit(_plain(comparison, differences) if args.json else _text(comparison, differences), args.json)
    if args.report is not None:
        write_output(args.report, comparison.to_html(shlex.join(["steelyard", *args.words])), args.overwrite)
        say(f"wrote {args.report}")
    if args.predictions is not None:
        frame = comparison.predictions
        text = csv_text(list(frame.columns), zip(*(frame[name].tolist() for name in frame.columns), strict=True))
        write_output(args.predictions, text, args.overwrite)
        say(f"wrote {args.predictions}")
    return 0


def _text(comparison: Comparison, differences: Any) -> str:
    if differences is None:
        return str(comparison)
    head = ["arm", "metric", "difference", "95 %", "P(win)"]
    rows = [
        [shown(d.arm), d.metric, f"{d.difference:+.4f}", f"{d.low:+.4f}..{d.high:+.4f}", d.p_win]
        for d in differences.itertuples()
    ]
    return "\n".join([str(comparison), "", *table(head, rows)])


def _plain(comparison: Comparison, differences: Any) -> dict[str, Any]:
    """Return everything but the predictions as plain data."""
    unanimity = comparison.unanimity
    settings = ("protocol", "n_labels", "seeds", "uncommitted", "n_tasks", "n_unlabelled", "n_groups")
    return {
        **comparison.summarise().to_dict(),
        **{name: getattr(comparison, name) for name in settings},
        "agents": list(comparison.traces.agent_names),
        "unanimity": {**vars(unanimity), "share_wrong": unanimity.share_wrong},
        "choices": _records(comparison.choices),
        "differences": None if differences is None else _records(differences),
    }


def _records(frame: Any) -> list[dict[str, Any]]:
    """Return rows without the parameters that an arm does not have."""
    return [{k: v for k, v in row.items() if v == v} for row in frame.to_dict(orient="records")]
