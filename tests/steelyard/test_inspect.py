"""Every number that inspect prints, recomputed with loops and dictionaries from the records."""

import json
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from tests.bda import oracle
from tests.house.tree import run_python
from tests.steelyard.conftest import council, write_records

JUDGES = "examples/llmbar_judges.jsonl.gz"


def random_council(seed: int) -> list[dict]:
    """Draw messy tasks, two or three to a group; some agents are only ever addressed."""
    rng = random.Random(seed)
    return [oracle.random_task(rng, f"g{i % 9}/{i}", labelled=0.7) for i in range(25)]


def round0_votes(task: dict) -> dict:
    moves = [move for move in oracle.resolve(task) if move["round"] == 0 and move["kind"] == "endorse"]
    return {move["agent"]: move["answer"] for move in moves}


def problems(task: dict) -> list[tuple[str, str]]:
    """List pairs of an agent and what is the matter with one of its moves."""
    found, seen = [], Counter()
    endorsed: dict[int, set] = {}
    for move in oracle.resolve(task):
        if move["kind"] == "endorse":
            endorsed.setdefault(move["round"], set()).add(move["agent"])
    present = {move["agent"] for move in task["moves"]}
    for move in oracle.resolve(task):
        agent, target = move["agent"], move.get("target")
        seen[agent, move["round"]] += 1
        if seen[agent, move["round"]] > 1:
            found.append((agent, "several_moves_in_a_round"))
        if move["status"] != "ok":
            found.append((agent, move["status"]))
        if move["type"] == "propose" and target is not None:
            found.append((agent, "target_on_proposal"))
        if move["type"] in ("concede", "challenge") and move["status"] == "ok":
            if target == agent:
                found.append((agent, "self_target"))
            elif target not in present:
                found.append((agent, "target_not_in_trace"))
            if move["kind"] == "none" and target != agent:
                found.append((agent, "target_without_answer"))
        if move["inconsistent"]:
            found.append((agent, "inconsistent_concession"))
    return found


@pytest.fixture(params=range(3))
def inspected(request, tmp_path: Path, command) -> tuple[list[dict], dict]:
    records = random_council(request.param)
    code, out, err = command("inspect", write_records(tmp_path / "a.jsonl", records), "--json")
    assert (code, err) == (0, "")
    return records, json.loads(out)


def test_counts(inspected):
    records, found = inspected
    moves = [move for record in records for move in record["moves"]]
    addressed = {move["target"] for move in moves if move.get("target")}
    assert found["n_tasks"] == 25
    assert found["n_labelled"] == sum(record["gold"] is not None for record in records)
    assert found["n_groups"] == len({record["meta"]["group"] for record in records})
    assert found["n_agents"] == len(addressed | {move["agent"] for move in moves})
    assert found["n_moves"] == len(moves)
    assert found["n_rounds"] == max(move["round"] for move in moves) + 1
    assert found["moves"] == {k: sum(m["type"] == k for m in moves) for k in found["moves"]}
    sizes = Counter(str(len(record["candidates"])) for record in records)
    assert found["candidates"] == sizes
    golds = Counter(record["gold"] for record in records if record["gold"] is not None)
    assert {name: n for name, n in found["gold"].items() if n} == golds
    assert found["meta_keys"] == ["group", "seed"]


def test_agents(inspected):
    records, found = inspected
    for row in found["agents"]:
        agent = row["agent"]
        votes = [(record, oracle.standing_after(record).get(agent)) for record in records]
        cast = [(record, vote) for record, vote in votes if vote is not None]
        scored = [vote == record["gold"] for record, vote in cast if record["gold"] is not None]
        asked = [record for record in records if any(move["agent"] == agent for move in record["moves"])]
        states = Counter(
            m["status"]
            for record in asked
            for m in oracle.resolve(record)
            if m["agent"] == agent and m["status"] != "ok"
        )
        assert row["asked"] == len(asked)
        assert row["not_asked"] == len(records) - len(asked)
        assert {name: row[name] for name in ("failed", "truncated", "unreadable") if row[name]} == states
        assert row["committed"] == len(cast)
        assert row["coverage"] == pytest.approx(len(cast) / len(records))
        assert row["scored"] == len(scored)
        assert row["accuracy"] == (pytest.approx(sum(scored) / len(scored)) if scored else None)


def test_agreement(inspected):
    records, found = inspected
    agents = [row["agent"] for row in found["agents"]]
    votes = [oracle.standing_after(record) for record in records]
    expected = {}
    for i, j in combinations(range(len(agents)), 2):
        both = [vote[agents[i]] == vote[agents[j]] for vote in votes if agents[i] in vote and agents[j] in vote]
        assert found["common"][i][j] == found["common"][j][i] == len(both)
        share = sum(both) / len(both) if both else None
        assert found["agreement"][i][j] == found["agreement"][j][i] == pytest.approx(share)
        if both:
            expected[agents[i], agents[j]] = (pytest.approx(share), len(both))
    assert {(r["first"], r["second"]): (r["agreement"], r["common"]) for r in found["pairs"]} == expected


