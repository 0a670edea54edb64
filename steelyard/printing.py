"""How commands print: words on stderr, aligned tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

__all__ = ["progress", "say", "shown", "table"]


def say(words: str) -> None:
    """Print words for the reader, on stderr.

    Parameters
    ----------
    words : str
        One line.

    Examples
    --------
    >>> from steelyard.printing import say
    >>> say("3 tasks have no label")
    """
    print(f"steelyard: {words}", file=sys.stderr)


def progress(words: str) -> None:
    """Say what is being done, if stderr is a terminal; silent otherwise.

    Parameters
    ----------
    words : str
        One line.

    Examples
    --------
    >>> from steelyard.printing import progress
    >>> progress("trying 120 settings")
    """
    if sys.stderr.isatty():
        say(f"{words} ...")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    r"""Return the lines of a table: text to the left, numbers to the right, columns two blanks apart.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : iterable of sequences
        Cells; floats have three decimals, None as "-".

    Returns
    -------
    list of str
        The header's line first.

    Examples
    --------
    >>> from steelyard.printing import table
    >>> print("\n".join(table(["agent", "right"], [["ada", 7], ["cox", 12]])))
    agent  right
    ada        7
    cox       12
    """
    rows = [list(row) for row in rows]
    cells = [list(header), *([_cell(value) for value in row] for row in rows)]
    wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
    left = [any(isinstance(row[i], str) for row in rows) for i in range(len(header))]
    lines = []
    for row in cells:
        parts = [text.ljust(w) if a else text.rjust(w) for text, w, a in zip(row, wide, left, strict=True)]
        lines.append("  ".join(parts).rstrip())
    return lines


def shown(name: object) -> str:
    r"""Return a name on one line: as it is, or quoted where it holds what would break a line or hide.

    Parameters
    ----------
    name : str, int or bool
        A task, an agent or a class.

    Returns
    -------
    str
        Printable.

    Examples
    --------
    >>> from steelyard.printing import shown
    >>> print(shown("über"), shown("two\nlines"), shown(" a"))
    über 'two\nlines' ' a'
    """
    text = str(name)
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)
