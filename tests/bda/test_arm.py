"""What all arms share: labels in every form, shapes and columns, classes that fit never saw, explanations' edges."""

import numpy as np
import pandas as pd
import pytest

from bda import BestMember, Confusion, NotFittedError, OneCoin, PerAgent, Plurality, TraceError, Traces, WeightedVote
from bda.inputs import as_traces, name_array
from tests.bda.cases import close, messy, probabilities

ARMS = [Plurality(), BestMember(), WeightedVote(), OneCoin(), PerAgent(), Confusion()]
LEARNERS = [BestMember(), WeightedVote(), PerAgent(), Confusion()]


def named(arms):
    return [pytest.param(arm, id=type(arm).__name__) for arm in arms]


@pytest.fixture
def votes():
    table = [["x", "y", "x"], ["y", "y", "x"], ["x", "x", "x"], ["y", "x", "y"]]
    return Traces.from_votes(table, tasks=["q1", "q2", "q3", "q4"], agents=["ada", "bo", "cy"])


# Labels


@pytest.mark.parametrize("arm", named(LEARNERS))
def test_labels_in_every_form_are_the_same(arm, votes):
    forms = {
        "inside": (votes.with_gold({"q1": "x", "q2": "y", "q4": "y"}), None),
        "mapping": (votes, {"q4": "y", "q1": "x", "q2": "y"}),
        "mapping with more": (votes, {"q4": "y", "q1": "x", "q2": "y", "elsewhere": "z"}),
        "Series by name": (votes, pd.Series({"q4": "y", "q2": "y", "q1": "x"})),
        "Series by position": (votes, pd.Series(["x", "y", None, "y"])),
        "categories": (votes, pd.Series(["x", "y", None, "y"], index=votes.task_ids, dtype="category")),
        "array": (votes, np.array(["x", "y", None, "y"], object)),
        "NaN": (votes, np.array(["x", "y", np.nan, "y"], object)),
        "list": (votes, ["x", "y", -1, "y"]),
        "frame": (votes, pd.DataFrame({"task": ["q4", "q1", "q2"], "label": ["y", "x", "y"]})),
    }
    found = {}
    for form, (traces, labels) in forms.items():
        fresh = type(arm)().fit(traces, labels)
        assert fresh.n_labels_ == 3, form
        found[form] = fresh.predict_proba(votes)
    for p in found.values():
        np.testing.assert_array_equal(p, found["inside"])


def test_labels_given_win_over_gold_inside(votes):
    gold = votes.with_gold(["x", "y", "x", "y"])
    other = PerAgent().fit(gold, ["y", "x", "y", None])
    assert other.n_labels_ == 3
    assert other.reliability_.right.tolist() == PerAgent().fit(votes, ["y", "x", "y", None]).reliability_.right.tolist()


def test_integer_labels_are_not_text(votes):
    numbers = Traces.from_votes([[1, 2], [2, 2]])
    for traces, labels in ((numbers, ["1", "2"]), (votes, [0, 1, 0, 1])):
        with pytest.raises(TraceError, match=r"labels\[0\], task \S+: label = .* is not a class; classes are "):
            PerAgent().fit(traces, labels)
    for labels in ([1, 2], np.array([1, 2], np.int8), np.array([1.0, 2.0]), pd.Series([1, 2], dtype="Int64")):
        assert PerAgent().fit(numbers, labels).predict(numbers).tolist() == [1, 2]
    for labels in (np.array(list("xyxy")), np.array(list("xyxy"), object), pd.Series(list("xyxy"), dtype="string")):
        assert PerAgent().fit(votes, labels).n_labels_ == 4


def test_a_label_that_its_task_does_not_offer_is_named():
    tasks = [{"task": n, "candidates": c, "moves": []} for n, c in (("q1", ["a", "b"]), ("q2", ["b", "c"]))]
    with pytest.raises(TraceError, match=r"task 'q2': label = 'a' is not a candidate of its task; it offers 'b', 'c'"):
        PerAgent().fit(Traces.from_records(tasks), {"q2": "a"})


def test_labels_of_another_length_are_counted(votes):
    with pytest.raises(TraceError, match="has 3 labels for 4 tasks"):
        PerAgent().fit(votes, ["x", "y", "x"])


def test_a_mapping_that_names_no_task_is_an_error(votes):
    with pytest.raises(TraceError, match=r"task = 'nope'.*tasks are named like 'q1'"):
        PerAgent().fit(votes, {"nope": "x"})


@pytest.mark.parametrize("arm", named(ARMS))
def test_score_is_the_share_of_labelled_tasks_that_are_right(arm, votes):
    arm.fit(votes, ["x", "y", "x", "y"])
    gold = ["y", "y", None, "y"]
    right = [p == g for p, g in zip(arm.predict(votes), gold, strict=True) if g is not None]
    assert arm.score(votes, gold) == close(np.mean(right))
    with pytest.raises(TraceError, match="no task has a label to score against"):
        arm.score(votes)


# Shapes


@pytest.mark.parametrize("arm", named(ARMS))
def test_columns_follow_classes_and_zero_where_not_offered(arm):
    calibration, tasks = messy(4, n=15, n_labelled=15)
    known, asked = Traces.from_records(calibration), Traces.from_records(tasks)
    p = arm.fit(known).predict_proba(asked)
    assert p.shape == (15, len(arm.classes_))
    assert p.dtype == np.float64
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
    for row, task, own in zip(p, tasks, probabilities(arm, asked), strict=True):
        by_class = dict(zip(arm.classes_.tolist(), row.tolist(), strict=True))
        assert [by_class[c] for c in task["candidates"]] == close(own, 1e-15)
        assert all(value == 0 for c, value in by_class.items() if c not in task["candidates"])
    assert (p > 0).sum() > 15


