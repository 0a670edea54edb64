"""What the tests of commands share: running one, being refused, and a council in a file."""

import json
from pathlib import Path

import pytest

from steelyard.commands import main

# Six tasks with four agents. ada is always right, ben half the time, cox never; dot speaks once.
GOLD = ["yes", "no", "yes", "no", "yes", "no"]
OTHER = {"yes": "no", "no": "yes"}


def council() -> list[dict]:
    """Return the records; each test may change them."""
    records = []
    for i, gold in enumerate(GOLD):
        votes = {"ada": gold, "ben": gold if i % 2 else OTHER[gold], "cox": OTHER[gold]}
        moves = [{"agent": name, "round": 0, "type": "propose", "answer": vote} for name, vote in votes.items()]
        if i == 0:
            moves.append({"agent": "dot", "round": 1, "type": "challenge", "target": "cox"})
        meta = {"group": f"g{i // 2}", "kind": "even" if i % 2 == 0 else "odd"}
        records.append({"task": f"q{i}", "candidates": ["yes", "no"], "gold": gold, "meta": meta, "moves": moves})
    return records


def write_records(path: Path, records: list[dict]) -> Path:
    """Write one record a line."""
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def traces_file(tmp_path: Path) -> Path:
    """The council as JSON lines."""
    return write_records(tmp_path / "council.jsonl", council())


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]):
    """Run a command in this process; return its exit code, stdout and stderr."""

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def refused(command):
    """Run a command that must refuse its input in one line on stderr; return that line."""

    def run(*words: object) -> str:
        code, out, err = command(*words)
        assert (code, out) == (2, ""), err
        assert err.startswith("steelyard: ")
        assert err.count("\n") == 1
        return err

    return run
