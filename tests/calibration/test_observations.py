"""What the metrics accept, and the words in which they refuse the rest."""

import numpy as np
import pandas as pd
import pytest

import calibration as c
from calibration.observations import group_codes, observe

Y, P = [0, 1, 1, 0], [0.2, 0.7, 0.6, 0.4]
METRICS = [
    c.accuracy,
    c.brier_score,
    c.log_loss,
    c.expected_calibration_error,
    c.calibration_error_sq_debiased,
]


@pytest.mark.parametrize("metric", METRICS)
def test_every_shape_of_two_classes_gives_the_same(metric):
    p = np.array(P)
    value = metric(Y, p)
    assert metric(Y, p[:, None]) == value
    assert metric(Y, np.column_stack([1 - p, p])) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("y", "named"),
    [
        ([False, True, True, False], {}),
        ([-1, 1, 1, -1], {}),
        ([0.0, 1.0, 1.0, 0.0], {}),
        (np.array(Y, np.uint8), {}),
        (np.array(Y, np.uint64), {}),
        (pd.Series(Y, index=[9, 8, 7, 6]), {}),
        (pd.Series([False, True, True, False], dtype="boolean"), {}),
        (["no", "yes", "yes", "no"], {"pos_label": "yes"}),
        (["no", "yes", "yes", "no"], {"labels": ["no", "yes"]}),
        (pd.Categorical(["no", "yes", "yes", "no"]), {"pos_label": "yes"}),
        ([1, 2, 2, 1], {"pos_label": 2}),
        ([1, 2, 2, 1], {"labels": [1, 2]}),
    ],
)
def test_labels_of_every_kind(metric, y, named):
    assert metric(y, P, **named) == metric(Y, P)


def test_labels_fix_the_order_of_columns_even_when_a_class_is_absent():
    prob = [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]]
    assert observe(["c", "a"], prob, labels=["a", "b", "c"]).outcome.tolist() == [2, 0]
    assert c.accuracy(["c", "a"], prob, labels=["a", "b", "c"]) == 1.0
    assert c.brier_score([2, 0], prob, form="sum") == pytest.approx((0.01 + 0.04 + 0.09 + 0.04 + 0.01 + 0.01) / 2)


