"""What the doctor says of a sound and of a spoilt installation."""

import json
from importlib import metadata
from pathlib import Path

import pytest

from steelyard import doctor
from tests.house.tree import PACKAGES, ROOT, run_python

HOME = Path(doctor.__file__).resolve().parent.parent
OWNERS = {name: ["steelyard"] for name in PACKAGES}
ORIGINS = {name: HOME / name / "__init__.py" for name in PACKAGES}


def only_fault(checks: list[doctor.Check]) -> doctor.Check:
    (fault,) = (check for check in checks if not check.ok)
    assert fault.remedy
    return fault


def test_it_looks_at_exactly_our_packages():
    assert doctor.PACKAGES == PACKAGES


def test_a_sound_installation(tmp_path: Path):
    checks = doctor.check_names(OWNERS, ORIGINS, tmp_path)
    assert [check.name for check in checks if check.ok] == list(PACKAGES)
    assert all(not check.remedy for check in checks)


def test_being_listed_twice_by_ourselves_is_sound(tmp_path: Path):
    checks = doctor.check_names({**OWNERS, "bda": ["steelyard", "steelyard"]}, ORIGINS, tmp_path)
    assert all(check.ok for check in checks)


@pytest.mark.parametrize("owners", [["uncertainty-calibration", "steelyard"], ["uncertainty-calibration"]])
def test_another_distribution_with_our_name(tmp_path: Path, owners: list[str]):
    fault = only_fault(doctor.check_names({**OWNERS, "calibration": owners}, ORIGINS, tmp_path))
    assert fault.name == "calibration"
    assert "uncertainty-calibration" in fault.found
    assert "pip uninstall uncertainty-calibration" in fault.remedy


def test_a_package_from_elsewhere(tmp_path: Path):
    fault = only_fault(doctor.check_names(OWNERS, {**ORIGINS, "bda": tmp_path / "bda" / "__init__.py"}, tmp_path))
    assert fault.name == "bda"
    assert str(tmp_path) in fault.found


def test_a_package_that_is_missing(tmp_path: Path):
    fault = only_fault(doctor.check_names(OWNERS, {**ORIGINS, "causal": None}, tmp_path))
    assert fault.found == "not installed by steelyard"


@pytest.mark.parametrize("rival", ["calibration.py", "calibration/__init__.py"])
def test_a_local_file_that_hides_ours(tmp_path: Path, rival: str):
    (tmp_path / rival).parent.mkdir(exist_ok=True)
    (tmp_path / rival).touch()
    fault = only_fault(doctor.check_names(OWNERS, ORIGINS, tmp_path))
    assert str(tmp_path / rival) in fault.found
    assert "rename calibration" in fault.remedy


def test_our_own_checkout_hides_nothing():
    assert all(check.ok for check in doctor.check_names(OWNERS, ORIGINS, ROOT))


@pytest.mark.parametrize(
    ("installed", "ok"),
    [("0.14", True), ("0.14.0", True), ("0.14.1rc1", True), ("1.0", True), ("0.13.9", False), ("0.9", False)],
)
def test_the_version_of_a_dependency(installed: str, ok: bool):
    (check,) = doctor.check_versions(["dowhy>=0.14"], lambda name: installed)
    assert check.ok == ok
    assert check.remedy == ("" if ok else "pip install 'dowhy>=0.14'")


def test_a_dependency_that_is_missing():
    assert only_fault(doctor.check_versions(["dowhy>=0.14"], lambda name: None)).found.startswith("not installed")


def test_extras_are_passed_over():
    assert doctor.check_versions(['pyarrow>=16; extra == "parquet"'], lambda name: None) == []


@pytest.mark.parametrize(
    ("version", "ok"), [((3, 10, 9), False), ((3, 11, 0), True), ((3, 13, 9), True), ((3, 14, 0), False)]
)
def test_the_python(version: tuple[int, ...], ok: bool):
    assert doctor.check_python("<3.14,>=3.11", version).ok == ok


def test_every_pin_of_ours_can_be_read():
    assert doctor.check_versions(metadata.requires("steelyard") or [], lambda name: "1.0")


def test_the_command_on_this_environment(tmp_path: Path):
    ran = run_python("-m", "steelyard", "doctor", cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1].startswith("all ")


def test_the_command_beside_a_file_that_hides_ours(tmp_path: Path):
    (tmp_path / "calibration.py").touch()
    ran = run_python("-m", "steelyard", "doctor", "--json", cwd=tmp_path)
    assert ran.returncode == 1
    report = json.loads(ran.stdout)
    assert not report["ok"]
    assert [check["name"] for check in report["checks"] if not check["ok"]] == ["calibration"]
