"""What the packages export is documented, annotated, and its examples run."""

import ast
import doctest
import inspect
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.house.tree import PACKAGES, ROOT, module_of, sources

MODULES = [module_of(path) for path in sources(*PACKAGES)]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def exported() -> list[tuple[str, str]]:
    """Pairs of a package and a name in its __all__ that is a class or a function."""
    names = []
    for package in PACKAGES:
        module = import_module(package)
        names += [(package, name) for name in getattr(module, "__all__", ())]
    return names


def sections(docstring: str) -> dict[str, str]:
    """Split a numpydoc docstring at its underlined headings."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", inspect.cleandoc(docstring), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_names(text: str) -> set[str]:
    """Return the names at the start of the unindented lines: `x, y : array` documents x and y."""
    heads = [line.partition(":")[0] for line in text.splitlines() if line and not line[0].isspace()]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def faults(thing: Any) -> list[str]:
    """List what the docstring of a class or function lacks."""
    if not (inspect.isclass(thing) or callable(thing)):
        return []
    docstring = inspect.getdoc(thing) if not inspect.isclass(thing) else thing.__doc__
    if not docstring:
        return ["no docstring"]
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return []
    found = sections(docstring)
    signature = inspect.signature(thing)
    known = documented_names(found.get("Parameters", "") + "\n" + found.get("Attributes", ""))
    missing = [name for name in signature.parameters if name not in known]
    lacks = [f"parameter {name} is not documented" for name in missing]
    returns = signature.return_annotation
    if not inspect.isclass(thing) and returns not in (None, "None", inspect.Signature.empty):
        lacks += [] if {"Returns", "Yields"} & set(found) else ["no Returns section"]
    if ">>>" not in found.get("Examples", ""):
        lacks.append("no Examples section with >>> lines")
    return lacks


@pytest.mark.parametrize(("package", "name"), exported(), ids=lambda part: part)
def test_an_exported_name_is_documented(package: str, name: str):
    assert faults(getattr(import_module(package), name)) == []


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report: list[str] = []
    for test in doctest.DocTestFinder(exclude_empty=True).find(import_module(module), module):
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def unannotated(source: str) -> list[str]:
    """List the functions with a bare parameter or no return type; self, cls and lambdas need none."""
    bare = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        spec = node.args
        named = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, *filter(None, [spec.vararg, spec.kwarg])]
        for argument in named:
            if argument.annotation is None and argument.arg not in ("self", "cls"):
                bare.append(f"line {node.lineno}: {node.name}({argument.arg})")
        if node.returns is None:
            bare.append(f"line {node.lineno}: {node.name} returns")
    return bare


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_function_is_annotated(path: Path):
    assert unannotated(path.read_text(encoding="utf-8")) == []


def test_a_bare_function_is_found():
    assert len(unannotated("def f(a, *, b: int): ...\nclass C:\n    def g(self) -> None: ...")) == 2


def test_a_poor_docstring_is_found():
    def add(first: int, second: int) -> int:
        """Add.

        Parameters
        ----------
        first : int
            One.
        """
        return first + second

    assert faults(add) == [
        "parameter second is not documented",
        "no Returns section",
        "no Examples section with >>> lines",
    ]


def test_a_full_docstring_passes():
    def add(first: int, second: int, *rest: int) -> int:
        """Add.

        Parameters
        ----------
        first, second : int
            Two.
        *rest : int
            The rest.

        Returns
        -------
        int
            The sum.

        Examples
        --------
        >>> 1 + 1
        2
        """
        return first + second + sum(rest)

    assert faults(add) == []
