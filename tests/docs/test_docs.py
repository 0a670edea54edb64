"""Every fenced block of README.md and docs/ runs, in a folder that holds only a copy of examples/."""

import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.docs.pages import Block, PageError, blocks, commands, run_page
from tests.house.tree import ROOT

PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Put a `steelyard` that runs this tree on the PATH."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "steelyard"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m steelyard "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }


@pytest.fixture(autouse=True)
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page: str, env: dict[str, str]):
    run_page((ROOT / page).read_text(encoding="utf-8"), page, env)


def fenced(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


@pytest.mark.parametrize(
    "page",
    [
        fenced("python", "x = 1") + "and\n" + fenced("python", "assert x == 1"),
        fenced("python", "x = 1") + fenced("pycon", ">>> x + 1\n2\n>>> y = 5") + fenced("python", "assert y == 5"),
        fenced("python", ">>> 1 + 1\n2"),
        "1. a list\n\n   " + fenced("python", "   x = 1\n   assert x").replace("\n```\n", "\n   ```\n"),
        fenced("console", "$ steelyard --version\nsteelyard ..."),
        fenced("console", "$ steelyard --version | cat > version.txt")
        + fenced("python", "open('version.txt').close()"),
        fenced("console", "$ steelyard \\\n    --version"),
        fenced("bash", "# a comment\nsteelyard --version"),
        fenced("console fails", "$ steelyard nonsense\n...invalid choice..."),
        fenced("console", "$ git clone x\n$ cd steelyard\n$ make demo\n$ python3 -m venv env\n$ pip install -e ."),
        fenced("console", "$ git pull && make lint  # style\n$ make test ARGS='-k x'"),
        fenced("console", "$ head -n 1 examples/README.md\n# The example data"),
        fenced("json", '{"a": 1}') + fenced("json", '{"a": 1}\n{"b": 2}') + fenced("toml", "a = 1"),
        fenced("text", "anything") + fenced("csv", "a,b"),
    ],
)
def test_a_sound_page_passes(page: str, env: dict[str, str]):
    run_page(page, "page", env)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (fenced("python", "1 / 0"), "page:2: ZeroDivisionError"),
        (fenced("python", "x = ="), "SyntaxError"),
        (fenced("pycon", ">>> 1 + 1\n3"), "Expected:"),
        (fenced("", "x"), "no rule runs a block of language ''"),
        (fenced("sh", "ls"), "language 'sh'"),
        ("~~~ruby\nx\n~~~\n", "language 'ruby'"),
        ("```python\nx = 1\n", "not closed"),
        (fenced("console", "$ steelyard nonsense"), "exited with 2"),
        (fenced("console fails", "$ steelyard --version"), "exited with 0"),
        (fenced("console", "$ steelyard --version\nsteelyard none"), "but the page shows"),
        (fenced("console", "steelyard --version"), "must start with a command"),
        (fenced("console", "$ make nonsense"), r"lacks \['nonsense'\]"),
        (fenced("console", "$ curl example.org"), "no rule runs `curl"),
        (fenced("console", "$ git pull && make nonsense"), r"lacks \['nonsense'\]"),
        (fenced("console", "$ cd x && steelyard --version"), "no rule runs `cd"),
        (fenced("json", "{'a': 1}"), "not JSON"),
    ],
)
def test_a_page_with_a_fault_fails(page: str, message: str, env: dict[str, str]):
    with pytest.raises(PageError, match=message):
        run_page(page, "page", env)


def test_blocks_keep_their_line_and_words():
    page = "# Title\n\n```console fails\n$ a\n```\n\n````text\n```\n````\n"
    assert blocks(page) == [Block("console", "fails", "$ a\n", 4), Block("text", "", "```\n", 8)]


def test_output_belongs_to_the_command_above_it():
    block = Block("console", "", "$ steelyard a\none\ntwo\n$ steelyard b\n", 1)
    assert commands(block) == [("steelyard a", "one\ntwo\n"), ("steelyard b", "")]
