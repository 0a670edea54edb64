"""Files that appear whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["appearing", "opened_for_bytes"]


@contextmanager
def appearing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path to write to, beside `path`; what was written takes its place at the end, or goes on a fault.

    Parameters
    ----------
    path : path
        The file wanted.

    Yields
    ------
    Path
        The file to write.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with appearing(f"{folder}/a.txt") as partial:
    ...         _ = partial.write_text("all of it")
    ...     Path(f"{folder}/a.txt").read_text()
    'all of it'
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def opened_for_bytes(path: str | os.PathLike[str]) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file that appears at the end; one named `.gz` is compressed, the same bytes for the same content.

    Parameters
    ----------
    path : path
        The file wanted.

    Yields
    ------
    file
        Takes bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with opened_for_bytes(f"{folder}/a.txt.gz") as file:
    ...         _ = file.write(b"all of it")
    ...     gzip.open(f"{folder}/a.txt.gz").read()
    b'all of it'
    """
    with appearing(path) as partial, partial.open("wb") as raw:
        if str(path).endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
                yield file
        else:
            yield raw
