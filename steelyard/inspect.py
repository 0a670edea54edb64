"""Say what a file of traces holds.

Counts, gold, coverage and accuracy of every agent, irregular and unread moves with their places, how often two
agents agree, and how often a unanimous council is wrong. Nothing is fitted.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from steelyard.commands import emit
from steelyard.printing import shown, table
from steelyard.trace_arguments import add_trace_arguments, load_traces

if TYPE_CHECKING:
    from bda.overview import Overview

__all__ = ["add_arguments", "run"]

MOST_AGENTS = 20
MOST_CLASSES = 12
MOST_PLACES = 5
MOST_IN_MATRIX = 50
COLUMNS = ("committed", "coverage", "accuracy", "not_asked", "failed", "truncated", "unreadable")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.inspect import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl"]).all
    False
    """
    add_trace_arguments(parser)
    parser.add_argument("--all", action="store_true", help="print every agent, class and place, however many")
    parser.add_argument("--json", action="store_true", help="print JSON, with everything")


def run(args: argparse.Namespace) -> int:
    """Print what the traces hold.

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
    >>> main(["inspect", "examples/llmbar_judges.jsonl.gz", "--agents", "GPT-4/Vanilla/*"])
    419 tasks, 419 with gold; 2 agents, 838 moves in 1 round
    ...
    0
    """
    traces = load_traces(args)

    from bda.overview import overview

    found = overview(traces)
    emit(_plain(found) if args.json else _text(found, args.all), args.json)
    return 0


def _text(found: Overview, everything: bool) -> str:
    """Return the overview in words and tables."""
    rounds = f"{found.n_rounds} round{'s' if found.n_rounds != 1 else ''}"
    grouped = f" in {found.n_groups:,} groups" if found.n_groups != found.n_tasks else ""
    lines = [
        f"{found.n_tasks:,} tasks{grouped}, {found.n_labelled:,} with gold; "
        f"{found.n_agents:,} agents, {found.n_moves:,} moves in {rounds}",
        f"moves       {_listed({kind: n for kind, n in found.moves.items() if n}, everything)}",
        f"candidates  {_listed({f'K={k}:': n for k, n in found.candidates.items()}, everything)} tasks",
    ]
    if found.n_labelled:
        lines.append(f"gold        {_listed(found.gold, everything)}")
    if found.meta_keys:
        lines.append(f"meta        {', '.join(map(shown, found.meta_keys))}")
    lines += [f"problems    {_listed(found.problems, everything) or 'none'}", *_places(found, everything)]
    lines += ["", *_agents(found, everything), "", *_together(found)]
    return "\n".join(lines)


def _listed(counts: dict[Any, int], everything: bool) -> str:
    parts = [f"{shown(name)} {n:,}" for name, n in counts.items()]
    rest = 0 if everything else max(0, len(parts) - MOST_CLASSES)
    return ", ".join(parts[: len(parts) - rest]) + (f" and {rest:,} more (--all)" if rest else "")


def _places(found: Overview, everything: bool) -> list[str]:
    """Return where problems stand, the first few of each kind."""
    lines = []
    for problem, rows in found.locations.groupby("problem", sort=True):
        some = rows if everything else rows.head(MOST_PLACES)
        for row in some.itertuples():
            lines.append(
                f"  {problem}: task {shown(row.task)}, agent {shown(row.agent)}, round {row.round}, "
                f"move {row.move} ({row.type})"
            )
        if len(rows) > len(some):
            lines.append(f"  {problem}: {len(rows) - len(some):,} more (--all)")
    return lines


def _agents(found: Overview, everything: bool) -> list[str]:
    """Return one line an agent, the most accurate first, of equal ones the busiest."""
    order = ["accuracy", "committed", "agent"]
    ranked = found.agents.sort_values(order, ascending=[False, False, True], key=_sortable)
    kept = [name for name in COLUMNS if name in ("committed", "coverage", "accuracy") or ranked[name].any()]
    rest = 0 if everything else max(0, len(ranked) - MOST_AGENTS)
    half = len(ranked) if not rest else MOST_AGENTS // 2
    shown_rows = ranked.iloc[:half] if not rest else ranked.iloc[[*range(half), *range(-half, 0)]]
    rows = [[shown(row["agent"]), *(row[name] for name in kept)] for row in shown_rows.to_dict("records")]
    lines = table(["agent", *kept], rows)
    return [*lines[: half + 1], f"... {rest:,} more (--all)", *lines[half + 1 :]] if rest else lines


def _together(found: Overview) -> list[str]:
    """Return how often agents agree, and how often they are wrong together."""
    lines = []
    pairs = found.pairs()
    if len(pairs):
        lines.append(f"agreement of last votes over {len(pairs):,} pairs: mean {pairs['agreement'].mean():.3f}")
        for word, rising in (("least", True), ("most", False)):
            # Of equal pairs the one with most tasks in common says most.
            end = pairs.sort_values(["agreement", "common"], ascending=[rising, False], kind="stable").iloc[0]
            lines.append(
                f"  {word} {end['agreement']:.3f}: {shown(end['first'])} and {shown(end['second'])}, "
                f"{end['common']:,} tasks in common"
            )
    if found.n_labelled:
        lines.append(f"plurality is right on {found.plurality_accuracy:.3f} of the tasks with gold")
    u = found.unanimity
    if u.unanimous:
        lines.append(
            f"round 0 is unanimous on {u.unanimous:,} of {u.tasks:,} tasks with gold, "
            f"and wrong on {u.wrong:,} of these ({u.share_wrong:.1%})"
        )
    return lines


def _plain(found: Overview) -> dict[str, Any]:
    """Return the overview as plain data; the matrix of agreement for up to 50 agents, pairs beyond."""
    u = found.unanimity
    small = found.n_agents <= MOST_IN_MATRIX
    return {
        **{name: getattr(found, name) for name in ("n_tasks", "n_labelled", "n_groups", "n_agents", "n_moves")},
        "n_rounds": found.n_rounds,
        "moves": found.moves,
        "candidates": found.candidates,
        "gold": found.gold,
        "meta_keys": found.meta_keys,
        "agents": found.agents.to_dict("records"),
        "agreement": found.agreement if small else None,
        "common": found.common if small else None,
        "pairs": found.pairs().to_dict("records"),
        "problems": found.problems,
        "locations": found.locations.to_dict("records"),
        "plurality_accuracy": found.plurality_accuracy,
        "unanimity": {**vars(u), "share_wrong": u.share_wrong},
    }


def _sortable(column: Any) -> Any:
    return column.map(str) if column.name == "agent" else column
