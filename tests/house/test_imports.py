"""Which of our packages may import which."""

from pathlib import Path

import pytest

from tests.house.tree import PACKAGES, ROOT, imports, module_of, sources

MAY_IMPORT = {
    "bda": {"calibration"},
    "calibration": set(),
    "causal": set(),
    "cbs_math": set(),
    "council_sim": {"bda", "calibration", "causal", "cbs_math"},
    "steelyard": {"bda", "calibration", "causal", "cbs_math", "council_sim"},
}


def breaches(source: str, module: str, is_package: bool = False) -> list[str]:
    own = module.partition(".")[0]
    package = module if is_package else module.rpartition(".")[0]
    return [
        f"line {line}: {module} imports {name}"
        for line, name in imports(source, package)
        if (other := name.partition(".")[0]) in {*PACKAGES, "tests", "benchmarks"}
        and other != own
        and other not in MAY_IMPORT[own]
    ]


def test_the_table_names_every_package():
    assert set(MAY_IMPORT) == set(PACKAGES)


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_stay_within_the_table(path: Path):
    source = path.read_text(encoding="utf-8")
    assert breaches(source, module_of(path), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("source", "module", "is_package", "caught"),
    [
        ("import bda", "calibration.metrics", False, "bda"),
        ("import numpy, bda.traces as t", "calibration.metrics", False, "bda.traces"),
        ("from steelyard import commands", "council_sim.calls", False, "steelyard"),
        ("def f():\n    from causal.records import Record", "cbs_math.graph", False, "causal.records"),
        ("if TYPE_CHECKING:\n    import council_sim", "bda.traces", False, "council_sim"),
        ("from .. import cbs_math", "causal.records", False, "cbs_math"),
        ("from ..cbs_math.graph import Graph", "causal.records", False, "cbs_math.graph"),
        ("from .. import cbs_math", "causal", True, "cbs_math"),
        ("from ... import bda", "calibration.deep.metrics", False, "bda"),
        ("import_module('steelyard.doctor')", "bda.traces", False, "steelyard.doctor"),
        ("importlib.import_module('cbs_math')", "bda.traces", False, "cbs_math"),
        ("import tests.bda.oracle", "bda.traces", False, "tests.bda.oracle"),
    ],
)
def test_a_planted_breach_is_caught(source: str, module: str, is_package: bool, caught: str):
    found = breaches(source, module, is_package)
    assert len(found) == 1
    assert found[0].endswith(f"imports {caught}")


@pytest.mark.parametrize(
    ("source", "module", "is_package"),
    [
        ("import calibration", "bda.comparison", False),
        ("from bda import Traces\nimport causal", "council_sim.studies", False),
        ("import council_sim", "steelyard.evaluate", False),
        ("from . import traces", "bda.comparison", False),
        ("from .traces import Traces", "bda", True),
        ("from .. import metrics", "calibration.deep.plots", False),
        ("import numpy\nfrom scipy import stats", "bda.one_coin", False),
    ],
)
def test_what_the_table_allows_passes(source: str, module: str, is_package: bool):
    assert breaches(source, module, is_package) == []
