"""The arguments that name traces, and how they are read and filtered.

Every command that reads traces takes the same ones: a file, a table of gold, the agents and the tasks to keep.
Gold is put in first, then tasks are chosen, then agents; moves are resolved before anyone is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["KINDS", "add_trace_arguments", "load_traces", "read_traces"]

KINDS = (".jsonl", ".jsonl.gz", ".csv", ".csv.gz", ".parquet")


def add_trace_arguments(parser: argparse.ArgumentParser, *, gold: bool = True) -> None:
    """Add the arguments that `load_traces` reads.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.
    gold : bool
        Whether the command has a use for gold.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.trace_arguments import add_trace_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_trace_arguments(parser)
    >>> parser.parse_args(["a.jsonl", "--subset", "subset=Neighbor"]).subset
    ['subset=Neighbor']
    """
    parser.add_argument("traces", metavar="TRACES", help=f"the file of traces; its name ends in {', '.join(KINDS)}")
    if gold:
        parser.add_argument(
            "--gold", metavar="CSV", help="a table task,label that takes the place of the gold in the traces"
        )
    parser.add_argument(
        "--agents", nargs="+", action="extend", metavar="GLOB", help="keep only agents with these names ('*/ab')"
    )
    parser.add_argument(
        "--exclude-agents", nargs="+", action="extend", metavar="GLOB", help="leave out agents with these names"
    )
    parser.add_argument(
        "--subset",
        nargs="+",
        action="extend",
        metavar="KEY=VALUE",
        help="keep only tasks whose meta has this value (subset=Neighbor); several must all hold",
    )


def load_traces(args: argparse.Namespace) -> Traces:
    """Read the traces that the arguments name, put gold in, and keep the tasks and agents asked for.

    Parameters
    ----------
    args : argparse.Namespace
        With `traces`; `gold`, `agents`, `exclude_agents` and `subset` where they were given.

    Returns
    -------
    Traces
        At least one task and one agent.

    Raises
    ------
    TraceError
        If the file cannot be read, or a filter leaves nothing.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.trace_arguments import load_traces
    >>> load_traces(argparse.Namespace(traces="examples/llmbar_judges.jsonl.gz", subset=["subset=Neighbor"],
    ...                                agents=["*/Vanilla_NoRules/ab"], exclude_agents=["ChatGPT-0301/*"]))
    Traces(134 tasks, 5 agents, 2 classes, 670 moves, 134 labelled)
    """
    wanted = vars(args)
    traces = read_traces(args.traces, wanted.get("gold"))
    conditions = [_condition(text) for text in wanted.get("subset") or ()]
    for key, value in conditions:
        traces = traces.subset(**{key: value})
    if wanted.get("agents"):
        traces = traces.agents(wanted["agents"])
    if wanted.get("exclude_agents"):
        traces = _without(traces, wanted["exclude_agents"])
    return traces


def read_traces(path: str | Path, gold: str | Path | None = None) -> Traces:
    """Read traces from a file of any kind that commands take.

    Parameters
    ----------
    path : path
        JSON lines, a long CSV table, or a Parquet table, told apart by the file's name.
    gold : path, optional
        A CSV table with columns task and label, which replaces the gold inside.

    Returns
    -------
    Traces
        At least one task. Every name in a CSV table is text.

    Raises
    ------
    TraceError
        If the file is of another kind, holds no task, or cannot be read.

    Examples
    --------
    >>> from steelyard.trace_arguments import read_traces
    >>> len(read_traces("examples/llmbar_judges.jsonl.gz"))
    419
    """
    from bda.errors import TraceError
    from bda.traces import Traces

    name = Path(path).name
    if not name.endswith(KINDS):
        kind = "".join(Path(path).suffixes[-2:]) or "no suffix"
        raise TraceError(f"is not a file of traces: it has {kind}", where=str(path), remedy=f"use {', '.join(KINDS)}")
    label_file = None if gold is None else str(gold)
    if name.endswith((".csv", ".csv.gz")):
        traces = Traces.read_csv(path, gold=label_file)
    elif name.endswith(".parquet"):
        Path(path).open("rb").close()  # pyarrow has words of its own for a file that cannot be opened
        traces = Traces.read_parquet(path)
    else:
        traces = Traces.read_jsonl(path)
    if not len(traces):
        raise TraceError("holds no task", where=str(path), remedy="write a line for every task")
    _refuse_unwritable(traces, path)
    return traces if label_file is None else traces.with_gold(label_file)


def _refuse_unwritable(traces: Traces, path: str | Path) -> None:
    """Refuse names with half of a surrogate pair, which JSON can escape and no output can hold."""
    from bda.errors import TraceError

    kinds = {"task": traces.task_ids.tolist(), "agent": traces.agent_names, "class": traces.classes}
    for kind, names in kinds.items():
        broken = next((name for name in names if not _is_text(name)), None)
        if broken is not None:
            remedy = "a character was cut in two; write the name again, whole"
            raise TraceError("is not Unicode text", where=str(path), field=kind, value=broken, remedy=remedy)


def _is_text(name: object) -> bool:
    try:
        str(name).encode()
    except UnicodeEncodeError:
        return False
    return True


def _condition(text: str) -> tuple[str, str]:
    """Return key and value of `key=value` or `meta.key=value`."""
    key, equals, value = text.partition("=")
    key = key.removeprefix("meta.")
    if not (key and equals):
        raise ValueError(f"--subset {text!r} is not a condition on meta; write --subset key=value")
    return key, value


def _without(traces: Traces, patterns: Sequence[str]) -> Traces:
    left_out = set(traces.agents(patterns).agent_names)
    kept = [name for name in traces.agent_names if name not in left_out]
    if not kept:
        raise ValueError(f"--exclude-agents {' '.join(patterns)} leaves none of {len(left_out)} agents; exclude fewer")
    return traces.agents(kept)
