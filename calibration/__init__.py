"""Calibration: metrics, their uncertainty, recalibration and decisions.

Names are resolved on first use, so that `import calibration` loads NumPy and nothing heavier.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Binning": "calibration.binning",
    "Bins": "calibration.binning",
    "CalibrationNull": "calibration.consistency",
    "CalibrationTest": "calibration.consistency",
    "ClusterBootstrap": "calibration.intervals",
    "FewClustersWarning": "calibration.intervals",
    "PairedDifference": "calibration.intervals",
    "ReliabilityCurve": "calibration.reliability",
    "accuracy": "calibration.metrics",
    "brier_score": "calibration.metrics",
    "calibration_error_sq_debiased": "calibration.metrics",
    "calibration_null": "calibration.consistency",
    "cluster_bootstrap": "calibration.intervals",
    "cluster_robust_se": "calibration.intervals",
    "ece_test": "calibration.consistency",
    "expected_calibration_error": "calibration.metrics",
    "log_loss": "calibration.metrics",
    "paired_difference": "calibration.intervals",
    "reliability_curve": "calibration.reliability",
}

__all__ = [
    "Binning",
    "Bins",
    "CalibrationNull",
    "CalibrationTest",
    "ClusterBootstrap",
    "FewClustersWarning",
    "PairedDifference",
    "ReliabilityCurve",
    "accuracy",
    "brier_score",
    "calibration_error_sq_debiased",
    "calibration_null",
    "cluster_bootstrap",
    "cluster_robust_se",
    "ece_test",
    "expected_calibration_error",
    "log_loss",
    "paired_difference",
    "reliability_curve",
]

if TYPE_CHECKING:
    from calibration.binning import Binning, Bins
    from calibration.consistency import CalibrationNull, CalibrationTest, calibration_null, ece_test
    from calibration.intervals import (
        ClusterBootstrap,
        FewClustersWarning,
        PairedDifference,
        cluster_bootstrap,
        cluster_robust_se,
        paired_difference,
    )
    from calibration.metrics import (
        accuracy,
        brier_score,
        calibration_error_sq_debiased,
        expected_calibration_error,
        log_loss,
    )
    from calibration.reliability import ReliabilityCurve, reliability_curve


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'calibration' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
