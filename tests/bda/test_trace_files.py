"""Traces as JSON lines: what is written comes back, and a file that is not whole is refused whole."""

import gzip
import json
import os
import random
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import TraceError, Traces
from bda.trace_files import record
from tests.bda.random_tasks import messier_tasks
from tests.bda.small_traces import MEANT, assert_same, move, task

TWO = [task("ada 0 propose A", "bo 1 challenge ada"), task("ada 0 propose B", name="q2", gold="B")]


def written(path, records, newline="\n", start=""):
    text = start + "".join(json.dumps(r, ensure_ascii=False) + newline for r in records)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@given(st.integers(0, 10**9), st.sampled_from(["traces.jsonl", "traces.jsonl.gz"]))
def test_what_is_written_comes_back(seed, name):
    tasks = messier_tasks(random.Random(seed), 6)
    found = Traces.from_records(tasks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        found.write_jsonl(path)
        assert_same(Traces.read_jsonl(path), found)
        assert os.listdir(folder) == [name]


def test_a_written_line_is_the_record_that_was_read():
    full = task(
        move("ada 0 propose A", confidence=0.25),
        move("bo 0 propose -", status="failed"),
        move("bo 1 concede ada B", frozen=True),
        "cy 1 challenge ada",
        "dee 2 abstain",
        gold="C",
        meta={"group": "g", "seed": 3, "tags": ["x", None, 1.5]},
    )
    assert record(Traces.from_records([full]), 0) == full


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("view", ["round0", "last_vote", "targeted", "some agents", "both"])
def test_a_view_that_is_written_and_read_keeps_its_meaning(tmp_path, seed, view):
    found = Traces.from_records(messier_tasks(random.Random(seed), 12))
    views = {
        "round0": found.round0,
        "last_vote": found.last_vote,
        "targeted": lambda: found.moves(["concede", "challenge"]),
        "some agents": lambda: found.agents(found.agent_names[:2]),
        "both": lambda: found.agents(found.agent_names[1:4]).moves(["concede", "challenge", "abstain"]),
    }
    seen = views[view]()
    seen.write_jsonl(tmp_path / "view.jsonl")
    read = Traces.read_jsonl(tmp_path / "view.jsonl")
    silent = set(seen.agent_names) - set(read.agent_names)
    assert not silent & {seen.agent_names[a] for a in seen.moves_table.agent}
    assert_same(read.agents(read.agent_names), seen.agents(read.agent_names), MEANT)


def test_no_tasks(tmp_path):
    for name in ("none.jsonl", "none.jsonl.gz"):
        Traces.from_records([]).write_jsonl(tmp_path / name)
        assert len(Traces.read_jsonl(tmp_path / name)) == 0


def test_a_file_is_the_same_bytes_each_time(tmp_path):
    found = Traces.from_records(TWO)
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        found.write_jsonl(tmp_path / name)
    one = (tmp_path / "one.jsonl.gz").read_bytes()
    assert one == (tmp_path / "two.jsonl.gz").read_bytes()
    assert one[3:8] == bytes(5)  # neither a file name nor a time in the header


def test_any_script_is_written_as_itself(tmp_path):
    names = ["Größe", "答え", "🙂", "a\u2028b", 'quote " and \\', "tab\tnewline\n"]
    found = Traces.from_records([task({"agent": "é", "type": "propose", "answer": "答え"}, candidates=names)])
    found.write_jsonl(tmp_path / "names.jsonl")
    assert_same(Traces.read_jsonl(tmp_path / "names.jsonl"), found)
    text = (tmp_path / "names.jsonl").read_text(encoding="utf-8")
    assert "答え" in text
    assert "🙂" in text


def test_half_a_surrogate_pair_survives(tmp_path):
    found = Traces.from_records([task(candidates=["a", "b"], meta={"reply": "cut \ud83d"})])
    found.write_jsonl(tmp_path / "half.jsonl")
    assert_same(Traces.read_jsonl(tmp_path / "half.jsonl"), found)


@pytest.mark.parametrize("name", ["traces.jsonl", "traces.jsonl.gz", "traces.txt"])
@pytest.mark.parametrize(
    ("newline", "start"),
    [("\n", ""), ("\r\n", ""), ("\n", "\ufeff"), ("\r\n", "\ufeff"), ("\n\n  \n\t\n", "\n"), ("\n", "\ufeff\n")],
    ids=["plain", "crlf", "bom", "bom and crlf", "blank lines", "bom on a blank line"],
)
def test_line_ends_marks_and_blank_lines_do_not_matter(tmp_path, name, newline, start):
    path = written(tmp_path / name, TWO, newline, start)
    assert_same(Traces.read_jsonl(path), Traces.from_records(TWO))


def test_the_last_line_may_lack_its_end(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(map(json.dumps, TWO)))
    assert len(Traces.read_jsonl(path)) == 2


def test_gzip_is_known_by_what_it_holds(tmp_path):
    packed = written(tmp_path / "traces.jsonl.gz", TWO)
    (tmp_path / "traces.jsonl").write_bytes(packed.read_bytes())
    assert_same(Traces.read_jsonl(tmp_path / "traces.jsonl"), Traces.from_records(TWO))
    unpacked = tmp_path / "unpacked.jsonl.gz"
    unpacked.write_bytes(gzip.decompress(packed.read_bytes()))
    assert_same(Traces.read_jsonl(unpacked), Traces.from_records(TWO))


@pytest.mark.parametrize("keep", [0, 1, 9, 20, -9, -1])
def test_a_cut_gzip_file_is_refused(tmp_path, keep):
    lines = [task("ada 0 propose A", name=f"q{random.Random(i).random()}") for i in range(50)]
    path = written(tmp_path / "cut.jsonl.gz", lines)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(TraceError, match=r"cut\.jsonl\.gz:\d+: "):
        Traces.read_jsonl(path)


def test_a_damaged_gzip_file_is_refused(tmp_path):
    lines = [task("ada 0 propose A", name=f"q{random.Random(i).random()}") for i in range(50)]
    whole = written(tmp_path / "bad.jsonl.gz", lines).read_bytes()
    for at in range(12, len(whole), len(whole) // 40):
        (tmp_path / "bad.jsonl.gz").write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with pytest.raises(TraceError, match=r"bad\.jsonl\.gz:\d+"):
            Traces.read_jsonl(tmp_path / "bad.jsonl.gz")


LONG = "[" * 100_000


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"task": "q"', "is not JSON: Expecting ',' delimiter at column 13; write one JSON object a line"),
        (b"task,agent,answer", "is not JSON: Expecting value at column 1"),
        (b'{"task": 1} {"task": 2}', "is not JSON: Extra data at column 13"),
        (b"{'task': 1}", "is not JSON"),
        (b'{"task": 1, "task": 2}', "key = 'task' stands twice in one object; keep one"),
        (b'{"task": 1, "meta": {"a": 1, "a": 1}}', "key = 'a' stands twice"),
        (b'{"task": "\xe9"}', r"byte = b'\\xe9' is not UTF-8 text: invalid continuation byte; save the file"),
        ("{}".encode("utf-16"), "is not UTF-8 text"),
        (b"1" * 5000, "cannot be read: Exceeds the limit"),
        (LONG.encode(), "cannot be read: maximum recursion depth"),
        (b"[]", r"task = \[\] is not an object"),
        (b"null", "task = None is not an object"),
        (b'"q1"', "task = 'q1' is not an object"),
    ],
)
def test_a_line_that_is_not_one_json_object(tmp_path, line, message):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(json.dumps(TWO[0]).encode() + b"\r\n\r\n" + line + b"\n" + json.dumps(TWO[1]).encode())
    with pytest.raises(TraceError, match=rf"bad\.jsonl:3: .*{message}") as caught:
        Traces.read_jsonl(path)
    assert len(str(caught.value)) < 400


