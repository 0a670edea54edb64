"""scikit-learn's tools over Traces: clone, parameters, cross-validation, grid search, pipelines, pickles."""

import io

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, Traces, WeightedVote

ARMS = [Plurality(), BestMember(), WeightedVote(), OneCoin(), PerAgent(), Confusion()]
OTHER = {
    "alpha": 3.5,
    "beta": 1.5,
    "kappa": 7.0,
    "temperature": 2.0,
    "challenge": "ignore",
    "class_prior": {0: 1.0, 1: 2.0, 2: 1.0},
    "view": "last_vote",
    "fit_view": "round0",
    "random_state": 5,
    "prior_strength": 2.0,
    "prior_accuracy": 0.7,
    "likelihood": "marginal",
}


def named(arms):
    return [pytest.param(arm, id=type(arm).__name__) for arm in arms]


@pytest.fixture(scope="module")
def council():
    rng = np.random.default_rng(0)
    gold = rng.integers(3, size=60)
    right = rng.random((60, 5)) < [0.9, 0.8, 0.6, 0.5, 0.1]
    votes = np.where(right, gold[:, None], (gold[:, None] + rng.integers(1, 3, size=(60, 5))) % 3)
    return Traces.from_votes(votes, classes=3), gold


@pytest.mark.parametrize("arm", named(ARMS))
def test_clone_and_parameters(arm, council):
    changed = {name: OTHER[name] for name in arm.get_params()}
    other = type(arm)(**changed)
    assert other.get_params() == changed
    assert type(arm)().set_params(**changed).get_params() == changed
    copy = clone(other.fit(*council))
    assert copy.get_params() == changed
    assert not copy.is_fitted
    assert copy.get_params()["random_state"] == 5
    for name, value in changed.items():
        assert f"{name}={value!r}" in repr(other)
    assert repr(type(arm)()) == f"{type(arm).__name__}()"
    assert vars(type(arm)()).keys() == arm.get_params().keys()  # the constructor stores its arguments and nothing else


@pytest.mark.parametrize("arm", named(ARMS))
def test_an_unknown_parameter_is_named_and_nothing_is_set(arm):
    fresh = type(arm)()
    with pytest.raises(ValueError, match=f"{type(arm).__name__} has no parameter 'bogus'; it has .*random_state"):
        fresh.set_params(random_state=9, bogus=1)
    assert fresh.random_state == 0


def test_plurality_has_no_fit_view():
    """It learns nothing, so a parameter for what it learns from would be one that does nothing."""
    assert not hasattr(Plurality(), "fit_view")
    assert set(Plurality().get_params()) == {"view", "random_state"}


@pytest.mark.parametrize("arm", named(ARMS))
def test_sklearn_takes_it_for_a_classifier(arm, council):
    assert is_classifier(arm)
    check_is_fitted(type(arm)().fit(*council))
    if arm.needs_labels:
        with pytest.raises(SklearnNotFittedError):
            check_is_fitted(type(arm)())
    else:
        check_is_fitted(type(arm)())


@pytest.mark.parametrize("arm", named(ARMS))
def test_cross_val_score_equals_a_loop(arm, council):
    traces, gold = council
    folds = KFold(4, shuffle=True, random_state=0)
    scores = cross_val_score(arm, traces, gold, cv=folds)
    expected = []
    for train, test in folds.split(np.arange(60)):
        fresh = clone(arm).fit(traces[train], gold[train])
        expected.append(np.mean(fresh.predict(traces[test]) == gold[test]))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-15)


def test_cross_val_score_with_gold_inside_and_with_names(council):
    traces, gold = council
    inside = cross_val_score(PerAgent(), traces.with_gold(gold), cv=KFold(4))
    np.testing.assert_array_equal(inside, cross_val_score(PerAgent(), traces, gold, cv=KFold(4)))
    letters = np.array(list("abc"))[gold]
    votes = np.array(list("abc"))[traces.to_frame()["answer"].to_numpy().reshape(60, 5)]
    np.testing.assert_array_equal(inside, cross_val_score(PerAgent(), Traces.from_votes(votes), letters, cv=KFold(4)))


def test_stratified_folds_and_other_scores(council):
    traces, gold = council
    found = cross_validate(PerAgent(), traces, gold, cv=5, scoring=["accuracy", "neg_log_loss", "neg_brier_score"])
    assert found["test_accuracy"].mean() > 0.85
    assert np.isfinite(found["test_neg_log_loss"]).all()
    assert (found["test_neg_brier_score"] > -0.5).all()


def test_cross_val_predict(council):
    traces, gold = council
    labels = cross_val_predict(PerAgent(), traces, gold, cv=KFold(4))
    p = cross_val_predict(PerAgent(), traces, gold, cv=KFold(4), method="predict_proba")
    assert p.shape == (60, 3)
    for train, test in KFold(4).split(np.arange(60)):
        arm = PerAgent().fit(traces[train], gold[train])
        np.testing.assert_array_equal(labels[test], arm.predict(traces[test]))
        np.testing.assert_array_equal(p[test], arm.predict_proba(traces[test]))


def test_cross_val_predict_of_named_classes_takes_gold_inside(council):
    """With y, scikit-learn turns names into numbers before a fit; gold inside the traces keeps them."""
    traces, gold = council
    letters = np.array(list("abc"))
    votes = letters[traces.to_frame()["answer"].to_numpy().reshape(60, 5)]
    named_classes = Traces.from_votes(votes).with_gold(letters[gold])
    p = cross_val_predict(PerAgent(), named_classes, cv=KFold(4), method="predict_proba")
    np.testing.assert_array_equal(p, cross_val_predict(PerAgent(), traces, gold, cv=KFold(4), method="predict_proba"))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_grid_search(council, n_jobs):
    traces, gold = council
    search = GridSearchCV(PerAgent(), {"kappa": [0.0, 20.0], "alpha": [2.0, 3.0]}, cv=3, n_jobs=n_jobs)
    search.fit(traces, gold)
    assert search.best_params_["kappa"] == 20.0
    assert search.predict(traces).shape == (60,)
    assert search.score(traces, gold) > 0.85


def test_pipeline(council):
    traces, gold = council
    line = Pipeline([("pass", "passthrough"), ("arm", PerAgent())]).set_params(arm__kappa=60.0)
    np.testing.assert_array_equal(
        line.fit(traces, gold).predict_proba(traces), PerAgent(kappa=60.0).fit(traces, gold).predict_proba(traces)
    )
    assert line.score(traces, gold) > 0.85
    assert cross_val_score(line, traces, gold, cv=3).mean() > 0.8
    assert "PerAgent(kappa=60.0)" in repr(line)


def test_wide_arrays_work_as_well(council):
    traces, gold = council
    votes = traces.to_frame()["answer"].to_numpy().reshape(60, 5)
    np.testing.assert_array_equal(
        cross_val_score(PerAgent(), votes, gold, cv=KFold(4)), cross_val_score(PerAgent(), traces, gold, cv=KFold(4))
    )


@pytest.mark.parametrize("arm", named(ARMS))
def test_joblib_round_trip(arm, council):
    traces, gold = council
    arm.fit(traces, gold)
    buffer = io.BytesIO()
    joblib.dump((arm, traces), buffer)
    buffer.seek(0)
    again, same = joblib.load(buffer)
    np.testing.assert_array_equal(again.predict_proba(same), arm.predict_proba(traces))
    assert again.get_params() == arm.get_params()
