"""What is shipped: the wheel holds the six packages, their licence and metadata, and nothing else."""

import shutil
import zipfile
from email.message import Message
from email.parser import Parser

import pytest

from tests.house.tree import PACKAGES, ROOT, run_python, sources


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build from a copy, so that no build folder is left in the checkout."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for name in (*PACKAGES, "tests", "benchmarks", "examples", "docs"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    built = run_python("-m", "build", "--wheel", "--no-isolation", "--outdir", str(copy / "out"), cwd=copy)
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = (copy / "out").glob("*.whl")
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def names(wheel: zipfile.ZipFile) -> set[str]:
    return {name for name in wheel.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def test_the_top_level_is_the_six_packages(names: set[str]):
    top = {name.partition("/")[0] for name in names}
    (info,) = (name for name in top if name.endswith(".dist-info"))
    assert top == {*PACKAGES, info}


def test_every_source_is_there(names: set[str]):
    expected = {path.relative_to(ROOT).as_posix() for path in sources(*PACKAGES)}
    assert {name for name in names if name.endswith(".py")} == expected


@pytest.mark.parametrize("package", PACKAGES)
def test_types_are_announced(names: set[str], package: str):
    assert f"{package}/py.typed" in names


def test_the_licence_is_there(wheel: zipfile.ZipFile, names: set[str], metadata: Message):
    (name,) = (name for name in names if name.endswith(".dist-info/licenses/LICENSE"))
    assert wheel.read(name) == (ROOT / "LICENSE").read_bytes()
    assert metadata["License-Expression"] == "Apache-2.0"


def test_the_metadata(metadata: Message):
    assert metadata["Name"] == "steelyard"
    assert set(metadata["Requires-Python"].split(",")) == {">=3.11", "<3.14"}
    needs = metadata.get_all("Requires-Dist")
    assert "dowhy>=0.14" in needs  # older ones break with networkx 3.6 and later
    assert not [need for need in needs if need.startswith(("torch", "litellm"))]


def test_the_command_is_announced(wheel: zipfile.ZipFile):
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    assert "steelyard = steelyard.__main__:main" in wheel.read(name).decode()
