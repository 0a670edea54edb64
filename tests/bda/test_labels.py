"""Gold in every form: by name, by position, as a CSV table; and what does not fit."""

import gzip

import numpy as np
import pandas as pd
import pytest

from bda import TraceError, Traces
from bda.labels import candidate_positions, gold_codes, read_label_csv
from tests.bda.small_traces import assert_same, task

LETTERS = Traces.from_records([task(name="q1", gold="A"), task(name="q2", candidates="BC"), task(name="q3")])
NUMBERS = Traces.from_votes([[0, 1], [2, 1], [1, 1]], tasks=[10, 20, 30])
SWITCH = Traces.from_votes([[True, False], [True, True]])


def gold(traces, labels, strict=True):
    codes = gold_codes(traces, labels, strict)
    assert codes.dtype == np.int32
    return [None if code < 0 else traces.classes[code] for code in codes]


FORMS = {
    "mapping": {"q3": "C", "q1": "A"},
    "mapping with gaps": {"q3": "C", "q1": "A", "q2": None},
    "Series by name": pd.Series(["C", "A"], index=["q3", "q1"]),
    "Series by name with gaps": pd.Series(["C", np.nan, "A"], index=["q3", "q2", "q1"]),
    "Series by position": pd.Series(["A", None, "C"]),
    "Series of categories": pd.Series(pd.Categorical(["A", None, "C"])),
    "list": ["A", None, "C"],
    "tuple": ("A", np.nan, "C"),
    "array": np.array(["A", None, "C"], object),
    "array with empty text": np.array(["A", "", "C"]),
    "-1 among text": ["A", -1, "C"],
    "frame": pd.DataFrame({"task": ["q3", "q1"], "label": ["C", "A"]}),
    "frame with other columns": pd.DataFrame({"note": [1, 2], "gold": ["C", "A"], "task": ["q3", "q1"]}),
    "frame with truth": pd.DataFrame({"task": ["q3", "q1", "q2"], "truth": ["C", "A", pd.NA]}),
    "repeated rows": pd.DataFrame({"task": ["q3", "q1", "q3", "q3"], "label": ["C", "A", "C", None]}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form):
    assert gold(LETTERS, FORMS[form]) == ["A", None, "C"]
    before = LETTERS.gold.tolist()
    found = LETTERS.with_gold(FORMS[form])
    assert found.gold.tolist() == [0, -1, 2]
    assert LETTERS.gold.tolist() == before
    assert_same(found.with_gold(["A", None, None]), LETTERS)


def test_none_is_the_gold_inside():
    assert gold(LETTERS, None) == ["A", None, None]


@pytest.mark.parametrize(
    "labels",
    [
        [0, 2, -1],
        np.array([0, 2, -1]),
        np.array([0, 2, np.nan]),
        np.array([0, 2, -1], np.int8),
        pd.Series([0, 2, None], dtype="Int64"),
        pd.Series([0.0, 2.0, np.nan]),
        {10: 0, 20: 2},
        {10: 0, np.int64(20): np.int64(2), 30: -1},
        {10.0: 0.0, 20.0: 2.0},
        pd.Series([2, 0], index=[20, 10]),
        pd.DataFrame({"task": [20.0, 10.0], "label": [2.0, 0.0]}),
    ],
)
def test_numbers(labels):
    assert gold(NUMBERS, labels) == [0, 2, None]


@pytest.mark.parametrize("labels", [[True, False], [1, 0], np.array([1.0, 0.0]), {0: True, 1: False}, {0: 1, 1: 0}])
def test_truth_values_and_their_numbers(labels):
    assert gold(SWITCH, labels) == [True, False]
    binary = Traces.from_votes([[1, 0], [1, 1]])
    assert gold(binary, labels) == [1, 0]


def test_a_series_is_matched_by_name_if_its_index_names_tasks():
    counted = Traces.from_votes([[0, 1], [1, 1], [0, 0]])
    assert gold(counted, pd.Series([1, 0], index=[2, 0])) == [0, None, 1]
    assert gold(counted, pd.Series([1, 0])) == [1, 0, None]
    from_one = Traces.from_votes([[0, 1], [1, 1]], tasks=[1, 2])
    assert gold(from_one, pd.Series([1, 0])) == [1, 0]
    assert gold(from_one, pd.Series([1, 0], index=[2, 1])) == [0, 1]


def test_gold_of_a_bootstrap_sample():
    sample = LETTERS[[2, 0, 2]]
    assert gold(sample, {"q3": "B"}) == ["B", None, "B"]
    assert gold(sample, ["A", "B", "C"]) == ["A", "B", "C"]


def test_tasks_elsewhere_are_passed_over_unless_strict():
    labels = {"q1": "B", "q9": "A", "q8": "nonsense"}
    assert gold(LETTERS, labels, strict=False) == ["B", None, None]
    with pytest.raises(
        TraceError, match="task = 'q9' and 1 more are not in the traces; tasks are named like 'q1', 'q2'"
    ):
        gold(LETTERS, labels)
    with pytest.raises(TraceError, match="task = 'q9' is not in the traces"):
        gold(LETTERS, {"q9": "A"}, strict=False)
    assert gold(LETTERS, {}) == [None, None, None]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"q1": "Z"}, r"^labels, task 'q1': label = 'Z' is not a class; classes are 'A', 'B', 'C'$"),
        ({"q1": "a"}, "label = 'a' is not a class"),
        ({"q1": np.int64(1)}, "label = 1 is not a class"),
        ({"q1": 1.5}, "label = 1.5 is not a whole number"),
        ({"q1": ["A"]}, r"label = \['A'\] is a list, not a name"),
        ({"q2": "A"}, "^labels, task 'q2': label = 'A' is not a candidate of its task; it offers 'B', 'C'$"),
        (["A", "A", "A"], r"^labels\[1\], task 'q2': label = 'A' is not a candidate of its task"),
        (["A", "B"], "^labels = 'list' has 2 labels for 3 tasks; align it to the tasks or pass a mapping"),
        (pd.Series(["A", "B"]), "has 2 labels for 3 tasks"),
        (np.array([["A"], ["B"], ["C"]]), r"^labels\[0\], task 'q1': label = \['A'\] is a ndarray, not a name"),
        (5, "^labels = 5 have no order of tasks; pass a mapping or a list in task order$"),
        ({"A", "B", "C"}, "have no order of tasks"),
        (pd.Series(["A", "B"], index=["q1", "q7"]), "^labels: task = 'q7' is not in the traces"),
        (pd.DataFrame({"task": ["q1", "q1"], "label": ["A", "B"]}, index=[4, 5]),
         "^labels, row 5, task 'q1': label = 'B' differs from 'A', given before; keep one label a task"),
        (pd.DataFrame({"task": ["q1", None], "label": ["A", "B"]}), r"^labels, row 1: task = .* is not in the traces"),
        (pd.DataFrame({"task": [["q1"]], "label": ["A"]}), r"^labels, row 0: task = \['q1'\] is a list"),
        (pd.DataFrame({"name": ["q1"], "label": ["A"]}), r"^labels: columns = \['name', 'label'\] lacks a column"),
        (pd.DataFrame({"task": ["q1"], "class": ["A"]}), "lacks a column; use task,label"),
    ],
)  # fmt: skip
def test_what_does_not_fit(labels, message):
    with pytest.raises(TraceError, match=message):
        LETTERS.with_gold(labels)


