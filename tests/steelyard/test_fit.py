"""Fitting from the command line: what is learnt, tuned, printed and saved."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import bda
from steelyard import fit
from steelyard.arms import named_arm, tunable
from tests.bda import oracle
from tests.house.tree import run_python
from tests.steelyard.conftest import council, write_records

NAMES = ["one-coin", "per-agent:kappa=7", "confusion", "best-member", "weighted-vote", "plurality"]


def random_file(path: Path, n: int = 40, seed: int = 0) -> Path:
    rng = random.Random(seed)
    tasks = [oracle.random_task(rng, f"g{i // 2}/{i}", candidates="ABC", labelled=0.9) for i in range(n)]
    return write_records(path, tasks)


@pytest.mark.parametrize("name", NAMES)
def test_the_saved_arm_is_the_one_that_python_fits(command, tmp_path: Path, name: str):
    path, output = random_file(tmp_path / "a.jsonl"), tmp_path / "arm.json"
    code, out, err = command("fit", path, name, "--output", output, "--json")
    assert (code, err) == (0, f"steelyard: wrote {output}\n")
    traces = bda.Traces.read_jsonl(path)
    expected = named_arm(name).fit(traces)
    saved = bda.load_arm(output)
    assert saved.get_params() == expected.get_params()
    assert np.array_equal(saved.predict_proba(traces), expected.predict_proba(traces))
    found = json.loads(out)
    assert found["arm"] == type(expected).__name__
    assert found["parameters"] == expected.get_params()
    assert (found["tasks"], found["labels"]) == (40, int((traces.gold >= 0).sum()))
    assert found["tuned"] is None
    if name == "plurality":
        assert found["profile"] == []
        return
    for row, (_, learnt) in zip(found["profile"], expected.profile_.iterrows(), strict=True):
        assert row["agent"] == learnt["agent"]
        assert [row["right"], row["wrong"]] == [learnt["right"], learnt["wrong"]]
        assert row["mean"] == pytest.approx(learnt["mean"], rel=1e-15)
        assert row["weight"] == pytest.approx(learnt["weight"], rel=1e-15)


def test_the_text(command, traces_file: Path, tmp_path: Path):
    code, out, _ = command("fit", traces_file, "per-agent", "--output", tmp_path / "arm.json")
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "PerAgent() fitted on 6 labelled tasks of 6"
    assert lines[2].split() == ["agent", "right", "wrong", "mean", "low", "high", "chance", "P(below)", "weight"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:7]}
    assert rows["ada"][:3] == ["6", "0", "0.889"]  # (2 + 6) / (3 + 6)
    assert rows["cox"][:3] == ["0", "6", "0.222"]
    assert rows["dot"][:2] == ["1", "0"]
    assert "turning" not in out
    assert "below 0 it counts against what it names" in out


def test_where_repeats_turn_a_weight_it_is_said(command, tmp_path: Path):
    records = council()
    for record in records:
        record["candidates"] = ["yes", "no", "perhaps"]
    path = write_records(tmp_path / "a.jsonl", records)
    out = command("fit", path, "per-agent", "--output", tmp_path / "arm.json")[1]
    cox = next(line.split() for line in out.splitlines() if line.startswith("cox"))
    assert int(cox[-1]) > 1
    assert "turning          from how many repeats" in out


def test_only_the_labels_given_are_used(command, traces_file: Path, tmp_path: Path):
    gold = tmp_path / "gold.csv"
    gold.write_text("task,label\nq0,no\n", encoding="utf-8")
    out = command("fit", traces_file, "per-agent", "--gold", gold, "--output", tmp_path / "arm.json", "--json")[1]
    found = json.loads(out)
    assert found["labels"] == 1
    assert [(row["right"], row["wrong"]) for row in found["profile"]] == [(0, 1), (1, 0), (1, 0), (0, 1)]


def test_settings(command, traces_file: Path, tmp_path: Path):
    words = ["per-agent:kappa=5", "--set", "temperature=3", "view=last_vote", "--output", tmp_path / "arm.json"]
    out = command("fit", traces_file, *words, "--json")[1]
    parameters = json.loads(out)["parameters"]
    assert (parameters["kappa"], parameters["temperature"], parameters["view"]) == (5.0, 3.0, "last_vote")


def test_tuning_picks_what_a_loop_over_settings_and_folds_picks(tmp_path: Path, command, monkeypatch):
    splits = []
    choose = bda.selection.choose

    def watched(tuned, traces, gold, given):
        splits.extend(given)
        return choose(tuned, traces, gold, given)

    monkeypatch.setattr("bda.selection.choose", watched)
    path = random_file(tmp_path / "a.jsonl")
    words = ["per-agent:alpha=2,beta=1", "--tune", "--output", tmp_path / "arm.json", "--json"]
    found = json.loads(command("fit", path, *words)[1])["tuned"]

    traces = bda.Traces.read_jsonl(path)
    (split,) = splits
    assert sorted(split.labelled) == np.flatnonzero(traces.gold >= 0).tolist()
    group = np.array([name.partition("/")[0] for name in traces.task_ids])[split.labelled]
    for name in set(group):
        assert len(set(split.inner[group == name])) == 1  # twins in one fold
    briers = {}
    for setting in tunable("per-agent:alpha=2,beta=1").settings():
        errors = []
        for fold in range(5):
            inside, outside = split.labelled[split.inner != fold], split.labelled[split.inner == fold]
            p = bda.PerAgent(**setting).fit(traces[inside]).predict_proba(traces[outside])
            truth = np.eye(3)[traces.gold[outside]]
            errors += ((p - truth) ** 2).sum(axis=1).tolist()
        briers[tuple(setting.items())] = np.mean(errors)
    best = min(briers.values())
    assert found["brier"] == pytest.approx(best, abs=1e-12)
    assert briers[tuple(found["setting"].items())] == pytest.approx(best, abs=1e-12)


def test_tuning_does_not_depend_on_the_order_of_the_file(tmp_path: Path):
    path = random_file(tmp_path / "a.jsonl")
    traces = bda.Traces.read_jsonl(path)
    order = np.random.default_rng(0).permutation(len(traces))
    contender = tunable("per-agent:alpha=2,beta=1")
    assert fit.tune(contender, traces)[1].brier == pytest.approx(fit.tune(contender, traces[order])[1].brier, abs=1e-12)


def test_tuned_text_and_what_was_set_stays(command, tmp_path: Path):
    path = random_file(tmp_path / "a.jsonl")
    words = ["per-agent", "--set", "alpha=2", "temperature=3", "--tune", "--output", tmp_path / "arm.json"]
    out = command("fit", path, *words)[1]
    assert out.splitlines()[1].startswith("cross-validation picked kappa=")
    assert bda.load_arm(tmp_path / "arm.json").temperature == 3.0


def test_nothing_is_replaced_unasked(command, refused, traces_file: Path, tmp_path: Path):
    output = tmp_path / "arm.json"
    output.write_text("mine", encoding="utf-8")
    assert "give --overwrite" in refused("fit", "missing.jsonl", "per-agent", "--output", output)  # before reading
    assert output.read_text(encoding="utf-8") == "mine"
    assert command("fit", traces_file, "per-agent", "--output", output, "--overwrite")[0] == 0
    assert isinstance(bda.load_arm(output), bda.PerAgent)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["per-judge"], "arm = 'per-judge' is not an arm"),
        (["per-agent", "--set", "kapa=1"], "did you mean 'kappa'?"),
        (["plurality", "--tune"], "Plurality() has nothing left to pick; leave out --tune"),
        (["one-coin:alpha=1,temperature=1", "--tune"], "has nothing left to pick"),
    ],
)
def test_refused(refused, traces_file: Path, tmp_path: Path, words: list[str], message: str):
    assert message in refused("fit", traces_file, *words, "--output", tmp_path / "arm.json")
    assert not (tmp_path / "arm.json").exists()


def test_labels_are_needed(refused, tmp_path: Path):
    records = council()
    for record in records:
        record["gold"] = None
    path = write_records(tmp_path / "a.jsonl", records)
    output = ["--output", tmp_path / "arm.json"]
    assert "none of the 6 tasks has a label" in refused("fit", path, "per-agent", *output)
    records[0]["gold"] = "yes"
    write_records(path, records)
    assert "there are 1 labelled questions, too few" in refused("fit", path, "per-agent", "--tune", *output)


def test_the_output_is_required(command, traces_file: Path):
    code, out, err = command("fit", traces_file, "per-agent")
    assert (code, out) == (2, "")
    assert "--output" in err


def test_as_a_process(traces_file: Path, tmp_path: Path):
    ran = run_python("-m", "steelyard", "fit", str(traces_file), "one-coin", "--output", "arm.json", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "steelyard: wrote arm.json\n")
    assert (tmp_path / "arm.json").is_file()