def test_the_line_of_a_bad_byte_is_its_own(tmp_path):
    path = tmp_path / "late.jsonl"
    lines = [json.dumps(task(name=f"q{i}")).encode() for i in range(3000)]
    lines[2500] = b'{"task": "\xff"}'
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(TraceError, match=r"late\.jsonl:2501: "):
        Traces.read_jsonl(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl"):
        Traces.read_jsonl(tmp_path / "none.jsonl")


@pytest.mark.parametrize("name", ["old.jsonl", "old.jsonl.gz"])
@pytest.mark.parametrize("meta", [{"x": {1, 2}}, {"x": float("nan")}, {"x": object()}])
def test_what_cannot_be_written_leaves_the_old_file_alone(tmp_path, name, meta):
    path = written(tmp_path / name, TWO)
    before = path.read_bytes()
    bad = Traces.from_records([TWO[0], task(name="q7", meta=meta)])
    with pytest.raises(TraceError, match=r"task 'q7': meta = .* cannot be written as JSON"):
        bad.write_jsonl(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


def test_what_a_broken_off_write_left_is_written_over(tmp_path):
    (tmp_path / f".new.jsonl.{os.getpid()}.partial").write_text("half a li")
    Traces.from_records(TWO).write_jsonl(tmp_path / "new.jsonl")
    assert_same(Traces.read_jsonl(tmp_path / "new.jsonl"), Traces.from_records(TWO))
    assert os.listdir(tmp_path) == ["new.jsonl"]


def test_a_bootstrap_sample_is_not_written(tmp_path):
    sample = Traces.from_records(TWO)[[0, 1, 1]]
    with pytest.raises(TraceError, match="task = 'q2' stands 2 times"):
        sample.write_jsonl(tmp_path / "sample.jsonl")
    assert os.listdir(tmp_path) == []


def test_numbers_of_numpy_in_meta_are_written(tmp_path):
    meta = {"seed": np.int64(3), "weights": np.array([0.5, 1.0])}
    Traces.from_records([task(meta=meta)]).write_jsonl(tmp_path / "meta.jsonl")
    assert dict(Traces.read_jsonl(tmp_path / "meta.jsonl").meta[0]) == {"seed": 3, "weights": [0.5, 1.0]}


def test_a_path_may_be_text(tmp_path):
    Traces.from_records(TWO).write_jsonl(str(tmp_path / "text.jsonl.gz"))
    assert len(Traces.read_jsonl(str(tmp_path / "text.jsonl.gz"))) == 2


def test_gold_of_a_table_replaces_gold_inside(tmp_path):
    path = written(tmp_path / "traces.jsonl", TWO)
    (tmp_path / "gold.csv").write_text("task,label\nq1,C\n")
    found = Traces.read_jsonl(path, gold=tmp_path / "gold.csv")
    assert [found.classes[g] if g >= 0 else None for g in found.gold] == ["C", None]


def test_reading_and_writing_is_a_stream(tmp_path):
    path = tmp_path / "long.jsonl"
    filler = "x" * 20_000
    with path.open("w") as file:
        for i in range(500):
            file.write(json.dumps(task("ada 0 propose A", name=f"q{i}")) + " " * len(filler) + "\n")
    assert path.stat().st_size > 10_000_000
    tracemalloc.start()
    found = Traces.read_jsonl(path)
    found.write_jsonl(tmp_path / "again.jsonl.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 500
    assert peak < 5_000_000