def csv(folder, text, name="gold.csv"):
    path = folder / name
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


TABLE = "task,label\nq1,A\nq2,\nq3,C\n"


@pytest.mark.parametrize("name", ["gold.csv", "gold.csv.gz", "gold.txt"])
@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        TABLE.replace("\n", "\r\n"),
        "\ufeff" + TABLE,
        TABLE.rstrip("\n"),
        TABLE.replace("\n", "\n\n"),
        "note,truth,task\nx,A,q1\n,C,q3\n",
        ' task , gold \n"q1","A"\n"q3","C"\n',
        "task,answer,agent\nq3,C,\nq1,A,\nq2,-1,\nq1,A,\nq1,,\n",
    ],
    ids=["plain", "crlf", "bom", "no last newline", "blank lines", "other columns", "quotes", "repeats and -1"],
)
def test_a_table_on_disk(tmp_path, name, text):
    path = csv(tmp_path, text, name)
    assert gold(LETTERS, path) == ["A", None, "C"]
    assert gold(LETTERS, str(path)) == ["A", None, "C"]
    pairs = dict(pair for pair in read_label_csv(path) if pair[1] not in ("", "-1"))
    assert pairs == {"q1": "A", "q3": "C"}


def test_a_table_of_text_names_numbers_and_truth_values(tmp_path):
    assert gold(NUMBERS, csv(tmp_path, "task,label\n10,0\n20,2\n")) == [0, 2, None]
    assert gold(NUMBERS, csv(tmp_path, "task,label\n10.0,0.0\n20.0,2.0\n")) == [0, 2, None]
    assert gold(SWITCH, csv(tmp_path, "task,label\n0,True\n1,False\n")) == [True, False]
    pd.DataFrame({"task": [10, 30, None], "label": [1, None, None]}).dropna(subset="task").to_csv(tmp_path / "p.csv")
    assert gold(NUMBERS, tmp_path / "p.csv") == [1, None, None]
    signs = Traces.from_votes([[-1, 1]], classes=[-1, 1])
    assert gold(signs, csv(tmp_path, "task,label\n0,-1\n")) == [-1]
    assert gold(signs, [-1]) == [-1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"gold\.csv:1: header = \[\] lacks a column; use task,label"),
        ("q1,A\nq2,B\n", r"gold\.csv:1: header = \['q1', 'A'\] lacks a column"),
        ("task;label\nq1;A\n", r"gold\.csv:1: header = \['task;label'\] lacks a column"),
        ("item,label\nq1,A\n", "lacks a column"),
        ("task,label\nq1,A\n\nq3,Z\n", r"gold\.csv:4, task 'q3': label = 'Z' is not a class; classes are 'A', 'B'"),
        ("task,label\nq1,A\nq2,A\n", r"gold\.csv:3, task 'q2': label = 'A' is not a candidate of its task; it offers"),
        ("task,label\nq1,A\nq3,C\nq1,B\n", r"gold\.csv:4, task 'q1': label = 'B' differs from 'A', given before"),
        ("task,label\nq1,A\nq9,A\n", r"gold\.csv:3: task = 'q9' is not in the traces; tasks are named like"),
        ("task,label\nq1,A\n,A\n", r"gold\.csv:3: task = '' is not in the traces"),
        ("task,label\nq1,A,B\n", r"gold\.csv:2: row = 'q1,A,B' has 3 fields, the header 2; quote labels"),
        ("task,label\nq1\n", r"gold\.csv:2: row = 'q1' has 1 fields, the header 2"),
        ("task,label\nq1, A\n", r"gold\.csv:2, task 'q1': label = ' A' is not a class"),
        ('task,label\n"q1\nx",A\nq3,Z\n', r"gold\.csv:4, task 'q3'"),
        (b"task,label\nq1,\xe9\n", r"gold\.csv: cannot be read after line \d: .*codec can't decode byte 0xe9"),
        (b'task,label\nq1,"' + b"x" * 200_000 + b'"\n', r"gold\.csv: cannot be read after line 0: field larger than"),
    ],
)  # fmt: skip
def test_a_table_that_does_not_fit(tmp_path, text, message):
    path = csv(tmp_path, text)
    with pytest.raises(TraceError, match=message) as caught:
        LETTERS.with_gold(path)
    assert str(path) in caught.value.where


