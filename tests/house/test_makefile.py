"""The Makefile and .ci/run, tried in an empty folder against Pythons and a make that are small scripts."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.house.tree import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")

# Answers as a Python would: -c '' runs it, the range check comes by `sys.exit`, venv makes an environment.
PYTHON = """#!/bin/sh
case "$1 $2" in
    "-c ") exit {runs} ;;
    "-c import sys"*) exit {fits} ;;
    "-c import platform"*) echo 3.9.1 ;;
    "-c import ensurepip"*) exit {ensurepip} ;;
    "-m venv") rm -rf "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python"; cp steelyard-stub "$4/bin/steelyard"
               echo "venv $0" >> log ;;
    "-m pip") if [ "$3" = --version ]; then exit 0; fi
              echo "pip $* bytecode=[$PYTHONDONTWRITEBYTECODE]" >> log; exit "$(cat pip-exit)" ;;
    *) echo "ran $*" >> log ;;
esac
"""


class Bench:
    """A folder with our Makefile, and a PATH that holds only a few tools and the Pythons put there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in ("sh", "rm", "mkdir", "cp", "cat", "touch", "awk", "find", "echo", "printf"):
            if (path := shutil.which(tool)) is not None:
                (self.bin / tool).symlink_to(path)
        for name in ("Makefile", "pyproject.toml"):
            shutil.copy(ROOT / name, folder)
        (folder / "pip-exit").write_text("0")
        self.script(folder / "steelyard-stub", '#!/bin/sh\necho "steelyard $*" >> log\n')

    def python(self, name: str, runs: int = 0, fits: int = 0, ensurepip: int = 0) -> None:
        self.script(self.bin / name, PYTHON.format(runs=runs, fits=fits, ensurepip=ensurepip))

    @staticmethod
    def script(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        # Nothing is inherited: this may itself run under `make test ARGS=...`.
        env = {"PATH": str(self.bin), "PYTHONDONTWRITEBYTECODE": "1"}
        make = shutil.which("make") or "make"
        return subprocess.run(
            [make, *words],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def log(self) -> list[str]:
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_without_arguments_make_lists_its_targets(bench: Bench):
    ran = bench.make()
    assert ran.returncode == 0
    for target in ("demo", "test", "lint", "types", "clean", "help"):
        assert f"  {target} " in ran.stdout


def test_without_a_python_make_says_what_it_tried(bench: Bench):
    bench.python("python3.13", runs=127)
    bench.python("python3", fits=1)
    bench.python("python", ensurepip=1)
    ran = bench.make("demo")
    assert ran.returncode != 0
    for line in (
        "python3.13: does not run",
        "python3.12: not found",
        "python3: is 3.9.1",
        "python: has no venv or no ensurepip",
        "https://www.python.org/downloads/",
    ):
        assert line in ran.stderr
    assert not (bench.folder / ".venv").exists()


def test_the_first_python_that_works_is_taken(bench: Bench):
    bench.python("python3.13", runs=127)
    bench.python("python3.12")
    bench.python("python3")
    assert bench.make("demo").returncode == 0
    assert bench.log()[0].endswith("bin/python3.12")


def test_a_named_python_comes_first(bench: Bench):
    bench.python("python3.13")
    bench.python("mine")
    assert bench.make("demo", "PYTHON=mine").returncode == 0
    assert bench.log()[0].endswith("bin/mine")


def test_a_named_python_that_fails_is_reported(bench: Bench):
    bench.python("python3.13")
    ran = bench.make("demo", "PYTHON=absent")
    assert ran.returncode == 0
    assert "PYTHON=absent: not found; trying others" in ran.stderr


def test_demo_installs_once_and_runs_the_main_job(bench: Bench):
    bench.python("python3.12")
    ran = bench.make("demo")
    assert ran.returncode == 0, ran.stderr
    _, pip, job = bench.log()
    assert pip.endswith("-e . bytecode=[]")
    assert job.startswith("steelyard evaluate examples/llmbar_judges.jsonl.gz ")
    assert str(bench.folder / "demo-report.html") in ran.stderr
    bench.make("demo")
    assert [line.split()[0] for line in bench.log()] == ["steelyard"]


def test_test_installs_the_test_extra_and_serves_demo_too(bench: Bench):
    bench.python("python3.12")
    assert bench.make("test").returncode == 0
    _, pip, tests = bench.log()
    assert "-e .[test]" in pip
    assert tests == "ran -m pytest"
    bench.make("demo")
    assert [line.split()[0] for line in bench.log()] == ["steelyard"]


def test_a_changed_pyproject_installs_again(bench: Bench):
    bench.python("python3.12")
    bench.make("demo")
    bench.log()
    later = (bench.folder / ".venv" / "installed").stat().st_mtime + 5
    os.utime(bench.folder / "pyproject.toml", (later, later))
    bench.make("demo")
    assert [line.split()[0] for line in bench.log()] == ["pip", "steelyard"]


def test_a_broken_off_install_starts_again_from_nothing(bench: Bench):
    bench.python("python3.12")
    (bench.folder / "pip-exit").write_text("130")
    assert bench.make("demo").returncode != 0
    assert not (bench.folder / ".venv" / "installed").exists()
    bench.log()
    (bench.folder / "pip-exit").write_text("0")
    assert bench.make("demo").returncode == 0
    assert [line.split()[0] for line in bench.log()] == ["venv", "pip", "steelyard"]


def test_an_environment_whose_python_is_gone_is_made_again(bench: Bench):
    bench.python("python3.12")
    bench.make("demo")
    bench.log()
    python = bench.folder / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("gone")
    assert bench.make("demo").returncode == 0
    assert [line.split()[0] for line in bench.log()] == ["venv", "pip", "steelyard"]


def test_clean_removes_what_make_made(bench: Bench):
    bench.python("python3.12")
    bench.make("demo")
    (bench.folder / "bda" / "__pycache__").mkdir(parents=True)
    (bench.folder / "demo-report.html").touch()
    assert bench.make("clean").returncode == 0
    left = {path.name for path in bench.folder.iterdir()}
    assert left.isdisjoint({".venv", "demo-report.html"})
    assert not (bench.folder / "bda" / "__pycache__").exists()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize("failing", ["", "test", "lint", "types"])
def test_ci_runs_all_three_and_fails_if_one_does(tmp_path: Path, failing: str):
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    Bench.script(tmp_path / "make", f'#!/bin/sh\necho "made $2"\n[ "$2" != "{failing}" ]\n')
    ran = subprocess.run(
        [tmp_path / ".ci" / "run"],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode != 0) == bool(failing)
    assert [line for line in ran.stdout.splitlines() if line.startswith("made")] == [
        "made test",
        "made lint",
        "made types",
    ]
    assert ran.stdout.splitlines()[-1] == (f"failed: {failing}" if failing else "all passed")
