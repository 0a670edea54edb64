"""Tables, names on one line, and CSV."""

import csv
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.printing import csv_text, progress, say, shown, table


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


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.lists(NAMES, min_size=2, max_size=2)))
def test_csv_comes_back_as_it_went(rows):
    back = list(csv.reader(io.StringIO(csv_text(["a", "b"], rows), newline="")))
    assert back == [["a", "b"], *rows]


def test_progress_is_for_terminals(capsys, monkeypatch):
    progress("counting")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    progress("counting")
    say("done")
    assert capsys.readouterr() == ("", "steelyard: counting ...\nsteelyard: done\n")
