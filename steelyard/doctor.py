"""Check that this installation is sound.

Our import names are short, and others use them too: uncertainty-calibration installs a `calibration`, and a
file calibration.py in the working folder hides ours. The doctor checks the Python, who owns each import
name, what would be imported, and the versions of what we depend on. It exits with 1 if something is wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from steelyard.commands import PACKAGES, emit, version_of

__all__ = ["Check", "add_arguments", "run"]

_DISTRIBUTION = "steelyard"
_AGAIN = "reinstall steelyard (in a checkout: pip install --force-reinstall --no-deps -e .)"


@dataclass(frozen=True)
class Check:
    """One thing looked at.

    Attributes
    ----------
    name : str
        What was looked at: "python", an import name, or a dependency.
    ok : bool
        Whether it is as it should be.
    found : str
        What was found.
    remedy : str
        What to do about it; empty where all is well.

    Examples
    --------
    >>> from steelyard.doctor import Check
    >>> Check("python", ok=True, found="3.12.1, needs >=3.11,<3.14").remedy
    ''
    """

    name: str
    ok: bool
    found: str
    remedy: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add this command's options.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.doctor import add_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--json"]).json
    True
    """
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")


def run(args: argparse.Namespace) -> int:
    """Look at everything, print what was found, and return 1 if something is wrong.

    Parameters
    ----------
    args : argparse.Namespace
        With `json`.

    Returns
    -------
    int
        0 when every check passes, else 1.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.doctor import run
    >>> code = run(argparse.Namespace(json=False))
    ok    python        ...
    """
    checks = _examine()
    ok = all(check.ok for check in checks)
    report = {"ok": ok, "checks": [asdict(check) for check in checks]}
    emit(report if args.json else _table(checks), args.json)
    return 0 if ok else 1


def _examine() -> list[Check]:
    try:
        own = metadata.metadata(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        remedy = "pip install steelyard, or `make demo` in a checkout"
        return [Check(_DISTRIBUTION, False, "not installed, only importable", remedy)]
    origins = {name: _origin(name) for name in PACKAGES}
    return [
        check_python(own["Requires-Python"], tuple(sys.version_info[:3])),
        *check_names(metadata.packages_distributions(), origins, Path.cwd()),
        *check_versions(metadata.requires(_DISTRIBUTION) or []),
    ]


def check_python(needs: str, version: Sequence[int]) -> Check:
    """Compare the running Python with the versions we support."""
    ok = _satisfies(version, needs)
    found = f"{'.'.join(map(str, version))}, needs {needs}"
    return Check("python", ok, found, "" if ok else "make the environment with a Python from that range")


def check_names(owners: Mapping[str, Iterable[str]], origins: Mapping[str, Path | None], folder: Path) -> list[Check]:
    """Check for each import name that it is ours alone, comes from where we are, and is not hidden."""
    home = Path(__file__).resolve().parent.parent
    return [_check_name(name, set(owners.get(name, ())), origins[name], home, folder) for name in origins]


def _check_name(name: str, owners: set[str], origin: Path | None, home: Path, folder: Path) -> Check:
    others = sorted(owners - {_DISTRIBUTION})
    if others:
        listed = ", ".join(others)
        return Check(
            name,
            False,
            f"also installed by {listed}, which overwrites files",
            f"pip uninstall {' '.join(others)}; then {_AGAIN}; or keep two environments",
        )
    if origin is None or _DISTRIBUTION not in owners:
        return Check(name, False, "not installed by steelyard", _AGAIN)
    if origin != home / name / "__init__.py":
        remedy = f"rename or remove {origin}, or start Python in another folder"
        return Check(name, False, f"imported from {origin}, not from {home / name}", remedy)
    for rival in (folder / f"{name}.py", folder / name / "__init__.py"):
        if rival.exists() and rival.resolve() != origin:
            remedy = f"rename {rival.relative_to(folder).parts[0]}, or start Python in another folder"
            return Check(name, False, f"hidden by {rival} for scripts and notebooks in this folder", remedy)
    return Check(name, True, str(origin.parent))


def check_versions(requirements: Iterable[str], version_of: Callable[[str], str | None] = version_of) -> list[Check]:
    """Compare each dependency that is always needed with what is installed."""
    checks = []
    for requirement in requirements:
        if ";" in requirement:  # an extra, such as parquet
            continue
        name, needs = _split(requirement)
        version = version_of(name)
        ok = version is not None and _satisfies(_release(version), needs)
        found = f"{version or 'not installed'}, needs {needs or 'any version'}"
        checks.append(Check(name, ok, found, "" if ok else f"pip install '{name}{needs}'"))
    return checks


def _table(checks: Sequence[Check]) -> str:
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        lines.append(f"{'ok' if check.ok else 'FAIL':4}  {check.name:{width}}  {check.found}")
        if check.remedy:
            lines.append(f"{'':4}  {'':{width}}  do: {check.remedy}")
    wrong = sum(not check.ok for check in checks)
    lines.append(f"{wrong} of {len(checks)} checks failed" if wrong else f"all {len(checks)} checks passed")
    return "\n".join(lines)


def _origin(name: str) -> Path | None:
    spec = find_spec(name)
    return Path(spec.origin).resolve() if spec is not None and spec.origin else None


def _split(requirement: str) -> tuple[str, str]:
    found = re.fullmatch(r"([A-Za-z0-9._-]+)\s*\(?([^()]*)\)?", requirement.strip())
    if found is None:
        raise ValueError(f"a requirement that the doctor cannot read: {requirement!r}")
    return found[1], found[2].replace(" ", "")


def _satisfies(release: Sequence[int], needs: str) -> bool:
    for clause in filter(None, needs.split(",")):
        found = re.fullmatch(r"(>=|<)([0-9.]+)", clause)
        if found is None:
            raise ValueError(f"a version clause that the doctor cannot read: {clause!r}")
        below = _padded(release) < _padded(_release(found[2]))
        if below != (found[1] == "<"):
            return False
    return True


def _release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: 0.14.1rc1 gives (0, 14, 1)."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, leading[0].split("."))) if leading else ()


def _padded(release: Sequence[int]) -> tuple[int, ...]:
    return (*release, *[0] * (4 - len(release)))
