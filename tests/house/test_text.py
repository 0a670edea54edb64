"""What must not stand in any file of the project.

The patterns are put together from pieces, so that they do not find themselves.
"""

import re
from pathlib import Path

import pytest

from tests.house.tree import PACKAGES, ROOT, imports, module_of, project_files, sources

FILES = project_files()
LARGEST = 1_000_000

NOWHERE = {
    "a path of one machine": re.compile(r"(?<![\w.-])/(?:" + "|".join(["wo" + "rk", "ro" + "ot"]) + r")/"),
    "a folder beside the project": re.compile(re.escape("../" + "shared")),
    "a host of packages": re.compile("pythonhosted" + r"\.org|pypi\.org/" + "simple|" + "--" + r"(?:extra-)?index-url"),
    "a mark of a merge conflict": re.compile(r"^(?:<{7} |>{7} |={7}$)", re.MULTILINE),
}
OUTSIDE_TESTS = {"a temporary folder": re.compile(r"(?<![\w.-])/t" + "mp/")}
IN_PACKAGES = {
    "pickle is not our format": re.compile(r"\bpickle\.(?:dumps?|loads?)\b|\bimport pickle\b|allow_pickle=True"),
    "joblib is not our format": re.compile(r"\bjoblib\.(?:dump|load)\b|from joblib import .*\b(?:dump|load)\b"),
}
NEVER_IMPORTED = {"torch", "litellm"}


def found(patterns: dict[str, re.Pattern[str]], text: str) -> list[str]:
    return [
        f"line {text.count(chr(10), 0, hit.start()) + 1}: {name}: {hit[0]!r}"
        for name, pattern in patterns.items()
        for hit in pattern.finditer(text)
    ]


def text_of(path: Path) -> str | None:
    content = path.read_bytes()
    return None if b"\0" in content else content.decode("utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_clean(path: Path):
    assert path.stat().st_size <= LARGEST
    text = text_of(path)
    if text is None:
        return
    patterns = NOWHERE if "tests" in path.relative_to(ROOT).parts else {**NOWHERE, **OUTSIDE_TESTS}
    assert found(patterns, text) == []


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_stores_nothing_that_runs_code_when_read(path: Path):
    assert found(IN_PACKAGES, path.read_text(encoding="utf-8")) == []


def test_torch_and_litellm_are_never_imported():
    named = {
        (path, name)
        for path in FILES
        if path.suffix == ".py"
        for _, name in imports(path.read_text(encoding="utf-8"), module_of(path))
    }
    assert [(path, name) for path, name in named if name.partition(".")[0] in NEVER_IMPORTED] == []


@pytest.mark.parametrize(
    "text",
    [
        "see /wo" + "rk/main/x",
        "home = '/ro" + "ot/.cache'",
        "cp ..".replace("..", "../") + "shared/data .",
        "https://files.python" + "hosted.org/packages/x",
        "pip install --index" + "-url https://example.org x",
        "a\n<<<<<<" + "< HEAD\nb",
        "a\n======" + "=\nb",
    ],
)
def test_planted_text_is_found(text: str):
    assert len(found(NOWHERE, text)) == 1


def test_headings_and_addresses_are_not_mistaken():
    assert found({**NOWHERE, **OUTSIDE_TESTS}, "Title\n========\nhttps://example.org/tree/work.html\nnetwork/x\n") == []
