"""Traces named on the command line: every kind of file, gold, filters, and what is refused."""

import argparse
import gzip
import json
import warnings
from pathlib import Path

import pytest

from bda.errors import TraceWarning
from bda.traces import Traces
from steelyard.trace_arguments import add_trace_arguments, load_traces, read_traces
from tests.steelyard.conftest import council, write_records

ODD = ["a,b", 'say "so"', "two\nlines", "ümläut ☃", " blank ", "-1", "NA", "007"]


def parsed(*words: object) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_trace_arguments(parser)
    return parser.parse_args([str(word) for word in words])


def same(first: Traces, second: Traces) -> bool:
    return first.to_frame().equals(second.to_frame()) and first.gold.tolist() == second.gold.tolist()


def csv_file(path: Path, text: str) -> Path:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        file.write(text)
    return path


def test_every_kind_of_file_holds_the_same(traces_file: Path, tmp_path: Path):
    traces = Traces.read_jsonl(traces_file)
    traces.write_jsonl(tmp_path / "council.jsonl.gz")
    traces.write_parquet(tmp_path / "council.parquet")
    text = traces.to_frame().to_csv(index=False)
    csv_file(tmp_path / "council.csv", text)
    csv_file(tmp_path / "council.csv.gz", text)
    for name in ("council.jsonl.gz", "council.parquet", "council.csv", "council.csv.gz"):
        assert same(read_traces(tmp_path / name), traces), name


def test_a_table_of_a_crowd(tmp_path: Path):
    path = csv_file(tmp_path / "crowd.csv", "task,worker,label\n1,w1,A\n1,w2,B\n2,w1,B\n\n2,w2,\n")
    traces = read_traces(path)
    assert traces.task_ids.tolist() == ["1", "2"]
    assert (traces.agent_names, traces.classes) == (("w1", "w2"), ("A", "B"))
    assert traces.protocol_report().states()["unreadable"].tolist() == [0, 1]


def test_names_in_a_table_are_text_whatever_they_look_like(tmp_path: Path):
    quoted = [name.replace('"', '""') for name in ODD]
    rows = "".join(f'"{name}","{name}","{name}"\n' for name in quoted)
    traces = read_traces(csv_file(tmp_path / "odd.csv", f"task,agent,answer\n{rows}"))
    assert traces.task_ids.tolist() == ODD
    assert sorted(traces.agent_names) == sorted(traces.classes) == sorted(ODD)


def test_all_columns_of_a_table(tmp_path: Path):
    text = (
        "task,agent,answer,round,type,target,status,confidence,frozen,gold,candidates,meta\n"
        'q1,ada,1,,,,,0.5,,2,"[1, 2, 3]","{""kind"": ""easy""}"\n'
        "q1,ben,2,1,concede,ada,ok,,true,,,\n"
        "q1,cox,garbage,0,,,truncated,,false,,,\n"
        "q2,,,,,,,,,3,\"[2, 3]\",\n"
    )  # fmt: skip
    traces = read_traces(csv_file(tmp_path / "all.csv", text))
    assert traces.classes == ("1", "2", "3")
    assert traces.n_candidates.tolist() == [3, 2]
    frame = traces.to_frame()
    assert frame["endorses"].fillna("-").tolist() == ["1", "2", "-"]
    assert frame["status"].tolist() == ["ok", "ok", "truncated"]
    assert frame["round"].tolist() == [0, 1, 0]
    assert frame["frozen"].tolist() == [False, True, False]
    assert [traces.classes[code] for code in traces.gold] == ["2", "3"]
    assert traces.meta is not None
    assert dict(traces.meta[0]) == {"kind": "easy"}


def test_what_only_gold_names_is_a_class_and_is_said(tmp_path: Path):
    path = csv_file(tmp_path / "votes.csv", "task,agent,answer,gold,note\nq1,ada,A,B,x\nq2,ada,A,,\n")
    with pytest.warns(TraceWarning) as said:
        traces = read_traces(path)
    words = [str(warning.message) for warning in said]
    assert any("columns not read: 'note'" in text for text in words)
    assert any("only gold names the classes 'B'" in text for text in words)
    assert traces.classes == ("A", "B")


