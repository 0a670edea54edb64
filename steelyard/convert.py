"""Write traces in another form: JSON lines, a CSV table (long or wide), or Parquet, by the new file's name.

Everything is kept but what the form cannot hold, which is said: names in a CSV table are text, and a wide table holds
last votes alone. With --agents or --subset only these are written, challenges and concessions as resolved.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from steelyard.commands import check_output, emit
from steelyard.printing import say
from steelyard.trace_arguments import KINDS, add_trace_arguments, load_traces

if TYPE_CHECKING:
    from bda.traces import Traces

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
    >>> from steelyard.convert import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl", "a.csv", "--wide"]).wide
    True
    """
    add_trace_arguments(parser)
    parser.add_argument("output", metavar="FILE", help=f"the file to write; its name ends in {', '.join(KINDS)}")
    parser.add_argument("--wide", action="store_true", help="a CSV table of last votes, one column an agent")
    parser.add_argument("--overwrite", action="store_true", help="replace the file if it exists")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Read, and write in the other form.

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
    >>> main(["convert", "examples/llmbar_judges.jsonl.gz", "gpt-4.csv", "--wide", "--agents", "GPT-4/*"])
    419 tasks, 26 agents, 10,890 moves in gpt-4.csv
    0
    """
    if not args.output.endswith(KINDS):
        raise ValueError(f"{args.output} names no form; end it in {', '.join(KINDS)}")
    if args.wide and ".csv" not in args.output:
        raise ValueError(f"--wide makes a CSV table, and {args.output} is none; leave out --wide, or end it in .csv")
    check_output(args.output, args.overwrite)
    traces = load_traces(args)
    written = traces.last_vote() if args.wide else traces
    lost = _lost(traces, args.output, args.wide)
    if ".csv" in args.output:
        traces.write_csv(args.output, wide=args.wide)
    elif args.output.endswith(".parquet"):
        traces.write_parquet(args.output)
    else:
        traces.write_jsonl(args.output)
    if lost:
        say(f"{args.output} does not hold {', '.join(lost)}")
    counts = {"tasks": len(written), "agents": len(written.agent_names), "moves": len(written.moves_table)}
    words = ", ".join(f"{n:,} {name}" for name, n in counts.items())
    emit({**counts, "output": args.output, "lost": lost} if args.json else f"{words} in {args.output}", args.json)
    return 0


def _lost(traces: Traces, output: str, wide: bool) -> list[str]:
    """Return what the form cannot hold, in words."""
    if output.endswith(".parquet"):
        return []
    table = traces.moves_table
    lost: list[str] = []
    if ".csv" in output:
        names: list[Any] = [*traces.classes, *traces.agent_names, *traces.task_ids.tolist()]
        if not all(isinstance(name, str) for name in names):
            lost.append("numbers or truth values as names, but their text")
    if wide:
        n = len(table) - len(traces.last_vote().moves_table)
        lost += [f"{n:,} moves that are no last vote"] if n else []
        chosen = {*traces.last_vote().moves_table.answer.tolist(), *traces.gold.tolist()}
        unnamed = sum(code not in chosen for code in range(len(traces.classes)))
        lost += [f"{unnamed:,} classes that nobody chose"] if unnamed else []
        lost += ["which candidates each task offers"] if len(set(traces.n_candidates.tolist())) > 1 else []
        lost += ["meta"] if traces.meta is not None else []
        return lost
    spoken = {*table.agent.tolist(), *table.target.tolist()}
    silent = sum(code not in spoken for code in range(len(traces.agent_names)))
    return lost + ([f"{silent:,} agents without a move"] if silent else [])
