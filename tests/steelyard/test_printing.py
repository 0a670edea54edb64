"""Tables, and names on one line."""

import sys

import pytest

from steelyard.printing import progress, say, shown, table


def test_columns_are_aligned_by_what_they_hold():
    rows = [["ada", 7, 0.5, None], ["a longer name", 1200, float("nan"), 3]]
    assert table(["agent", "moves", "share", "n"], rows) == [
        "agent          moves  share  n",
        "ada                7  0.500  -",
        "a longer name  1,200      -  3",
    ]


def test_a_table_without_rows_is_its_header():
    assert table(["agent", "n"], []) == ["agent  n"]


@pytest.mark.parametrize(
    ("name", "text"),
    [("ada", "ada"), (7, "7"), (True, "True"), ("a ☃", "a ☃"), ("a\nb", r"'a\nb'"), ("a ", "'a '"), ("", "''")],
)
def test_a_name_takes_one_line(name, text: str):
    assert shown(name) == text


def test_progress_is_for_terminals(capsys, monkeypatch):
    progress("counting")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress("counting")
    say("done")
    assert capsys.readouterr() == ("", "steelyard: counting ...\nsteelyard: done\n")