def test_columns_before_a_fit_are_the_classes_of_the_traces():
    traces = Traces.from_votes([["b", "b"]], classes=["c", "b", "a"])
    for arm in (OneCoin(), Plurality()):
        assert arm.predict_proba(traces)[0].argmax() == 1
        assert arm.fit(traces).classes_.tolist() == ["c", "b", "a"]


@pytest.mark.parametrize("arm", named(ARMS))
def test_predict_candidates_is_the_same_in_long_form(arm, votes):
    arm.fit(votes, ["x", "y", "x", "y"])
    frame = arm.predict_candidates(votes)
    assert frame.columns.tolist() == ["task", "candidate", "probability"]
    wide = frame.pivot(index="task", columns="candidate", values="probability")
    np.testing.assert_array_equal(wide.to_numpy(), arm.predict_proba(votes))


def test_a_class_that_fit_never_saw_is_named(votes):
    arm = PerAgent().fit(votes, ["x", "y", "x", "y"])
    other = Traces.from_votes([["x", "z", "z"]], agents=["ada", "bo", "cy"])
    with pytest.raises(
        TraceError, match=r"class = 'z' is offered here but was no class when the arm was fitted.*predict_candidates"
    ):
        arm.predict_proba(other)
    assert arm.predict_candidates(other)["candidate"].tolist() == ["x", "z"]
    wider = Traces.from_votes([["x", "y", "y"]], agents=["ada", "bo", "cy"], classes=["x", "y"])
    assert arm.predict_proba(wider).shape == (1, 2)


def test_above_1000_classes_the_dense_table_is_refused():
    for n in (1000, 1001):
        traces = Traces.from_votes([[n - 1, n - 1, 3]], classes=n)
        for arm in (OneCoin(), Plurality(), PerAgent().fit(traces, [3])):
            if n == 1000:
                assert arm.predict_proba(traces).shape == (1, 1000)
                continue
            with pytest.raises(TraceError, match=r"there are 1,001 classes.*call predict_candidates\(traces\)"):
                arm.predict_proba(traces)
            frame = arm.predict_candidates(traces)
            assert len(frame) == 1001
            assert frame["probability"].sum() == close(1)
            assert arm.predict(traces).shape == (1,)


def test_long_wide_and_traces_are_the_same():
    wide = pd.DataFrame({"ada": ["x", "y"], "bo": ["y", "y"]}, index=["q1", "q2"])
    long = wide.rename_axis("task").melt(var_name="worker", value_name="label", ignore_index=False).reset_index()
    arm = PerAgent().fit(wide, {"q1": "x", "q2": "y"})
    expected = arm.predict_proba(Traces.from_votes(wide))
    np.testing.assert_array_equal(arm.predict_proba(wide), expected)
    np.testing.assert_array_equal(arm.predict_proba(long), expected)
    assert as_traces(long).agent_names == ("ada", "bo")


def test_a_wide_array_of_one_class_is_read_with_the_classes_of_the_fit():
    arm = PerAgent().fit([["x", "y"], ["y", "y"]], ["x", "y"])
    assert arm.predict([["y", "y"]]).tolist() == ["y"]


# Fitting


@pytest.mark.parametrize("arm", named(LEARNERS))
def test_using_an_arm_before_a_fit_says_to_fit(arm, votes):
    fresh = type(arm)()
    for use in (fresh.predict, fresh.predict_proba, fresh.predict_candidates, fresh.log_proba, fresh.decide):
        with pytest.raises(
            NotFittedError, match=rf"this {type(arm).__name__} is not fitted; call fit\(traces, labels\) first"
        ):
            use(votes)
    with pytest.raises(NotFittedError):
        fresh.explain(votes, "q1")


@pytest.mark.parametrize("arm", named(ARMS))
def test_a_failed_fit_changes_nothing(arm, votes):
    arm.fit(votes, ["x", "y", "x", "y"])
    before = arm.to_json()
    with pytest.raises(TraceError):
        arm.fit(votes, ["x", "y", "x", "w"])
    assert arm.to_json() == before


@pytest.mark.parametrize("arm", named(ARMS))
def test_fitting_again_forgets(arm, votes):
    first = arm.fit(votes, ["x", "y", "x", "y"]).to_json()
    arm.fit(Traces.from_votes([["p", "q"], ["q", "q"]], agents=["u", "v"]), ["p", "q"])
    assert arm.classes_.tolist() == ["p", "q"]
    assert arm.fit(votes, ["x", "y", "x", "y"]).to_json() == first


@pytest.mark.parametrize("arm", named(ARMS))
def test_traces_are_left_as_they_were(arm, votes):
    before = votes.to_frame()
    arm.fit(votes, ["x", "y", "x", "y"]).predict_proba(votes)
    pd.testing.assert_frame_equal(votes.to_frame(), before)


def test_unlabelled_tasks_teach_nothing(votes):
    some = PerAgent().fit(votes, {"q1": "x", "q3": "x"})
    alone = PerAgent().fit(votes[[0, 2]], ["x", "x"])
    np.testing.assert_array_equal(some.predict_proba(votes), alone.predict_proba(votes))


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("a", "b"), "U"),
        ((1, 2), "i"),
        ((True, False), "b"),
        (("a", 1), "O"),
        ((2**70, 1), "O"),
        ((), "O"),
        (("a\0",), "O"),
    ],
)
def test_names_come_back_as_they_were(names, kind):
    array = name_array(names)
    assert array.dtype.kind == kind
    assert [(type(a), a) for a in array.tolist()] == [(type(n), n) for n in names]
