"""The command convert: every form holds the same traces, and what a form cannot hold is said."""

import json
from pathlib import Path

import pytest

from bda.traces import Traces
from steelyard.trace_arguments import read_traces
from tests.bda.small_traces import assert_same
from tests.steelyard.conftest import council, write_records

FORMS = ("a.jsonl", "a.jsonl.gz", "a.csv", "a.csv.gz", "a.parquet")


@pytest.mark.parametrize("first", FORMS)
@pytest.mark.parametrize("second", FORMS)
def test_from_every_form_into_every_other(command, traces_file: Path, tmp_path: Path, first: str, second: str):
    assert command("convert", traces_file, tmp_path / first)[0] == 0
    code, out, err = command("convert", tmp_path / first, tmp_path / f"again-{second}")
    assert (code, out, err) == (0, f"6 tasks, 4 agents, 19 moves in {tmp_path / f'again-{second}'}\n", "")
    assert_same(read_traces(tmp_path / f"again-{second}"), Traces.read_jsonl(traces_file))


def test_a_wide_table_says_what_it_leaves_out(command, traces_file: Path, tmp_path: Path):
    path = tmp_path / "wide.csv"
    code, out, err = command("convert", traces_file, path, "--wide", "--json")
    assert code == 0
    assert err == f"steelyard: {path} does not hold 1 moves that are no last vote, meta\n"
    assert json.loads(out) == {
        "tasks": 6, "agents": 4, "moves": 18, "output": str(path), "lost": ["1 moves that are no last vote", "meta"],
    }  # fmt: skip
    assert path.read_text().splitlines()[:2] == ["task,ada,ben,cox,dot,gold", "q0,yes,no,no,,yes"]
    assert_votes_are_kept(path, traces_file)


def assert_votes_are_kept(path: Path, traces_file: Path):
    columns = ["task", "agent", "answer"]
    votes = Traces.read_jsonl(traces_file).last_vote().to_frame()[columns]
    assert read_traces(path).to_frame()[columns].equals(votes)


def test_what_else_a_form_may_leave_out(command, tmp_path: Path):
    records = council()
    records[0]["candidates"] = ["yes", "no", "perhaps"]
    path = write_records(tmp_path / "a.jsonl", records)
    err = command("convert", path, tmp_path / "wide.csv", "--wide")[2]
    assert "1 classes that nobody chose, which candidates each task offers, meta" in err
    Traces.from_votes([[0, 1, -1]], agents=["ada", "bo", "cy"]).write_parquet(tmp_path / "silent.parquet")
    err = command("convert", tmp_path / "silent.parquet", tmp_path / "silent.csv")[2]
    assert err.endswith("does not hold numbers or truth values as names, but their text, 1 agents without a move\n")
    assert command("convert", tmp_path / "silent.parquet", tmp_path / "again.parquet")[2] == ""


def test_filters_choose_what_is_written(command, traces_file: Path, tmp_path: Path):
    path = tmp_path / "part.jsonl"
    assert command("convert", traces_file, path, "--agents", "ada", "dot", "--subset", "kind=even")[0] == 0
    part = Traces.read_jsonl(path)
    assert part.agent_names == ("ada", "dot")
    assert part.task_ids.tolist() == ["q0", "q2", "q4"]
    assert part.to_frame()["rejects"].dropna().tolist() == [
        "no"
    ]  # cox, whom dot challenged, is gone; what it said stays


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["b.tsv"], "b.tsv names no form; end it in .jsonl, .jsonl.gz, .csv, .csv.gz, .parquet"),
        (["b.jsonl", "--wide"], "--wide makes a CSV table, and b.jsonl is none; leave out --wide, or end it in .csv"),
        (["none/b.jsonl"], "none/b.jsonl cannot be written: there is no folder none"),
    ],
)
def test_refused(refused, traces_file: Path, words: list[str], message: str):
    assert message in refused("convert", traces_file, *words)


def test_nothing_is_overwritten(command, refused, traces_file: Path):
    before = traces_file.read_bytes()
    assert "exists; give --overwrite" in refused("convert", traces_file, traces_file)
    assert traces_file.read_bytes() == before
    assert command("convert", traces_file, traces_file, "--overwrite")[0] == 0
    assert_same(Traces.read_jsonl(traces_file), Traces.from_records(council()))