def test_councils_as_a_whole(inspected):
    records, found = inspected
    labelled = [record for record in records if record["gold"] is not None]
    first = [(record["gold"], list(round0_votes(record).values())) for record in labelled]
    several = [(gold, votes) for gold, votes in first if len(votes) >= 2]
    agreed = [(gold, votes[0]) for gold, votes in several if len(set(votes)) == 1]
    wrong = sum(gold != vote for gold, vote in agreed)
    assert found["unanimity"]["tasks"] == len(several)
    assert found["unanimity"]["unanimous"] == len(agreed)
    assert found["unanimity"]["wrong"] == wrong
    assert found["unanimity"]["share_wrong"] == (pytest.approx(wrong / len(agreed)) if agreed else None)
    right = tied = 0
    for record in labelled:
        share = dict(zip(record["candidates"], oracle.plurality(record), strict=True))
        top = [name for name, part in share.items() if part == max(share.values())]
        right += top == [record["gold"]]
        tied += len(top) > 1 and record["gold"] in top
    assert right <= round(found["plurality_accuracy"] * len(labelled)) <= right + tied


def test_problems_and_their_places(inspected):
    records, found = inspected
    expected = Counter((record["task"], agent, problem) for record in records for agent, problem in problems(record))
    known = {problem for _, _, problem in expected}
    located = Counter((row["task"], row["agent"], row["problem"]) for row in found["locations"])
    assert {key: n for key, n in located.items() if key[2] in known} == expected
    assert found["problems"] == Counter(row["problem"] for row in found["locations"])
    by_name = {record["task"]: record for record in records}
    for row in found["locations"]:
        move = by_name[row["task"]]["moves"][row["move"]]
        assert (move["agent"], move["round"], move["type"]) == (row["agent"], row["round"], row["type"])


def test_the_text_says_what_matters(command, traces_file: Path):
    code, out, err = command("inspect", traces_file)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "6 tasks in 3 groups, 6 with gold; 4 agents, 19 moves in 2 rounds"
    assert "moves       propose 18, challenge 1" in lines
    assert "candidates  K=2: 6 tasks" in lines
    assert "gold        no 3, yes 3" in lines
    assert "meta        group, kind" in lines
    assert "problems    none" in lines
    table = {line.split()[0]: line.split()[1:] for line in lines if line[:4] in ("ada ", "ben ", "cox ", "dot ")}
    assert list(table) == ["ada", "ben", "cox", "dot"]  # the most accurate first
    assert table["ben"] == ["6", "1.000", "0.500", "0"]
    assert table["dot"] == ["0", "0.000", "-", "5"]
    assert "agreement of last votes over 3 pairs: mean 0.333" in lines
    assert "  least 0.000: ada and cox, 6 tasks in common" in lines
    assert "plurality is right on 0.500 of the tasks with gold" in lines
    assert "unanimous" not in out


def test_many_agents_are_abbreviated(command):
    code, out, _ = command("inspect", JUDGES)
    assert code == 0
    assert "... 86 more (--all)" in out
    assert out.count("/ab") + out.count("/ba") < 35
    whole = command("inspect", JUDGES, "--all")[1]
    assert "more (--all)" not in whole
    assert sum(line.split()[0].endswith(("/ab", "/ba")) for line in whole.splitlines() if line.strip()) == 106
    first = out.splitlines()[0]
    assert first == "419 tasks, 419 with gold; 106 agents, 44,414 moves in 1 round"


def test_the_council_of_the_main_job(command):
    words = ["--subset", "subset=Neighbor", "--agents", "*/Vanilla_NoRules/ab", "--exclude-agents", "ChatGPT-0301/*"]
    out = command("inspect", JUDGES, *words)[1]
    assert "round 0 is unanimous on 32 of 134 tasks with gold, and wrong on 25 of these (78.1%)" in out
    assert "plurality is right on 0.366" in out


def test_without_gold_nothing_is_scored(command, tmp_path: Path):
    records = council()
    for record in records:
        record["gold"] = None
    path = write_records(tmp_path / "a.jsonl", records)
    code, out, err = command("inspect", path)
    assert (code, err) == (0, "")
    assert "plurality" not in out
    assert "0 with gold" in out
    found = json.loads(command("inspect", path, "--json")[1])
    assert found["plurality_accuracy"] is None
    assert [row["accuracy"] for row in found["agents"]] == [None] * 4


def test_odd_names_stay_on_their_line(command, tmp_path: Path):
    records = council()
    for record in records:
        record["moves"][0]["agent"] = "two\nlines, ümläut"
        record["moves"][1]["answer"] = None
    path = write_records(tmp_path / "a.jsonl", records)
    out = command("inspect", path)[1]
    assert r"'two\nlines, ümläut'" in out
    found = json.loads(command("inspect", path, "--json")[1])
    assert "two\nlines, ümläut" in [row["agent"] for row in found["agents"]]


def test_nobody_moved(command, tmp_path: Path):
    records = [{"task": "q", "candidates": [1, 2], "gold": 1, "moves": []}]
    code, out, err = command("inspect", write_records(tmp_path / "a.jsonl", records))
    assert (code, err) == (0, "")
    assert out.startswith("1 tasks, 1 with gold; 0 agents, 0 moves in 0 rounds")


def test_as_a_process(traces_file: Path):
    ran = run_python("-m", "steelyard", "inspect", str(traces_file))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("6 tasks")
