"""Show how one task's verdict comes about: every agent's part in the winner's lead over the runner-up.

With --arm FILE.json a saved arm decides. With --arm NAME that arm is first fitted on the labelled tasks of
TRACES, each time without the task that is explained and without others of its group: a task's own label never
has a part in its verdict. Whether a saved arm was fitted on the task cannot be seen from the file.
"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.arms import EXAMPLES, add_setting_arguments, named_arm, say_unknown
from steelyard.commands import emit
from steelyard.printing import shown
from steelyard.trace_arguments import add_trace_arguments, load_traces

if TYPE_CHECKING:
    from bda.arm import Arm
    from bda.names import Name
    from bda.traces import Traces

__all__ = ["add_arguments", "fit_without", "run", "task_named"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.explain import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl", "q1", "q2", "--arm", "per-agent"]).tasks
    ['q1', 'q2']
    """
    add_trace_arguments(parser)
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="the tasks to explain, by name")
    parser.add_argument(
        "--arm",
        default="per-agent",
        metavar="ARM",
        help=f"a file that steelyard fit saved, or a name ({', '.join(EXAMPLES)}), by default per-agent; "
        "parameters as NAME:param=value,...",
    )
    add_setting_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Explain every task asked for.

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
    >>> from bda import Traces
    >>> from steelyard.commands import main
    >>> Traces.from_votes([["yes", "no"]], tasks=["q1"], agents=["ada", "cox"]).write_jsonl("a.jsonl")
    >>> main(["explain", "a.jsonl", "q1", "--arm", "plurality"])
    task 'q1': ...
    0
    """
    saved = _saved(args.arm, args.set)
    if saved is None:
        named_arm(args.arm, args.set)  # refuses a wrong name before the file is read
    traces = load_traces(args)
    if saved is not None:
        say_unknown(saved, traces)
    found: list[dict[str, Any]] = []
    words: list[str] = []
    for name in [task_named(traces, text) for text in args.tasks]:
        arm, n_labels = (saved, None) if saved is not None else fit_without(args.arm, args.set, traces, name)
        verdict = arm.explain(traces, name)
        words.append(f"{verdict}\n  {_basis(arm, args.arm, n_labels)}")
        found.append({"arm": type(arm).__name__, "labels": n_labels, **verdict.to_dict()})
    emit(found if args.json else "\n\n".join(words), args.json)
    return 0


def fit_without(arm: str, settings: Sequence[str], traces: Traces, task: Name) -> tuple[Arm, int]:
    """Fit an arm on the labelled tasks other than one task and its group.

    Parameters
    ----------
    arm : str
        A name, perhaps with parameters.
    settings : sequence of str
        More parameters.
    traces : Traces
        Gold inside.
    task : name
        The task that is left out, together with tasks that share its `meta.group`.

    Returns
    -------
    arm : Arm
        Fitted if it learns from labels, else as it is.
    n_labels : int
        How many labels it learnt from.

    Raises
    ------
    TraceError
        If it learns from labels and no other task has one.

    Examples
    --------
    >>> from bda import Traces
    >>> from steelyard.explain import fit_without
    >>> traces = Traces.from_votes([[0, 1], [1, 1], [0, 0]], gold={0: 1, 1: 1, 2: 0})
    >>> fit_without("per-agent", [], traces, 0)[1]
    2
    """
    from bda.errors import TraceError
    from bda.splits import group_names

    fresh = named_arm(arm, settings)
    if not fresh.needs_labels:
        return fresh, 0
    groups = group_names(traces)
    own = groups[traces.position(task)]
    others = [n for n, group in enumerate(groups) if group != own and traces.gold[n] >= 0]
    if not others:
        raise TraceError(
            "has no labelled task beside it to fit on", field="task", value=task,
            remedy="give --gold, keep more tasks, or explain with an arm that needs no labels, such as one-coin",
        )  # fmt: skip
    return fresh.fit(traces.tasks(others)), len(others)


def task_named(traces: Traces, text: str) -> Name:
    """Return the task that a word on the command line means.

    Parameters
    ----------
    traces : Traces
        The tasks.
    text : str
        A name; a number also names the task whose name is that number.

    Returns
    -------
    name
        As it stands in the traces.

    Raises
    ------
    TraceError
        If there is none, with the names that come near.

    Examples
    --------
    >>> from bda import Traces
    >>> from steelyard.explain import task_named
    >>> task_named(Traces.from_votes([[0, 1], [1, 1]]), "1")
    1
    """
    from bda.errors import TraceError

    names: list[Name] = traces.task_ids.tolist()
    if text in names:
        return text
    by_text = {str(name): name for name in reversed(names)}
    if text in by_text:
        return by_text[text]
    near = difflib.get_close_matches(text, by_text, 3) or [str(name) for name in names[:3]]
    raise TraceError(
        "is not in the traces", field="task", value=text, remedy=f"near it are {', '.join(map(repr, near))}"
    )


def _saved(arm: str, settings: Sequence[str]) -> Arm | None:
    """Return the saved arm that `arm` is the path of, or None where it is a name."""
    from bda.named_arms import ARM_NAMES

    if arm.partition(":")[0] in ARM_NAMES or not (arm.endswith(".json") or Path(arm).exists()):
        return None
    if settings:
        raise ValueError(f"--set {settings[0]} has no effect on {arm}, which is fitted; give an arm's name")
    from bda.storage import load_arm

    return load_arm(arm)


def _basis(arm: Arm, text: str, n_labels: int | None) -> str:
    if n_labels is None:
        return f"decided by {shown(text)}, {arm!r}"
    if not arm.needs_labels:
        return f"decided by {arm!r}, which needs no labels"
    return f"decided by {arm!r}, fitted on the labels of {n_labels:,} other tasks, not on this one's"
