"""Traces: one council's typed moves on many tasks, in columns.

A task n offers candidates k = 1..K_n (K_n >= 2, differing between tasks); agents make moves of four types
(propose, concede, challenge, abstain) in rounds 0, 1, ... `Traces` holds the moves of all tasks as read-only
NumPy columns, sorted by task and resolved once (`bda.resolution`). Tasks are picked in `bda.columns`, moves in
`bda.views`; each form on disk or in memory is read in a file of its own, which is loaded when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bda.moves import Moves
from bda.names import Name
from bda.views import TraceViews

if TYPE_CHECKING:
    import os

    import pandas as pd

    from bda.protocol import ProtocolReport

__all__ = ["Moves", "Traces"]


@dataclass(frozen=True, eq=False, repr=False)
class Traces(TraceViews):
    """Typed moves of a council on many tasks: columnar, immutable, indexable.

    Build one with `read_jsonl`, `from_records`, `from_frame`, `from_votes`,
    `read_csv` or `read_parquet`.

    Attributes
    ----------
    task_ids : object array, shape (n_tasks,)
        Names of the tasks, in file order.
    agent_names : tuple
        Everyone who moves or is addressed, in canonical order.
    classes : tuple
        Names of all candidates; the columns of `predict_proba` of an unfitted arm.
    candidate_start : int64 array, shape (n_tasks + 1,)
        Task n offers `candidate_class[candidate_start[n]:candidate_start[n + 1]]`.
    candidate_class : int32 array, shape (n_candidates,)
        Class codes of every task's candidates, in the order the task lists them.
    gold : int32 array, shape (n_tasks,)
        Class code of the true candidate, -1 where unlabelled.
    moves_table : Moves
        The moves, resolved.
    meta : tuple of mappings, or None
        What each task carried under `meta`.
    is_view : bool
        Whether moves were taken away after resolution.

    Examples
    --------
    >>> from bda import Traces
    >>> traces = Traces.from_records([
    ...     {"task": "q1", "candidates": ["yes", "no"], "gold": "no", "moves": [
    ...         {"agent": "ada", "round": 0, "type": "propose", "answer": "yes"},
    ...         {"agent": "cox", "round": 1, "type": "challenge", "target": "ada"}]}])
    >>> len(traces), traces.classes, traces.agent_names
    (1, ('no', 'yes'), ('ada', 'cox'))
    """

    @classmethod
    def read_jsonl(cls, path: str | os.PathLike[str], *, gold: Any = None, duplicates: str = "keep") -> Traces:
        """Read traces from JSON lines, one task a line, `.gz` or plain.

        Parameters
        ----------
        path : path
            The file.
        gold : mapping, Series, frame or CSV path, optional
            A `task,label` table that replaces the gold inside; see `with_gold`.
        duplicates : {"keep", "last", "error"}, default "keep"
            What becomes of several votes (proposals with an answer) of one agent in one round of one task:
            repeats, the last alone, or an error.

        Returns
        -------
        Traces
            All tasks of the file; on any fault nothing.

        Raises
        ------
        TraceError
            Naming file, line, field, value and remedy.

        Examples
        --------
        >>> from bda import Traces
        >>> traces = Traces.read_jsonl("examples/llmbar_judges.jsonl.gz")
        >>> len(traces), len(traces.agent_names)
        (419, 106)
        """
        from bda.trace_files import read_jsonl

        traces = read_jsonl(path, duplicates)
        return traces if gold is None else traces.with_gold(gold)

    @classmethod
    def from_records(cls, records: Iterable[Mapping[str, Any]], *, duplicates: str = "keep") -> Traces:
        """Build traces from dictionaries in the JSON form, one a task.

        Parameters
        ----------
        records : iterable of mappings
            See docs/trace-format.md.
        duplicates : {"keep", "last", "error"}, default "keep"
            As in `read_jsonl`.

        Returns
        -------
        Traces
            In the order of `records`.

        Examples
        --------
        >>> from bda import Traces
        >>> len(Traces.from_records([{"task": 1, "candidates": [0, 1], "moves": []}]))
        1
        """
        from bda.trace_files import from_records

        return from_records(records, duplicates)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        gold: Any = None,
        classes: Sequence[Name] | int | None = None,
        candidates: Mapping[Name, Sequence[Name]] | None = None,
        duplicates: str = "keep",
    ) -> Traces:
        """Build traces from a long table, one move a row.

        Parameters
        ----------
        frame : data frame
            Columns `task`, `agent` (or `worker`), `answer` (or `label`); optional `round`, `type`, `target`,
            `status`, `confidence`, `frozen`, `gold`, `candidates`, `meta`.
        gold : mapping, Series, frame or CSV path, optional
            True classes, as in `with_gold`.
        classes : sequence or int, optional
            All class names, where wider than what was seen, or their number K for the names 0..K-1; their order
            becomes the order of columns.
        candidates : mapping, optional
            From task to the candidates it offers; by default every task offers every class.
        duplicates : {"keep", "last", "error"}, default "keep"
            As in `read_jsonl`.

        Returns
        -------
        Traces
            Tasks in order of first appearance.

        Examples
        --------
        >>> import pandas as pd
        >>> from bda import Traces
        >>> long = pd.DataFrame({"task": [1, 1, 2], "worker": ["a", "b", "a"], "label": ["x", "y", "y"]})
        >>> Traces.from_frame(long).classes
        ('x', 'y')
        """
        from bda.frames import from_frame

        return from_frame(frame, gold, classes, candidates, duplicates)

    @classmethod
    def from_votes(
        cls,
        votes: Any,
        *,
        tasks: Sequence[Name] | None = None,
        agents: Sequence[Name] | None = None,
        classes: Sequence[Name] | int | None = None,
        gold: Any = None,
    ) -> Traces:
        """Build traces from a wide table of votes, tasks by agents; missing = NaN, None or -1.

        Parameters
        ----------
        votes : array or data frame, shape (n_tasks, n_agents)
            Labels; with `classes` of strings, integers are positions in `classes`, and a -1 among `classes` is a
            label. A frame brings task names in its index and agent names in its columns.
        tasks, agents : sequences, optional
            Names of rows and columns; by default 0, 1, ...
        classes : sequence or int, optional
            All class names, or their number K for the names 0..K-1. By default those seen.
        gold : mapping, Series, array, frame or CSV path, optional
            True classes, as in `with_gold`.

        Returns
        -------
        Traces
            One proposal in round 0 for every vote.

        Examples
        --------
        >>> import numpy as np
        >>> from bda import Traces
        >>> len(Traces.from_votes(np.array([[0, 1, -1], [1, 1, 0]])).moves_table)
        5
        """
        from bda.vote_tables import from_votes

        return from_votes(votes, tasks, agents, classes, gold)

    @classmethod
    def read_csv(cls, path: str | os.PathLike[str], *, gold: Any = None, duplicates: str = "keep") -> Traces:
        r"""Read a CSV table: long, one move a row, or wide, one task a row and a column of votes for each agent.

        Parameters
        ----------
        path : path
            The table, `.gz` or plain. Long: columns as in `from_frame`. Wide: `task`, the agents' names, and perhaps
            `gold`.
        gold : mapping, Series, frame or CSV path, optional
            True classes, as in `with_gold`.
        duplicates : {"keep", "last", "error"}, default "keep"
            As in `read_jsonl`.

        Returns
        -------
        Traces
            Tasks in order of first appearance. Every name is text; an empty answer in a long table could not be
            read, an empty cell in a wide one was not asked for.

        Raises
        ------
        TraceError
            Naming file, line, column, value and remedy.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from bda import Traces
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "votes.csv").write_text("task,worker,label\nq1,ada,yes\nq1,cox,no\n")
        ...     Traces.read_csv(f"{folder}/votes.csv")
        Traces(1 tasks, 2 agents, 2 classes, 2 moves, 0 labelled)
        """
        from bda.labels import read_label_csv
        from bda.trace_tables import read_trace_table

        named = isinstance(gold, str) or hasattr(gold, "__fspath__")
        labels = [label for _, label in read_label_csv(gold)] if named else []
        traces = read_trace_table(path, labels, duplicates)
        return traces if gold is None else traces.with_gold(gold)

    @classmethod
    def read_parquet(cls, path: str | os.PathLike[str]) -> Traces:
        """Read traces that `write_parquet` wrote, or another long table; needs the extra `parquet`.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Traces
            Equal to what was written.

        Raises
        ------
        TraceError
            Naming file or row, field, value and remedy.

        Examples
        --------
        >>> import tempfile
        >>> from bda import Traces
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Traces.from_votes([["x", "y"]], agents=["ada", "cox"]).write_parquet(f"{folder}/council.parquet")
        ...     Traces.read_parquet(f"{folder}/council.parquet").agent_names
        ('ada', 'cox')
        """
        from bda.parquet import read_parquet

        return read_parquet(path)

    def write_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Write the traces as JSON lines, gzipped if the name ends in `.gz`.

        A view is written as resolved: its challenges state their answer, its concessions are `frozen`.

        Parameters
        ----------
        path : path
            The file; it appears whole or not at all.

        Raises
        ------
        TraceError
            For a bootstrap sample, whose tasks could not be told apart, and for `meta` that JSON cannot hold.

        Examples
        --------
        >>> import tempfile
        >>> from bda import Traces
        >>> traces = Traces.from_votes([[0, 1], [1, 1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     traces.write_jsonl(f"{folder}/votes.jsonl.gz")
        ...     len(Traces.read_jsonl(f"{folder}/votes.jsonl.gz"))
        2
        """
        from bda.trace_files import write_jsonl

        write_jsonl(self, path)

    def write_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the traces as one Parquet table; needs the extra `parquet`.

        A view is written as resolved, as in `write_jsonl`.

        Parameters
        ----------
        path : path
            The file; it appears whole or not at all.

        Raises
        ------
        TraceError
            For names of several types in one column, which Parquet cannot hold, and for a bootstrap sample.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from bda import Traces
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Traces.from_votes([[0, 1]]).write_parquet(Path(folder) / "council.parquet")
        ...     [file.name for file in Path(folder).iterdir()]
        ['council.parquet']
        """
        from bda.parquet import write_parquet

        write_parquet(self, path)

    def write_csv(self, path: str | os.PathLike[str], *, wide: bool = False) -> None:
        r"""Write the traces as a CSV table, gzipped if the name ends in `.gz`; every name becomes text.

        Parameters
        ----------
        path : path
            The file; it appears whole or not at all.
        wide : bool
            One task a row and one column of last votes for each agent, instead of one move a row. It holds neither
            rounds nor challenges nor candidates that nobody chose.

        Raises
        ------
        TraceError
            For a bootstrap sample, and for names that text cannot tell apart.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from bda import Traces
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Traces.from_votes([["x", "y"]], agents=["ada", "cox"]).write_csv(f"{folder}/votes.csv", wide=True)
        ...     Path(folder, "votes.csv").read_text()
        'task,ada,cox\n0,x,y\n'
        """
        from bda.trace_tables import write_trace_table, write_vote_table

        (write_vote_table if wide else write_trace_table)(self, path)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a move: task, agent, round, type, answer, target, status and more.

        Returns
        -------
        DataFrame
            Tasks without moves have no row. `endorses` and `rejects` hold what the move says once resolved; in a
            view a targeted move states that as its answer, and its concessions are `frozen`.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1]]).to_frame()[["task", "agent", "answer"]].values.tolist()
        [[0, 0, 0], [0, 1, 1]]
        """
        from bda.frames import to_frame

        return to_frame(self)

    def with_gold(self, gold: Any) -> Traces:
        """Return the same traces with another gold.

        Parameters
        ----------
        gold : mapping, Series, array, frame or CSV path
            By task name: a mapping, a Series whose index holds task names, a frame or CSV with columns `task`
            and `label` (or `gold`). By position: an array or Series of n_tasks labels. Missing = unlabelled.

        Returns
        -------
        Traces
            With `gold` replaced.

        Raises
        ------
        TraceError
            If a label is not a candidate of its task, or a table names a task that is not there.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, 1], [1, 1]]).with_gold({1: 0}).gold.tolist()
        [-1, 0]
        """
        from bda.labels import gold_codes

        return replace(self, gold=gold_codes(self, gold, strict=True))

    def protocol_report(self) -> ProtocolReport:
        """Return counts and places of every irregular or uninformative move, per agent and round.

        Returns
        -------
        ProtocolReport
            With `.to_frame()`, `.states()` and `.locations()`.

        Examples
        --------
        >>> from bda import Traces
        >>> Traces.from_votes([[0, -1], [1, 1]]).protocol_report().states()["not_asked"].tolist()
        [0, 1]
        """
        from bda.protocol import ProtocolReport

        return ProtocolReport(self)
