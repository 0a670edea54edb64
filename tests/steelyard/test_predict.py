"""Applying a saved arm: the numbers, every form of output, and NumPy alone."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import bda
from tests.house.tree import run_python
from tests.steelyard.conftest import council, write_records

ODD = "q,1 \"two\"\nlines, 'ümläut' ☃"
BLOCK = """
import json, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"jax", "scipy", "sklearn", "pandas", "matplotlib", "pyarrow", "numpyro"}:
            raise ImportError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Block())
from steelyard.commands import main
for words in json.loads(sys.argv[1]):
    assert main(words) == 0, words
"""


@pytest.fixture
def arm_file(traces_file: Path, tmp_path: Path) -> Path:
    bda.PerAgent().fit(bda.Traces.read_jsonl(traces_file)).to_json(tmp_path / "arm.json")
    return tmp_path / "arm.json"


def rows_of(text: str) -> list[dict]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_csv_on_stdout(command, arm_file: Path, traces_file: Path):
    code, out, err = command("predict", arm_file, traces_file)
    assert (code, err) == (0, "")
    traces, arm = bda.Traces.read_jsonl(traces_file), bda.load_arm(arm_file)
    assert out.splitlines()[0] == "task,prediction,probability,tied"
    rows = rows_of(out)
    assert [row["task"] for row in rows] == traces.task_ids.tolist()
    assert [row["prediction"] for row in rows] == arm.predict(traces).tolist()
    assert [float(row["probability"]) for row in rows] == arm.predict_proba(traces).max(axis=1).tolist()
    assert [int(row["tied"]) for row in rows] == arm.decide(traces).tied.tolist()


def test_candidates(command, arm_file: Path, traces_file: Path):
    rows = rows_of(command("predict", arm_file, traces_file, "--candidates")[1])
    traces = bda.Traces.read_jsonl(traces_file)
    expected = bda.load_arm(arm_file).predict_candidates(traces)
    assert [row["task"] for row in rows] == expected["task"].tolist()
    assert [row["candidate"] for row in rows] == expected["candidate"].tolist()
    assert [float(row["probability"]) for row in rows] == expected["probability"].tolist()


def test_ties_are_counted_and_drawn(command, tmp_path: Path):
    records = [{"task": i, "candidates": [1, 2, 3], "moves": []} for i in range(30)]
    path = write_records(tmp_path / "a.jsonl", records)
    bda.Plurality(random_state=4).to_json(tmp_path / "arm.json")
    found = json.loads(command("predict", tmp_path / "arm.json", path, "--json")[1])
    assert {row["tied"] for row in found} == {3}
    assert {row["prediction"] for row in found} == {1, 2, 3}  # numbers stay numbers
    traces = bda.Traces.read_jsonl(path)
    assert [row["prediction"] for row in found] == bda.Plurality(random_state=4).predict(traces).tolist()


def test_json_candidates(command, arm_file: Path, traces_file: Path):
    found = json.loads(command("predict", arm_file, traces_file, "--json", "--candidates")[1])
    assert found[0].keys() == {"task", "candidate", "probability"}
    assert sum(row["probability"] for row in found) == pytest.approx(6)


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["csv", "json"])
@pytest.mark.parametrize("to_file", [False, True], ids=["stdout", "file"])
def test_odd_names_come_back(command, tmp_path: Path, form: list[str], to_file: bool):
    records = [{"task": ODD, "candidates": ["a,\r\n\"b\"", ODD], "moves": [
        {"agent": ODD, "round": 0, "type": "propose", "answer": ODD}]}]  # fmt: skip
    path = write_records(tmp_path / "a.jsonl", records)
    bda.OneCoin().to_json(tmp_path / "arm.json")
    output = ["--output", tmp_path / "out.txt"] if to_file else []
    code, out, err = command("predict", tmp_path / "arm.json", path, *form, *output)
    assert code == 0
    if to_file:
        assert (out, err) == ("", f"steelyard: wrote 1 rows to {tmp_path / 'out.txt'}\n")
        out = (tmp_path / "out.txt").read_bytes().decode()
    (row,) = json.loads(out) if form else rows_of(out)
    assert (row["task"], row["prediction"]) == (ODD, ODD)


def test_numpy_alone_is_needed(arm_file: Path, traces_file: Path, tmp_path: Path):
    traces = bda.Traces.read_jsonl(traces_file)
    names = ["PerAgent", "Confusion", "WeightedVote", "BestMember", "OneCoin", "Plurality"]
    runs = []
    for name in names:
        getattr(bda, name)().fit(traces).to_json(tmp_path / f"{name}.json")
        words = ["predict", f"{name}.json", "council.jsonl"]
        runs += [words, [*words, "--candidates", "--json"], [*words, "--agents", "a*", "--subset", "kind=odd"]]
    ran = run_python("-c", BLOCK, json.dumps(runs), cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    first = rows_of(ran.stdout)[: len(traces)]
    expected = bda.load_arm(arm_file).predict_proba(traces).max(axis=1)
    assert np.allclose([float(row["probability"]) for row in first], expected, rtol=0, atol=1e-12)


def test_a_table_of_a_crowd(command, arm_file: Path, tmp_path: Path):
    path = tmp_path / "votes.csv"
    path.write_text("task,worker,label\n17,ada,yes\n17,cox,no\n", encoding="utf-8")
    assert [row["prediction"] for row in rows_of(command("predict", arm_file, path)[1])] == ["yes"]


def test_agents_that_the_fit_did_not_meet_are_named(command, arm_file: Path, tmp_path: Path):
    records = council()
    records[0]["moves"][0]["agent"] = "eve"
    path = write_records(tmp_path / "a.jsonl", records)
    code, _, err = command("predict", arm_file, path)
    assert code == 0
    assert err == "steelyard: 1 of 5 agents had no part in the fit; its prior weighs them: eve\n"
    bda.OneCoin().to_json(tmp_path / "one.json")
    assert command("predict", tmp_path / "one.json", path)[2] == ""


def test_a_class_that_the_fit_did_not_meet(command, arm_file: Path, tmp_path: Path):
    records = council()
    records[0]["candidates"].append("perhaps")
    rows = rows_of(command("predict", arm_file, write_records(tmp_path / "a.jsonl", records), "--candidates")[1])
    assert [row["candidate"] for row in rows[:3]] == ["yes", "no", "perhaps"]
    assert sum(float(row["probability"]) for row in rows[:3]) == pytest.approx(1)


def test_nothing_is_replaced_unasked(command, refused, arm_file: Path, traces_file: Path, tmp_path: Path):
    output = tmp_path / "out.csv"
    output.write_text("mine", encoding="utf-8")
    assert "give --overwrite" in refused("predict", "missing.json", traces_file, "--output", output)
    assert output.read_text(encoding="utf-8") == "mine"
    assert command("predict", arm_file, traces_file, "--output", output, "--overwrite")[0] == 0
    assert len(rows_of(output.read_text(encoding="utf-8"))) == 6


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[1]", "is not a saved arm"),
        (b'{"format": "steelyard.arm", "schema": 99}', "schema = 99 is not a known schema"),
        (b'{"format": "steelyard.arm", "schema": 1, "arm": "Oracle"}', "arm = 'Oracle' is not an arm"),
        (b'{"format": "steelyard.arm", "schema": 1, "arm": "OneCoin"}', "is damaged"),
        (
            b'{"format": "steelyard.arm", "schema": 1, "arm": "OneCoin", "params": {"alfa": 1}, "fitted": null}',
            "damaged",
        ),
    ],
)
def test_a_file_that_is_no_arm(refused, traces_file: Path, tmp_path: Path, content: bytes | None, message: str):
    if content is not None:
        (tmp_path / "other.json").write_bytes(content)
    err = refused("predict", tmp_path / "other.json", traces_file)
    assert "other.json" in err
    assert message in err


def test_traces_in_the_place_of_the_arm(refused, arm_file: Path, traces_file: Path, tmp_path: Path):
    assert "is not JSON" in refused("predict", traces_file, arm_file)
    assert "is a directory" in refused("predict", tmp_path, traces_file).lower()
