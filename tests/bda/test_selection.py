"""Selection: the pooled inner Brier score by hand, the rules for equal scores, and no way in for a test label (D.1)."""

from dataclasses import replace

import numpy as np
import pytest

from bda import BestMember, Confusion, OneCoin, PerAgent, Plurality, TraceError, Traces, Tuned, WeightedVote
from bda.selection import (
    KAPPAS,
    PRIOR_ACCURACIES,
    PRIOR_COUNTS,
    PRIOR_STRENGTHS,
    TEMPERATURES,
    choose,
)
from bda.splits import PROTOCOLS, group_names, make_splits
from tests.bda.cases import close


def council(n=100, k=2, seed=0, reliable=(0.9, 0.8, 0.55, 0.15)):
    rng = np.random.default_rng(seed)
    gold = rng.integers(k, size=n)
    right = rng.random((n, len(reliable))) < reliable
    votes = np.where(right, gold[:, None], (gold[:, None] + rng.integers(1, k, size=right.shape)) % k)
    return Traces.from_votes(votes, classes=k, tasks=[f"q{i}" for i in range(n)]).with_gold(gold)


GRID = {"kappa": (0.0, 20.0), "temperature": (1.0, 3.0)}


def test_the_grids_are_those_of_the_specification():
    assert TEMPERATURES == (1, 1.5, 2, 3, 4, 6, 8, 12)
    assert KAPPAS == (0, 5, 10, 20, 60)
    assert PRIOR_COUNTS == ((2, 1), (3, 2), (4, 1))
    assert PRIOR_STRENGTHS == (1, 3, 10)
    assert PRIOR_ACCURACIES == (0.4, 0.6, 0.8)


def test_the_choice_is_the_smallest_brier_score_pooled_over_inner_predictions():
    traces = council(seed=1)
    splits = make_splits(traces, traces.gold, group_names(traces), 25, (0,), "nested")
    tuned = Tuned(WeightedVote(), {"kappa": (0.0, 5.0, 20.0)})
    for split, choice in zip(splits, choose(tuned, traces, traces.gold, splits), strict=True):
        pooled = []
        for setting in tuned.settings():
            losses = []
            for fold in range(5):
                known, held = split.labelled[split.inner != fold], split.labelled[split.inner == fold]
                p = WeightedVote(**setting).fit(traces[known]).predict_proba(traces[held])
                losses += ((p - np.eye(2)[traces.gold[held]]) ** 2).sum(axis=1).tolist()
            pooled.append(np.mean(losses))
        assert len(losses) == 25
        assert choice.brier == close(min(pooled))
        assert choice.setting == tuned.settings()[int(np.argmin(pooled))]


# Equal scores


class Flat(PerAgent):
    """Has every hyperparameter and heeds none."""

    def __init__(self, kappa=20.0, temperature=1.0, prior_strength=5.0, view="all", random_state=0):
        super().__init__(kappa=kappa, temperature=temperature, view=view, random_state=random_state)
        self.prior_strength = prior_strength

    def _log_proba(self, traces):
        return -np.log(traces.n_candidates[traces.candidate_task])


class Leaning(Flat):
    """Gives the first class a hair more than one half, and more of it the larger tau."""

    def _log_proba(self, traces):
        return np.log(0.5 + np.tile([1e-7, -1e-7], len(traces)) * self.temperature)


def chosen(grid, arm=Flat, gold=None):
    traces = council(30) if gold is None else council(30).with_gold([gold] * 30)
    splits = make_splits(traces, traces.gold, group_names(traces), 10, (0,), "draw")
    return choose(Tuned(arm(), grid), traces, traces.gold, splits)[0].setting


@pytest.mark.parametrize("turn", [1, -1])
def test_equal_scores_go_to_smaller_kappa_larger_lambda_larger_tau(turn):
    """In whatever order the grid lists them."""
    kappa, tau, strength = ((5.0, 0.0, 20.0)[::turn], (1.0, 12.0, 3.0)[::turn], (3.0, 10.0, 1.0)[::turn])
    assert chosen({"kappa": kappa, "temperature": tau}) == {"kappa": 0.0, "temperature": 12.0}
    assert chosen({"temperature": tau, "prior_strength": strength}) == {"temperature": 12.0, "prior_strength": 10.0}


def test_kappa_comes_before_lambda_and_lambda_before_tau():
    assert chosen({("kappa", "temperature"): ((5.0, 12.0), (0.0, 1.0))})["kappa"] == 0.0
    assert chosen({("kappa", "prior_strength"): ((5.0, 10.0), (0.0, 1.0))})["kappa"] == 0.0
    assert chosen({("prior_strength", "temperature"): ((1.0, 12.0), (10.0, 1.0))})["prior_strength"] == 10.0


def test_what_is_left_equal_goes_to_the_first_of_the_grid():
    assert chosen({"view": ("round0", "all")}) == {"view": "round0"}
    assert chosen({"view": ("last_vote", "all")}) == {"view": "last_vote"}


def test_scores_that_differ_are_not_equal():
    """A preference may not override a better score, however close: here by 2e-7 for each unit of tau."""
    taus = {"temperature": (1.0, 2.0, 3.0)}
    assert chosen(taus, Leaning, gold=0) == {"temperature": 3.0}
    assert chosen(taus, Leaning, gold=1) == {"temperature": 1.0}


# Leaks


