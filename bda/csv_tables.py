"""CSV tables with a header: read line by line, what is wrong said with its file and line; and written."""

from __future__ import annotations

import csv
import gzip
import itertools
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO, cast

from bda.errors import TraceError

__all__ = ["csv_lines", "csv_text", "read_csv"]


def read_csv(path: str | os.PathLike[str], quoted: str) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the line that each row ends on, and its fields; blank rows are passed over.

    Parameters
    ----------
    path : path
        A table in UTF-8, `.gz` or plain.
    quoted : str
        What may hold a comma in it, for the remedy of a row that is too long.

    Yields
    ------
    line : int
        1 for the header, which comes first even where the file is empty.
    row : list of str
        As many fields as the header, whose names come stripped.

    Raises
    ------
    TraceError
        For a row of another length, and for a file that is cut off or no CSV in UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "gold.csv").write_text("task, label\nq1,A\n")
    ...     list(read_csv(Path(folder, "gold.csv"), "labels"))
    [(1, ['task', 'label']), (2, ['q1', 'A'])]
    """
    line = 0
    try:
        with _opened(path) as file:
            rows = csv.reader(file)
            header = [name.strip() for name in next(rows, [])]
            yield 1, header
            for row in rows:
                line = rows.line_num
                if len(row) not in (0, len(header)):
                    raise TraceError(
                        f"has {len(row)} fields, the header {len(header)}",
                        where=f"{path}:{line}",
                        field="row",
                        value=",".join(row),
                        remedy=f"quote {quoted} that hold commas",
                    )
                if row:
                    yield line, row
    except (UnicodeDecodeError, csv.Error, EOFError, gzip.BadGzipFile, zlib.error) as fault:
        raise TraceError(
            f"cannot be read after line {line}: {fault}", where=str(path), remedy="save it as CSV in UTF-8, whole"
        ) from None


def csv_text(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV, with commas, quotes and line breaks in names quoted.

    Parameters
    ----------
    header : sequence
        Names of the columns.
    rows : iterable of sequences
        Values; None is an empty field.

    Returns
    -------
    str
        One line a row, each ending in a newline.

    Examples
    --------
    >>> from bda.csv_tables import csv_text
    >>> print(csv_text(["task", "prediction"], [["q1, part b", "yes"]]), end="")
    task,prediction
    "q1, part b",yes
    """
    return "".join(csv_lines(header, rows))


def csv_lines(header: Sequence[object], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of `csv_text` one by one; see there."""
    for row in itertools.chain([header], rows):
        yield ",".join(map(_field, row)) + "\n"


def _opened(path: str | os.PathLike[str]) -> TextIO:
    opener = gzip.open if str(path).endswith(".gz") else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))


def _field(value: object) -> str:
    """Quote where it is needed; csv.writer forgets to quote a lone carriage return."""
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text
