"""The evaluate command: the shipped judges, every output, and what it refuses."""

import csv
import gzip
import json

import pytest

from steelyard.commands import main

JUDGES = "examples/llmbar_judges.jsonl.gz"
PANEL = ["--agents", "*/Vanilla_NoRules/ab", "--exclude-agents", "ChatGPT-0301/*"]
QUICK = ["--arms", "plurality", "best-member", "per-agent:kappa=20,alpha=2,beta=1"]


def run(capsys, *words):
    code = main(["evaluate", *words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_main_job(capsys, tmp_path):
    """What `make demo` runs, with fewer draws; tests/bda/test_judges.py holds the numbers to .015."""
    report, predictions = tmp_path / "r.html", tmp_path / "p.csv"
    code, out, err = run(
        capsys, JUDGES, "--subset", "meta.subset=Neighbor", *PANEL, "--protocol", "draw", "--seeds", "8", "--json",
        "--report", str(report), "--predictions", str(predictions), "--reference", "plurality",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    arms = {row["arm"]: row for row in found["arms"]}
    assert arms["plurality"]["accuracy"] == pytest.approx(0.366, abs=0.04)
    assert arms["best-member"]["accuracy"] == pytest.approx(0.629, abs=0.04)
    assert arms["per-agent"]["accuracy"] == pytest.approx(0.839, abs=0.04)
    assert arms["per-agent"]["brier"] == pytest.approx(0.241, abs=0.04)
    assert arms["per-agent"]["ece_width_p"] > 0.01  # and the probabilities are honest
    assert (found["n_tasks"], found["n_labels"], found["protocol"]) == (134, 25, "draw")
    assert found["unanimity"] == {"tasks": 134, "unanimous": 32, "wrong": 25, "share_wrong": 25 / 32}
    assert {row["arm"] for row in found["differences"]} == set(arms) - {"plurality"}
    page = report.read_text(encoding="utf-8")
    assert "LLaMA2/Vanilla_NoRules/ab" in page
    assert "--subset meta.subset=Neighbor" in page
    with predictions.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(arms) * 8 * 109
    assert f"wrote {report}" in err


def test_where_the_best_member_wins_it_is_said(capsys):
    code, out, _ = run(
        capsys, JUDGES, "--subset", "subset=Natural", *PANEL, "--protocol", "draw", *QUICK, "--seeds", "20"
    )
    assert code == 0
    assert "Accuracy: best-member 0.91" in out
    assert "best-member 0.915 beats per-agent" in out or "best-member 0.915 leads per-agent" in out


def test_text_says_everything_on_stdout(capsys):
    code, out, err = run(capsys, JUDGES, *PANEL, *QUICK, "--seeds", "1", "--reference", "plurality")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("5 agents, 419 labelled tasks; protocol nested")
    assert [line.split()[0] for line in lines[2:6]] == ["arm", "plurality", "best-member", QUICK[3]]
    assert "P(win)" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.jsonl"], "missing.jsonl"),
        ([JUDGES, "--arms", "per-judge"], "per-judge"),
        ([JUDGES, "--seeds", "0"], "--seeds 0"),
        ([JUDGES, "--labels", "0"], "n_labels"),
        ([JUDGES, "--labels", "5000"], "5000"),
        ([JUDGES, "--protocol", "loo"], "loo"),
        ([JUDGES, "--agents", "nobody/*"], "nobody"),
        ([JUDGES, "--subset", "subset=Moon"], "Moon"),
        ([JUDGES, "--groups", "question"], "question"),
        ([JUDGES, "--report", "no/such/folder/r.html"], "no/such/folder"),
        ([JUDGES, "--reference", "plurality", "--arms", "one-coin"], "plurality"),
        ([JUDGES, "--gold", "missing.csv"], "missing.csv"),
    ],
)
def test_refused_in_one_line(capsys, words, message):
    code, out, err = run(capsys, *words)
    assert code == 2
    assert out == ""
    assert message in err
    assert "Traceback" not in err


def test_nothing_is_overwritten(capsys, tmp_path):
    path = tmp_path / "r.html"
    path.write_text("mine", encoding="utf-8")
    words = [JUDGES, *PANEL, "--arms", "plurality", "--seeds", "1", "--report", str(path)]
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert "--overwrite" in err
    assert path.read_text(encoding="utf-8") == "mine"
    assert run(capsys, *words, "--overwrite")[0] == 0
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_gold_from_a_table(capsys, tmp_path):
    """A table of gold takes the place of the gold inside: only its tasks are scored."""
    with gzip.open(JUDGES, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file][:60]
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\n" + "".join(f"{r['task']},{r['gold']}\n" for r in records), encoding="utf-8")
    code, out, _ = run(capsys, JUDGES, *PANEL, *QUICK, "--seeds", "1", "--gold", str(gold), "--json")
    assert code == 0
    assert (json.loads(out)["n_tasks"], json.loads(out)["n_unlabelled"]) == (60, 359)
