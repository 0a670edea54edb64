"""The make targets that our pages name exist, and the Makefile's own promises."""

import re

import pytest

from tests.house.tree import ROOT

PAGES = ["README.md", "CONTRIBUTING.md"]
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def named_targets(page: str) -> set[str]:
    """Return the targets named in code, so that "make sure" in a sentence is not one."""
    return {
        word
        for code in CODE.findall(page)
        for words in re.findall(r"(?:^|[`$&;(]\s*)make((?: +[\w=./'-]+)*)", code, re.MULTILINE)
        for word in words.split()
        if re.fullmatch("[a-z]+", word)
    }


@pytest.mark.parametrize("page", PAGES)
def test_named_targets_exist(page: str):
    named = named_targets((ROOT / page).read_text(encoding="utf-8"))
    assert named, f"{page} names no make target"
    assert named <= TARGETS


def test_targets_are_found_in_code_only():
    block = "```console\n$ git pull && make lint types\n$ make test ARGS=x\n```"
    page = f"Please make sure. `make demo`\n\n{block}\n"
    assert named_targets(page) == {"demo", "lint", "types", "test"}


def test_the_two_commands_of_the_readme():
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert {"demo", "test"} <= named_targets(page)


def test_the_ci_runs_every_check():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"for part in test lint types;", script)
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