def outcome(traces, gold, split, tuned):
    """Choice and probabilities of one split, as a comparison makes them."""
    choice = choose(tuned, traces, gold, [split])[0]
    arm = type(tuned.arm)(**{**tuned.arm.get_params(), **choice.setting})
    labels = [traces.classes[code] for code in gold[split.labelled]]
    return choice, arm.fit(traces[split.labelled], labels).predict_proba(traces[split.test])


def leaks(traces, splits_of, tuned, flips):
    """Whether flipping labels of a split's test part changes that split's choice or its predictions."""
    found = []
    for number, split in enumerate(splits_of(traces)):
        before = outcome(traces, traces.gold, split, tuned)
        for rows in flips(split):
            gold = traces.gold.copy()
            gold[rows] = 1 - gold[rows]
            other = replace(traces, gold=gold)
            after = outcome(other, gold, splits_of(other)[number], tuned)
            found.append(before[0] != after[0] or before[1].shape != after[1].shape or (before[1] != after[1]).any())
    return any(found)


def all_at_once_and_some_alone(split):
    return [split.test, *split.test[:3, None]]


def splits_by(protocol, n_labels=25):
    return lambda traces: make_splits(traces, traces.gold, group_names(traces), n_labels, (0,), protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("arm", [PerAgent(), BestMember()], ids=lambda arm: type(arm).__name__)
def test_no_label_of_a_test_group_reaches_what_scores_it(protocol, arm):
    grid = {"kappa": (0.0, 20.0)}
    assert not leaks(council(), splits_by(protocol), Tuned(arm, grid), all_at_once_and_some_alone)


def test_confusion_sees_no_label_of_a_test_group():
    tuned = Tuned(Confusion(), {"prior_strength": (1.0, 10.0)})
    assert not leaks(council(), splits_by("draw"), tuned, all_at_once_and_some_alone)


def learns_test_labels(traces):
    return [
        replace(s, labelled=np.append(s.labelled, s.test[0]), inner=np.append(s.inner, 0))
        for s in splits_by("nested")(traces)
    ]


def draws_by_test_labels(traces):
    left_out = [int(traces.gold[s.test].sum()) % 2 for s in splits_by("nested")(traces)]
    return [
        replace(s, labelled=s.labelled[n:], inner=s.inner[n:])
        for s, n in zip(splits_by("nested")(traces), left_out, strict=True)
    ]


@pytest.mark.parametrize("planted", [learns_test_labels, draws_by_test_labels])
def test_a_planted_leak_is_caught(planted):
    assert leaks(council(), planted, Tuned(PerAgent(), {"kappa": (0.0, 20.0)}), all_at_once_and_some_alone)


def test_labels_of_other_tasks_reach_no_choice():
    """Only the labelled tasks of a split are read."""
    traces = council()
    splits = splits_by("draw")(traces)
    tuned = Tuned(PerAgent(), GRID)
    hidden = np.full(len(traces), -1, np.int32)
    hidden[splits[0].labelled] = traces.gold[splits[0].labelled]
    assert choose(tuned, traces, hidden, splits) == choose(tuned, traces, traces.gold, splits)


def test_splits_together_or_alone_choose_alike():
    traces = council(seed=3)
    splits = make_splits(traces, traces.gold, group_names(traces), 25, (0,), "nested")
    for tuned in (Tuned(PerAgent(), GRID), Tuned(Plurality(), {"view": ("all", "round0")})):
        together = choose(tuned, traces, traces.gold, splits)
        for split, choice in zip(splits, together, strict=True):
            alone = choose(tuned, traces, traces.gold, [split])[0]
            assert alone.setting == choice.setting
            assert alone.brier == close(choice.brier, 1e-12)


# Grids


def test_settings_are_the_product_of_the_axes_in_order():
    tuned = Tuned(PerAgent(), {("alpha", "beta"): ((2.0, 1.0), (4.0, 1.0)), "kappa": (5.0, 20.0)})
    assert tuned.settings() == [
        {"alpha": a, "beta": b, "kappa": k} for a, b in ((2.0, 1.0), (4.0, 1.0)) for k in (5.0, 20.0)
    ]
    assert Tuned(PerAgent(), {}).settings() == [{}]


def test_a_bad_grid_is_named():
    with pytest.raises(TraceError, match="grid = 'kappa' is not a parameter of OneCoin; it has alpha"):
        Tuned(OneCoin(), {"kappa": (1.0,)}).settings()
    with pytest.raises(TraceError, match="grid = 'alpha' has no values; list at least one"):
        Tuned(OneCoin(), {"alpha": ()}).settings()
    with pytest.raises(TraceError, match="grid = 'challenge' has no values; list at least one"):
        Tuned(OneCoin(), {"challenge": "set"}).settings()
    with pytest.raises(TraceError, match="grid = 'alpha' stands on two axes; name it once"):
        Tuned(OneCoin(), {"alpha": (1.0,), ("alpha", "beta"): ((2.0, 1.0),)}).settings()
    for row in (2.0, (2.0,), (2.0, 1.0, 3.0)):
        with pytest.raises(TraceError, match=r"grid\[\('alpha', 'beta'\)\] = .* is not 2 values; give one value each"):
            Tuned(OneCoin(), {("alpha", "beta"): (row,)}).settings()
    traces = council()
    splits = splits_by("draw")(traces)
    with pytest.raises(TraceError, match="kappa = -1 is out of range; use a number from 0 on"):
        choose(Tuned(PerAgent(), {"kappa": (0, -1)}), traces, traces.gold, splits)
