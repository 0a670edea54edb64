"""The files of the project, and what its sources import."""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bda", "calibration", "causal", "cbs_math", "council_sim", "steelyard")
_NOT_OURS = {".git", ".venv", "build", "dist", "out", "__pycache__"}


def project_files() -> list[Path]:
    """Every file that is or could be committed; where git cannot say, every file outside caches."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [name for name in listed.stdout.split("\0") if name]
        return sorted(ROOT / name for name in names if (ROOT / name).is_file())
    return sorted(path for path in ROOT.rglob("*") if path.is_file() and _is_ours(path.relative_to(ROOT)))


def _is_ours(path: Path) -> bool:
    return not any(
        part in _NOT_OURS or part.endswith((".egg-info", "_cache")) or part == ".hypothesis" for part in path.parts
    )


def sources(*packages: str) -> list[Path]:
    """Every Python file of these packages."""
    return sorted(path for package in packages for path in (ROOT / package).rglob("*.py"))


def module_of(path: Path) -> str:
    """Return the dotted name of one of our files: bda/traces.py is bda.traces, bda/__init__.py is bda."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, package: str) -> Iterator[tuple[int, str]]:
    """Line and absolute name of every import, wherever in the source; relative ones start from `package`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.lineno, node.module or ""
        elif isinstance(node, ast.ImportFrom):
            # One dot is the package itself; a dot too many leads out of it, to whatever name stands there.
            base = package.split(".")[: len(package.split(".")) + 1 - node.level]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            yield from ((node.lineno, ".".join([*base, name])) for name in names)
        elif isinstance(node, ast.Call) and node.args and _called(node) in ("import_module", "__import__"):
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def run_python(*words: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run this Python on this tree, with no stdin; the caller looks at the exit code."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
