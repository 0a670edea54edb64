"""Text as CSV: whatever is written is read back."""

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from bda.csv_tables import csv_text, read_csv

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.lists(st.lists(NAMES, min_size=2, max_size=2)))
def test_csv_comes_back_as_it_went(rows):
    back = list(csv.reader(io.StringIO(csv_text(["a", "b"], rows), newline="")))
    assert back == [["a", "b"], *rows]


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbfa , b\r\n\r\n1,"two\r\nlines"\r\n3,4')
    assert list(read_csv(path, "names")) == [(1, ["a", "b"]), (4, ["1", "two\r\nlines"]), (5, ["3", "4"])]


def test_an_empty_file_has_an_empty_header(tmp_path):
    (tmp_path / "a.csv").write_text("")
    assert list(read_csv(tmp_path / "a.csv", "names")) == [(1, [])]
