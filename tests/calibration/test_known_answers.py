"""Every known answer of the metrics and the clustered errors, each to its own tolerance."""

import numpy as np
import pytest

import calibration as c
from calibration.binning import Binning
from calibration.intervals import _percentile_bounds, _replicates
from tests.calibration.oracle import GOLDEN, golden


def _binning(case):
    closed = "left" if case["convention"].startswith("left") or "left-closed" in case["convention"] else "right"
    strategy = "quantile" if case["id"].startswith("ece_em") else "uniform"
    return Binning(strategy, n_bins=case["inputs"]["n_bins"], closed=closed)


def _compute(case):
    name, data = case["id"], case["inputs"]
    y, p = data.get("y"), data.get("p", data.get("P"))
    if name == "ece_confidence_k3":
        return c.expected_calibration_error(y, p, binning=_binning(case), view="confidence")
    if name == "ece_classwise_k3":
        columns = [
            c.expected_calibration_error(np.equal(y, k), np.array(p)[:, k], binning=_binning(case)) for k in range(3)
        ]
        return [c.expected_calibration_error(y, p, binning=_binning(case), view="classwise"), *columns]
    if name.startswith("ece_"):
        return c.expected_calibration_error(y, p, binning=_binning(case))
    if name in ("rmsce_ew", "mce_ew"):
        norm = "l2" if name == "rmsce_ew" else "max"
        return c.expected_calibration_error(y, p, binning=_binning(case), norm=norm)
    if name.startswith("debiased_sq"):
        return c.calibration_error_sq_debiased(y, p, binning=_binning(case))
    if name.startswith("brier"):
        return c.brier_score(y, p, sample_weight=data.get("sample_weight"))
    if name.startswith("logloss"):
        return c.log_loss(y, p)
    if name == "cluster_robust_se":
        return [c.cluster_robust_se(data["v"], data["cluster"], kind=kind) for kind in ("CR0", "CR1")]
    raise AssertionError(f"no computation for {name}")


@pytest.mark.parametrize("case", [k for k in GOLDEN if k["id"] != "cluster_bootstrap_exact"], ids=lambda k: k["id"])
def test_known_answer(case):
    np.testing.assert_allclose(_compute(case), case["expected"], rtol=0, atol=case["tol"])


def test_one_hot_of_the_confidence_view_is_the_one_dimensional_call():
    (case,) = golden("ece_confidence_k3")
    prob, y = np.array(case["inputs"]["P"]), case["inputs"]["y"]
    value = c.expected_calibration_error(prob.argmax(1) == y, prob.max(1), binning=Binning(n_bins=5))
    assert value == pytest.approx(case["expected"], abs=case["tol"])


def test_all_256_resamples_of_four_clusters():
    (case,) = golden("cluster_bootstrap_exact")
    v, cluster = np.array(case["inputs"]["v"], float), np.array(case["inputs"]["cluster"])
    drawn = np.stack(np.meshgrid(*[range(4)] * 4), -1).reshape(-1, 4)
    times = np.stack([np.bincount(row, minlength=4) for row in drawn]).astype(float)
    distribution = _replicates(times, np.bincount(cluster, v)[:, None], np.bincount(cluster).astype(float))
    low, high = _percentile_bounds(distribution, 0.95)
    found = [distribution.mean(), distribution.std(), low[0], high[0]]
    np.testing.assert_allclose(found, case["expected"], rtol=0, atol=case["tol"])


def test_drawn_resamples_agree_with_all_of_them():
    (case,) = golden("cluster_bootstrap_exact")
    mean, sd, low, high = case["expected"]
    with pytest.warns(c.FewClustersWarning):
        result = c.cluster_bootstrap(case["inputs"]["v"], case["inputs"]["cluster"], n_resamples=40_000)
    assert result.distribution.mean() == pytest.approx(mean, abs=5 * sd / 200)
    assert result.distribution.std() == pytest.approx(sd, abs=5 * sd / 200)
    np.testing.assert_allclose(_percentile_bounds(result.distribution, 0.95), [low, high], atol=1e-12)
