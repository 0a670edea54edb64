"""Explained verdicts: the same as Python's, and never from the task's own label."""

import json
from pathlib import Path

import numpy as np
import pytest

import bda
from tests.house.tree import run_python
from tests.steelyard.conftest import OTHER, council, write_records

JUDGES = "examples/llmbar_judges.jsonl.gz"
PANEL = ["--subset", "subset=Neighbor", "--agents", "*/Vanilla_NoRules/ab", "--exclude-agents", "ChatGPT-0301/*"]


def explained(command, *words: object) -> list[dict]:
    code, out, err = command("explain", *words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_a_verdict_is_that_of_an_arm_fitted_on_the_other_groups(command, traces_file: Path):
    (found,) = explained(command, traces_file, "q2", "--arm", "per-agent:kappa=7", "--set", "temperature=2")
    traces = bda.Traces.read_jsonl(traces_file)
    others = np.flatnonzero(~np.isin(traces.task_ids, ["q2", "q3"]))  # q3 is of the same group
    expected = bda.PerAgent(kappa=7, temperature=2).fit(traces[others]).explain(traces, "q2")
    assert found.pop("arm") == "PerAgent"
    assert found.pop("labels") == 4
    assert found == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.parametrize("arm", ["per-agent", "confusion", "best-member", "weighted-vote", "one-coin", "plurality"])
def test_the_labels_of_a_task_and_its_twins_change_nothing(command, traces_file: Path, tmp_path: Path, arm: str):
    records = council()
    for record in records[2:4]:  # q2 and q3 are one group
        record["gold"] = OTHER[record["gold"]]
    flipped = write_records(tmp_path / "flipped.jsonl", records)
    (before,) = explained(command, traces_file, "q2", "--arm", arm)
    (after,) = explained(command, flipped, "q2", "--arm", arm)
    assert before.pop("gold") != after.pop("gold")
    assert before == after
    records[0]["gold"] = OTHER[records[0]["gold"]]  # the label of another task does count
    (changed,) = explained(command, write_records(flipped, records), "q2", "--arm", arm)
    del changed["gold"]
    assert (changed == before) == (arm in ("one-coin", "plurality"))


def test_each_of_several_tasks_is_left_out_on_its_own(command, traces_file: Path):
    together = explained(command, traces_file, "q4", "q0")
    assert [verdict["task"] for verdict in together] == ["q4", "q0"]
    assert together == [*explained(command, traces_file, "q4"), *explained(command, traces_file, "q0")]


def test_the_text(command):
    code, out, err = command("explain", JUDGES, "llmbar:Neighbor:3", "llmbar:Neighbor:4", *PANEL)
    assert (code, err) == (0, "")
    first, second = out.split("\n\n")
    assert first.startswith("task 'llmbar:Neighbor:3': output_2 with probability")
    assert "gold is output_2" in first
    assert "LLaMA2/Vanilla_NoRules/ab" in first
    assert first.endswith("decided by PerAgent(), fitted on the labels of 133 other tasks, not on this one's")
    assert second.startswith("task 'llmbar:Neighbor:4'")


def test_an_arm_that_needs_no_labels(command, traces_file: Path):
    out = command("explain", traces_file, "q0", "--arm", "one-coin")[1]
    assert "decided by OneCoin(), which needs no labels" in out


def test_a_saved_arm(command, traces_file: Path, tmp_path: Path):
    traces = bda.Traces.read_jsonl(traces_file)
    arm = bda.PerAgent().fit(traces)
    arm.to_json(tmp_path / "arm.json")
    (found,) = explained(command, traces_file, "q0", "--arm", tmp_path / "arm.json")
    assert found["labels"] is None
    assert found["probability"] == arm.explain(traces, "q0").probability
    out = command("explain", traces_file, "q0", "--arm", tmp_path / "arm.json")[1]
    assert f"decided by {tmp_path / 'arm.json'}, PerAgent()" in out


def test_a_file_may_have_any_name(command, traces_file: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bda.OneCoin(alpha=5.0).to_json("per-judge")
    assert "decided by per-judge, OneCoin(alpha=5.0)" in command("explain", traces_file, "q0", "--arm", "per-judge")[1]
    bda.OneCoin(alpha=5.0).to_json("one-coin")  # an arm's name comes first
    assert "decided by OneCoin()," in command("explain", traces_file, "q0", "--arm", "one-coin")[1]


def test_a_saved_arm_says_whom_it_did_not_meet(command, traces_file: Path, tmp_path: Path):
    bda.PerAgent().fit(bda.Traces.read_jsonl(traces_file).agents(["ada", "ben"])).to_json(tmp_path / "arm.json")
    err = command("explain", traces_file, "q0", "--arm", tmp_path / "arm.json")[2]
    assert "2 of 4 agents had no part in the fit; its prior weighs them: cox, dot" in err


@pytest.mark.parametrize("name", [7, "two\nlines, ümläut", "-1", "--json"])
def test_names_of_tasks_as_they_are_typed(command, tmp_path: Path, name):
    records = council()
    records[0]["task"] = name
    path = write_records(tmp_path / "a.jsonl", records)
    code, out, err = command("explain", path, "--arm", "one-coin", "--json", "--", name)
    assert code == 0, err
    assert json.loads(out)[0]["task"] == name


def test_text_before_numbers(command, tmp_path: Path):
    records = council()
    records[0]["task"], records[1]["task"] = 7, "7"
    (found,) = explained(command, write_records(tmp_path / "a.jsonl", records), "7", "--arm", "one-coin")
    assert found["task"] == "7"


def test_no_other_label_to_fit_on(refused, traces_file: Path, tmp_path: Path):
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\nq0,yes\nq1,yes\n", encoding="utf-8")
    err = refused("explain", traces_file, "q0", "--gold", gold)
    assert "task = 'q0' has no labelled task beside it to fit on; give --gold" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["q9"], "task = 'q9' is not in the traces; near it are 'q"),
        (["zebra"], "task = 'zebra' is not in the traces; near it are 'q0', 'q1', 'q2'"),
        (["q0", "--arm", "per-judge"], "'per-judge' is not an arm"),
        (["q0", "--arm", "missing.json"], "missing.json: No such file"),
        (["q0", "--arm", "arm.json", "--set", "kappa=1"], "--set kappa=1 has no effect on arm.json, which is fitted"),
        (["q0", "--arm", "one-coin", "--set", "kappa=1"], "parameter = 'kappa' is not there"),
    ],
)
def test_refused(refused, traces_file: Path, words: list[str], message: str):
    assert message in refused("explain", traces_file, *words)


def test_as_a_process(traces_file: Path):
    ran = run_python("-m", "steelyard", "explain", str(traces_file), "q0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("task 'q0': yes with probability")


@pytest.mark.parametrize("name", ["inspect", "fit", "predict", "explain", "evaluate"])
def test_help_needs_no_numpy(name: str):
    code = f"import sys; sys.modules['numpy'] = None; from steelyard.commands import main; main([{name!r}, '--help'])"
    ran = run_python("-c", code)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"usage: steelyard {name}" in ran.stdout