@pytest.mark.parametrize(
    ("y", "p", "named", "message"),
    [
        ([0, 1], [0.2, np.nan], {}, r"y_prob\[1\] is nan"),
        ([0, 1], [np.inf, 0.2], {}, r"y_prob\[0\] is inf"),
        ([0, 1], [[0.5, 0.5], [0.5, np.nan]], {}, r"y_prob\[1, 1\] is nan"),
        ([], [], {}, "y_prob is empty"),
        ([0, 1], [0.2, 1.00001], {}, r"y_prob\[1\] is .*1.00001.* lies in \[0, 1\]"),
        ([0, 1], [-0.1, 0.2], {}, r"y_prob\[0\] is"),
        ([0, 1], [[0.5, 0.5], [0.5, 0.6]], {}, r"y_prob\[1\] sums to"),
        ([0, 1], ["a", "b"], {}, "where numbers are wanted"),
        ([0, 1], [[[0.5]]], {}, "1-D or 2-D is wanted"),
        ([0, 1, 1], [0.2, 0.3], {}, "y_true has 3 rows but y_prob has 2"),
        ([[0, 1], [1, 0]], [0.2, 0.3], {}, "not one-hot"),
        ([0.0, np.nan], [0.2, 0.3], {}, r"y_true\[1\] is nan"),
        ([0, 0.5], [0.2, 0.3], {}, r"y_true\[1\] is 0.5"),
        ([1, 2], [0.2, 0.3], {}, r"y_true\[1\] is 2 but there are 2 classes.*pos_label="),
        ([-1, 0], [0.2, 0.3], {}, r"y_true\[0\] is -1"),
        ([0, 3], [[0.2, 0.3, 0.5]] * 2, {}, r"y_true\[1\] is 3 but there are 3 classes, coded 0..2"),
        (["C", "I"], [0.2, 0.3], {}, r"y_true\[0\] is 'C'.*pos_label="),
        (["C", "I"], [0.2, 0.3], {"pos_label": "correct"}, "one of them pos_label"),
        (["C", "I", "X"], [0.2, 0.3, 0.1], {"pos_label": "C"}, "two labels"),
        (["C", "I"], [0.2, 0.3], {"labels": ["I", "X"]}, r"y_true\[0\] is 'C' but labels are"),
        (["0", "1"], [0.2, 0.3], {"labels": [0, 1]}, r"y_true\[0\] is '0' but labels are \[0, 1\]"),
        ([0, 1], [0.2, 0.3], {"labels": [0, 1, 2]}, "y_prob describes 2 classes"),
        ([0, 1], [0.2, 0.3], {"labels": [0, 1], "pos_label": 1}, "not both"),
        ([0, 1], [[0.2, 0.3, 0.5]] * 2, {"pos_label": 1}, "3 columns; pass labels"),
        ([0, "1"], [0.2, 0.3], {"pos_label": "1"}, r"y_true\[1\] is '1' but y_true\[0\] is 0"),
        (pd.Series(["a", None]), [0.2, 0.3], {"pos_label": "a"}, r"y_true\[1\] is (None|nan)"),
        ([0, 1], [0.2, 0.3], {"sample_weight": [1, -1]}, r"sample_weight\[1\] is -1"),
        ([0, 1], [0.2, 0.3], {"sample_weight": [0, 0]}, "0 on every row"),
        ([0, 1], [0.2, 0.3], {"sample_weight": [1, np.nan]}, r"sample_weight\[1\] is nan"),
        ([0, 1], [0.2, 0.3], {"sample_weight": [1]}, "sample_weight has 1 rows but there are 2"),
    ],
)
def test_refusals_name_the_place_and_the_value(y, p, named, message):
    with pytest.raises(ValueError, match=message):
        c.log_loss(y, p, **named)


def test_a_hair_outside_is_clipped():
    assert c.brier_score([1, 0], [1 + 5e-7, -5e-7]) == 0.0
    wide = np.array([[0.1, 0.2, 0.70001]], np.float32)  # a narrow float misses by more
    assert c.accuracy([2], wide) == 1.0
    with pytest.raises(ValueError, match="sums to"):
        c.accuracy([2], wide.astype(np.float64))


@pytest.mark.parametrize("metric", METRICS)
def test_inputs_are_left_alone(metric):
    y, p, w = np.array([1, -1, 1, -1]), np.array([1 + 1e-7, 0.2, 0.6, 0.4]), np.array([1.0, 0, 2, 1])
    before = y.copy(), p.copy(), w.copy()
    for array in (y, p, w):
        array.setflags(write=False)
    metric(y, p, sample_weight=w)
    for array, old in zip((y, p, w), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_float32_lists_and_frames_are_read():
    p = np.array(P, np.float32)
    assert c.brier_score(Y, p) == pytest.approx(c.brier_score(Y, P), abs=1e-7)
    assert isinstance(c.brier_score(Y, p), float)
    frame = pd.DataFrame({"n": [0.8, 0.3, 0.4, 0.6], "y": P})
    assert c.brier_score(Y, frame) == pytest.approx(c.brier_score(Y, P), abs=1e-15)


def test_groups_are_coded_in_sorted_order():
    assert group_codes(["b", "a", "b"], 3)[0].tolist() == [1, 0, 1]
    assert group_codes(pd.Series(["q2", "q10", "q2"]), 3)[1] == 2


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "one group per row"),
        ([1, np.nan, 2], r"groups\[1\] is nan"),
        (np.array(["a", 1, "b"], object), r"groups\[1\] is 1"),
        (np.array(["a", None, "b"], object), r"groups\[1\] is None"),
    ],
)
def test_bad_groups_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        group_codes(groups, 3)
