"""CSV tables with a header, read line by line; what is wrong with one is said with its file and line."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Iterator
from typing import TextIO, cast

from bda.errors import TraceError

__all__ = ["read_csv"]


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


def _opened(path: str | os.PathLike[str]) -> TextIO:
    opener = gzip.open if str(path).endswith(".gz") else open
    return cast(TextIO, opener(path, "rt", encoding="utf-8-sig", newline=""))