def test_a_table_of_gold_names_classes_too(tmp_path: Path):
    path = csv_file(tmp_path / "votes.csv", "task,agent,answer\nq1,ada,A\nq2,ada,A\n")
    gold = csv_file(tmp_path / "gold.csv", "task,label\nq1,C\nq2,-1\n")  # -1: unlabelled
    with pytest.warns(TraceWarning, match="only gold names the classes 'C'"):
        traces = read_traces(path, gold)
    assert traces.classes == ("A", "C")
    assert traces.gold.tolist() == [1, -1]


def test_gold_from_a_table_replaces_gold_inside(traces_file: Path, tmp_path: Path):
    gold = csv_file(tmp_path / "gold.csv", "task,label\nq3,yes\n")
    traces = load_traces(parsed(traces_file, "--gold", gold))
    assert {t: traces.classes[c] for t, c in zip(traces.task_ids, traces.gold, strict=True) if c >= 0} == {"q3": "yes"}


def test_gold_covers_the_file_though_only_a_part_is_kept(traces_file: Path, tmp_path: Path):
    gold = csv_file(tmp_path / "gold.csv", "task,label\nq0,no\nq3,yes\n")
    traces = load_traces(parsed(traces_file, "--gold", gold, "--subset", "meta.kind=odd"))
    assert traces.task_ids.tolist() == ["q1", "q3", "q5"]
    assert (traces.gold >= 0).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("words", "tasks", "agents"),
    [
        ([], 6, "abcd"),
        (["--agents", "ada", "c*"], 6, "ac"),
        (["--agents", "ada", "--agents", "ben"], 6, "ab"),
        (["--exclude-agents", "*o*"], 6, "ab"),
        (["--agents", "?e*", "a*", "--exclude-agents", "ada"], 6, "b"),
        (["--subset", "kind=odd", "group=g0"], 1, "abcd"),
        (["--subset", "kind=odd", "--subset", "meta.group=g0"], 1, "abcd"),
    ],
)
def test_filters(traces_file: Path, words: list[str], tasks: int, agents: str):
    traces = load_traces(parsed(traces_file, *words))
    assert len(traces) == tasks
    assert "".join(str(name)[0] for name in traces.agent_names) == agents


def test_a_name_that_looks_like_a_pattern_means_itself(tmp_path: Path):
    records = council()
    for record in records:
        record["moves"][0]["agent"] = "gpt[1]*"
        record["moves"][1]["agent"] = "gpt1"
    path = write_records(tmp_path / "a.jsonl", records)
    assert load_traces(parsed(path, "--agents", "gpt[1]*")).agent_names == ("gpt[1]*",)
    assert "gpt1" in load_traces(parsed(path, "--exclude-agents", "gpt[1]*")).agent_names


