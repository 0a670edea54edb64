"""The fenced blocks of a Markdown page, and how each kind is run."""

import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass

from tests.house.tree import ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
RUN = {"steelyard", "cat", "head", "ls", "zcat"}
# Commands that a reader types but that a test must not: they fetch, install or change directory.
ONLY_READ = {"git", "pip", "cd", "source", "."}


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, the words after it, its text, and the line that its text starts at."""

    language: str
    words: str
    text: str
    line: int


class PageError(AssertionError):
    """A block that fails, or that no rule here runs."""


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks in order; an indented or a ~~~ fence counts, an unclosed one is an error."""
    found, lines = [], page.splitlines()
    at = 0
    while at < len(lines):
        fence = re.match(r"^(\s*)(`{3,}|~{3,})\s*([^\s`]*)\s*([^`]*)$", lines[at])
        at += 1
        if fence is None:
            continue
        indent, mark, language, words = fence.groups()
        start = at
        while at < len(lines) and not re.match(rf"^\s*{re.escape(mark)}{mark[0]}*\s*$", lines[at]):
            at += 1
        if at == len(lines):
            raise PageError(f"line {start}: a block that is not closed")
        text = "".join(line.removeprefix(indent) + "\n" for line in lines[start:at])
        found.append(Block(language, words.strip(), text, start + 1))
        at += 1
    return found


def run_page(page: str, name: str, env: Mapping[str, str]) -> None:
    """Run the blocks of one page in order, in the working folder, with one Python namespace."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        try:
            run_block(block, namespace, env)
        except PageError as fault:
            raise PageError(f"{name}:{block.line}: {fault}") from fault.__cause__


def run_block(block: Block, namespace: dict[str, object], env: Mapping[str, str]) -> None:
    match block.language:
        case "python" | "pycon" if re.search(r"^\s*>>> ", block.text, re.MULTILINE):
            _run_examples(block, namespace)
        case "python":
            _run_python(block, namespace)
        case "console" | "bash":
            for command, shown in commands(block):
                _run_command(command, shown, block.words == "fails", env)
        case "json":
            _read_json(block.text)
        case "toml":
            tomllib.loads(block.text)
        case "text" | "csv":
            pass
        case other:
            raise PageError(f"no rule runs a block of language {other!r}")


def commands(block: Block) -> list[tuple[str, str]]:
    """Pairs of a command and the output shown under it.

    In bash blocks a line without `$ ` is a command too.
    """
    joined = re.sub(r"\\\n\s*(?:> )?", "", block.text)
    found: list[tuple[str, str]] = []
    for line in joined.splitlines():
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        elif block.language == "bash":
            if line.strip() and not line.lstrip().startswith("#"):
                found.append((line.strip(), ""))
        elif found:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
        elif line.strip():
            raise PageError(f"a console block must start with a command: {line!r}")
    if not found:
        raise PageError("a block without a command")
    return found


def _run_python(block: Block, namespace: dict[str, object]) -> None:
    try:
        code = compile("\n" * (block.line - 1) + block.text, "<page>", "exec")
        with contextlib.redirect_stdout(io.StringIO()):
            exec(code, namespace)
    except Exception as fault:
        raise PageError(f"{type(fault).__name__}: {fault}") from fault


def _run_examples(block: Block, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, namespace, "page", "page", block.line - 1)
    test.globs = namespace  # the parser copies; later blocks must see what this one defines
    report: list[str] = []
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False).failed
    if failed:
        raise PageError("".join(report))


def _run_command(command: str, shown: str, fails: bool, env: Mapping[str, str]) -> None:
    if shlex.split(command, comments=True)[0] not in RUN:
        _check_names(command)
        return
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if (ran.returncode != 0) != fails:
        raise PageError(f"`{command}` exited with {ran.returncode}\n{ran.stdout}{ran.stderr}")
    # A terminal shows both streams, and words often come before the data.
    printed = [ran.stdout, ran.stdout + ran.stderr, ran.stderr + ran.stdout]
    if shown.strip() and not any(_alike(shown, output) for output in printed):
        raise PageError(f"`{command}` printed\n{ran.stdout}{ran.stderr}\nbut the page shows\n{shown}")


def _check_names(command: str) -> None:
    """Pass a command that is only read, if the make targets in it exist; refuse one that no rule knows."""
    for part in re.split(r"&&|;", command):
        first, *rest = shlex.split(part, comments=True)
        if first == "make":
            lacking = {word for word in rest if re.fullmatch("[a-z]+", word)} - TARGETS
            if lacking:
                raise PageError(f"the Makefile lacks {sorted(lacking)}")
        elif first not in ONLY_READ and rest[:2] not in (["-m", "venv"], ["-m", "pip"]):
            raise PageError(f"no rule runs `{command}`")


def _alike(shown: str, printed: str) -> bool:
    """Compare as doctest does: `...` stands for anything, and runs of blanks are one blank."""
    return doctest.OutputChecker().check_output(shown.strip() + "\n", printed.strip() + "\n", FLAGS)


def _read_json(text: str) -> None:
    """Read one value, or one value a line."""
    try:
        json.loads(text)
    except json.JSONDecodeError as fault:
        try:
            for line in text.splitlines():
                json.loads(line)
        except json.JSONDecodeError:
            raise PageError(f"not JSON, nor JSON lines: {fault}") from fault
