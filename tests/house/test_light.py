"""What an import loads. Each case starts a fresh Python and lists its modules."""

import json

import pytest

from tests.house.tree import run_python

HEAVY = {
    "dowhy",
    "jax",
    "matplotlib",
    "networkx",
    "numpyro",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "statsmodels",
}
OURS = {"bda", "calibration", "causal", "cbs_math", "council_sim"}
LIST = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def loaded_by(code: str) -> set[str]:
    ran = run_python("-c", f"{code}\n{LIST}")
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stdout.splitlines()[-1]))


def test_a_heavy_module_is_noticed():
    assert "scipy" in loaded_by("import scipy") & HEAVY


@pytest.mark.parametrize(
    "code",
    [
        "from bda import Traces, OneCoin",
        "import calibration",
        "import causal, cbs_math, council_sim, steelyard",
    ],
)
def test_importing_a_package_loads_nothing_heavy(code: str):
    assert loaded_by(code) & HEAVY == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["doctor", "--help"]], ids=" ".join)
def test_help_loads_neither_numpy_nor_our_packages(words: list[str]):
    modules = loaded_by(f"from steelyard.commands import main; assert main({words!r}) == 0")
    assert modules & (HEAVY | OURS | {"numpy"}) == set()


@pytest.mark.parametrize("name", ["evaluate", "inspect", "fit", "predict", "explain"])
def test_the_help_of_a_command_loads_nothing_heavy(name: str):
    modules = loaded_by(f"from steelyard.commands import main; assert main([{name!r}, '--help']) == 0")
    assert modules & HEAVY == set()
