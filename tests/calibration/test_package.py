"""The package's front: names resolve on first use, and scores need nothing but NumPy."""

import importlib
import subprocess
import sys

import pytest

import calibration

HEAVY = ("scipy", "sklearn", "pandas", "matplotlib", "jax")


def test_every_public_name_resolves_to_its_home():
    assert set(calibration.__all__) == set(calibration._HOME)
    for name, home in calibration._HOME.items():
        assert getattr(calibration, name) is getattr(importlib.import_module(home), name)
        assert name in dir(calibration)
    with pytest.raises(AttributeError, match="no attribute 'ece'"):
        calibration.ece  # noqa: B018


def test_scores_tests_and_intervals_load_numpy_alone():
    code = (
        "import sys, calibration as c\n"
        "y, p = [0, 1] * 10, [0.2, 0.7] * 10\n"
        "c.expected_calibration_error(y, p); c.log_loss(y, p); c.ece_test(y, p, n_resamples=9)\n"
        "c.cluster_bootstrap(y, range(20), n_resamples=9); c.reliability_curve(y, p, n_resamples=9)\n"
        f"loaded = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