def test_moves_are_resolved_before_agents_are_left_out(traces_file: Path):
    dot = load_traces(parsed(traces_file, "--agents", "dot"))
    assert dot.to_frame()["rejects"].tolist() == ["no"]  # what cox, who is gone, stood by


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--agents", "eve*"], "agents = 'eve*' matches no agent; agents are 'ada', 'ben', 'cox', 'dot'"),
        (["--exclude-agents", "eve"], "matches no agent"),
        (["--exclude-agents", "*"], "--exclude-agents * leaves none of 4 agents"),
        (["--subset", "kind=flat"], "values there are even, odd"),
        (["--subset", "sort=odd"], "no task has meta.sort"),
        (["--subset", "odd"], "--subset 'odd' is not a condition on meta; write --subset key=value"),
        (["--subset", "=odd"], "write --subset key=value"),
        (["--gold", "missing.csv"], "missing.csv: No such file or directory"),
    ],
)
def test_a_filter_that_leaves_nothing(refused, traces_file: Path, words: list[str], message: str):
    assert message.replace("'", "") in refused("inspect", traces_file, *words).replace("'", "")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.jsonl", None, "No such file or directory"),
        ("votes.tsv", b"x", "is not a file of traces: it has .tsv; use .jsonl, .jsonl.gz, .csv, .csv.gz, .parquet"),
        ("arm.json", b"{}", "it has .json"),
        ("votes", b"x", "it has no suffix"),
        ("empty.jsonl", b"\n", "holds no task"),
        ("empty.csv", b"task,agent,answer\n", "holds no task"),
        ("nothing.csv", b"", "columns = [] lack"),
        ("bad.jsonl", b'{"task": 1,\n', "bad.jsonl:1: line"),
        ("latin.jsonl", b'{"task": "\xe9"}\n', "UTF-8"),
        ("latin.csv", b"task,agent,answer\nq\xe9,a,b\n", "UTF-8"),
        ("cut.jsonl.gz", gzip.compress(b"{}" * 999)[:-9], "is not a whole gzip file"),
        ("cut.csv.gz", gzip.compress(b"task,agent,answer\n" * 999)[:-9], "cannot be read after line"),
        ("plain.csv.gz", b"task,agent,answer\n", "cannot be read after line 0"),
        ("not.parquet", b"x" * 99, "is not a whole Parquet file"),
        ("short.csv", b"task,agent,answer\nq1,a\n", "short.csv:2: row = 'q1,a' has 2 fields, the header 3"),
        ("long.csv", b'task,agent,answer\nq1,"a\nb",c\n\nq1,a,b,c\n', "long.csv:5: row"),
        ("twice.csv", b"task,agent,answer,answer\n", "twice.csv:1: column = 'answer' stands twice"),
        ("both.csv", b"task,agent,worker,answer\nq,a,b,c\nq,a,b,d\n", "stands twice"),
        ("lacks.csv", b"task,agent\nq1,a\n", "lack one that is needed; add 'answer' or 'label'"),
        ("slip.csv", b"task,agent,answer,rond\nq,a,x,1\nq,b,y,1\n", "'rond'"),
        ("round.csv", b"task,agent,answer,round\nq,a,x,0\n\nq,b,y,soon\n", "round.csv:4: round = 'soon'"),
        ("type.csv", b"task,agent,answer,type\nq,a,x,propose\nq,b,y,prpose\n", "type.csv:3: type = 'prpose'"),
        ("task.csv", b"task,agent,answer\nq,a,x\n,b,y\n", "task.csv:3: task"),
        ("one.csv", b"task,agent,answer\nq,a,x\n", "answers = ['x'] are fewer than two classes; add a column"),
        ("list.csv", b'task,agent,answer,candidates\nq,a,x,"x,y"\n', "list.csv:2: candidates = 'x,y'"),
        ("gold.csv", b"task,agent,answer,gold\nq,a,x,y\nq,b,y,x\n", "gold.csv:3: gold = 'x' differs"),
    ],
)
def test_a_file_that_is_no_file_of_traces(refused, tmp_path: Path, name: str, content: bytes | None, message: str):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    err = refused("inspect", path)
    assert message in err
    assert name in err


@pytest.mark.parametrize("kind", ["task", "agent", "class"])
def test_a_name_with_half_a_character_is_refused(refused, tmp_path: Path, kind: str):
    names = {"task": "q", "agent": "ada", "class": "yes", kind: "half\ud800"}
    move = {"agent": names["agent"], "type": "propose", "answer": names["class"]}
    record = {"task": names["task"], "candidates": [names["class"], "no"], "moves": [move]}
    (tmp_path / "a.jsonl").write_text(json.dumps(record), encoding="ascii")
    assert f"{kind} = 'half\\ud800' is not Unicode text" in refused("inspect", tmp_path / "a.jsonl")


def test_a_folder_is_not_a_file(refused, tmp_path: Path):
    for name in ("folder.jsonl", "folder.csv", "folder.parquet"):
        (tmp_path / name).mkdir()
        assert name in refused("inspect", tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,label\nq9,yes\nq0,yes\n", "gold.csv:2: task = 'q9' is not in the traces"),
        ("task,label\nq0,perhaps\n", "label = 'perhaps' is not a class"),
        ("task,label\nq0,yes\nq0,no\n", "differs from 'yes'"),
        ("name,label\nq0,yes\n", "lacks a column"),
        ("task,label\nq0,yes,no\n", "gold.csv:2: row"),
    ],
)
def test_a_table_of_gold_that_does_not_fit(refused, traces_file: Path, tmp_path: Path, text: str, message: str):
    assert message in refused("inspect", traces_file, "--gold", csv_file(tmp_path / "gold.csv", text))


def test_a_lasting_warning_does_not_stop_a_command(traces_file: Path, tmp_path: Path, command):
    records = council()
    records[0]["moves"][0]["note"] = "said twice"
    path = write_records(tmp_path / "noted.jsonl", records)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, out, err = command("inspect", path, "--json")
    assert code == 0
    assert json.loads(out)["n_tasks"] == 6
    assert err == f"steelyard: warning: {path}: fields not read: 'note' (1 times)\n"