@pytest.mark.parametrize("cut", [-1, -9, 5])
def test_a_cut_table(tmp_path, cut):
    path = csv(tmp_path, "task,label\n" + "".join(f"q{i},A\n" for i in range(999)), "gold.csv.gz")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(TraceError, match=r"gold\.csv\.gz: cannot be read after line \d+"):
        LETTERS.with_gold(path)


@pytest.mark.parametrize(
    ("traces", "message"),
    [
        (Traces.from_records([task(name=n, candidates=[1, "1", "A"]) for n in ("q1", "q2")]), "classes = "),
        (Traces.from_records([task(name=n) for n in (1, "1")]), "tasks = "),
    ],
)
def test_text_cannot_tell_1_from_its_digit(tmp_path, traces, message):
    with pytest.raises(TraceError, match=message + r".* cannot be told from .* in a table of text; pass a mapping"):
        traces.with_gold(csv(tmp_path, "task,label\n1,A\n"))


def test_candidate_positions_against_a_search():
    rng = np.random.default_rng(0)
    records = [
        task(name=n, candidates=rng.permutation(list("ABCDEF"))[: rng.integers(2, 6)].tolist()) for n in range(9)
    ]
    traces = Traces.from_records([*records, task(name=9, candidates="EF")])
    pairs = [(n, c) for n in range(10) for c in range(-1, 6)]
    expected = []
    for n, c in pairs:
        span = range(traces.candidate_start[n], traces.candidate_start[n + 1])
        expected.append(next((i for i in span if traces.candidate_class[i] == c), -1))
    assert candidate_positions(traces, *np.array(pairs).T).tolist() == expected
    assert candidate_positions(Traces.from_records([]), np.zeros(0, int), np.zeros(0, int)).tolist() == []
