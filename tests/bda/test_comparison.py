"""Comparisons: pairing, scores against plain recomputation, no leak, refused arguments."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from bda import (
    BestMember,
    Confusion,
    EvidenceWarning,
    OneCoin,
    PerAgent,
    Plurality,
    TraceError,
    Traces,
    Tuned,
    compare,
)
from bda.arm import Arm, Contributions
from bda.named_arms import ARM_NAMES, named_arm, read_arms
from bda.outcomes import LOG_LOSS_CLIP, measure_unanimity
from bda.selection import KAPPAS, TEMPERATURES
from calibration import brier_score, expected_calibration_error, log_loss


def council(n=120, k=3, seed=0, reliable=(0.9, 0.6, 0.5, 0.1), missing=0.1, classes=None):
    """A made-up panel: agents with these reliabilities, uniform wrong answers, some votes missing."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(k, size=n)
    right = rng.random((n, len(reliable))) < reliable
    votes = np.where(right, gold[:, None], (gold[:, None] + rng.integers(1, k, size=right.shape)) % k)
    votes[rng.random(votes.shape) < missing] = -1
    return Traces.from_votes(votes, classes=classes or k).with_gold(gold)


@pytest.fixture(scope="module")
def panel():
    return council()


@pytest.fixture(scope="module")
def nested(panel):
    return compare(panel)


@pytest.fixture(scope="module")
def drawn(panel):
    return compare(panel, ["plurality", "best-member", "per-agent"], seeds=(0, 1), protocol="draw")


def test_default_arms_are_all_names(nested):
    assert nested.arms == ARM_NAMES


def test_every_task_is_scored_once_a_seed(nested, panel):
    counted = nested.predictions.groupby(["arm", "seed", "task"], observed=True).size()
    assert (counted == 1).all()
    assert len(counted) == len(ARM_NAMES) * 3 * len(panel)


def test_rows_of_all_arms_are_paired(nested):
    for column in ("seed", "fold", "task", "group", "gold", "round0_correct"):
        table = nested.table(column)
        assert (table == table[:, :1]).all()


def test_a_draw_scores_every_other_group(drawn, panel):
    for seed in (0, 1):
        labelled = set(drawn.draws.loc[drawn.draws["seed"] == seed, "task"])
        frame = drawn.predictions
        scored = set(frame.loc[(frame["seed"] == seed) & (frame["arm"] == "per-agent"), "task"])
        assert len(labelled) == 25
        assert not labelled & scored
        assert labelled | scored == set(panel.task_ids.tolist())


@pytest.mark.parametrize("arm", ["plurality", "best-member", "per-agent", "confusion"])
def test_scores_equal_a_refit_by_hand(nested, panel, arm):
    """Refit each split from the public draws and choices, and score it with the calibration package."""
    gold = {t: panel.classes[g] for t, g in zip(panel.task_ids.tolist(), panel.gold, strict=True)}
    frame = nested.predictions[(nested.predictions["arm"] == arm) & (nested.predictions["seed"] == 1)]
    probabilities, truth, chosen = [], [], []
    for fold in range(5):
        draw = nested.draws[(nested.draws["seed"] == 1) & (nested.draws["fold"] == fold)]
        choices = nested.choices[
            (nested.choices["arm"] == arm) & (nested.choices["seed"] == 1) & (nested.choices["fold"] == fold)
        ]
        contender = named_arm(arm)
        base = contender.arm if isinstance(contender, Tuned) else contender
        setting = {p: choices[p].item() for p in base.get_params() if p in choices and len(choices)}
        setting = {p: v for p, v in setting.items() if v == v and v is not None}
        fresh = type(base)(**{**base.get_params(), **setting, "random_state": 1})
        fresh.fit(panel, {t: gold[t] for t in draw["task"]})
        tasks = frame.loc[frame["fold"] == fold, "task"]
        part = panel[[panel.position(t) for t in tasks]]
        probabilities.append(fresh.predict_proba(part))
        chosen += fresh.predict(part).tolist()
        truth += [gold[t] for t in tasks]
    proba = np.concatenate(probabilities)
    proba /= proba.sum(axis=1, keepdims=True)
    assert chosen == frame["predicted"].tolist()
    assert frame["correct"].tolist() == [c == t for c, t in zip(chosen, truth, strict=True)]
    assert np.isclose(
        brier_score(truth, proba, labels=[0, 1, 2], form="sum"), frame["brier"].mean(), rtol=0, atol=1e-12
    )
    expected = log_loss(truth, proba, labels=[0, 1, 2], eps=LOG_LOSS_CLIP)
    assert np.isclose(expected, frame["log_loss"].mean(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(proba[np.arange(len(truth)), truth], frame["p_gold"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(proba[np.arange(len(truth)), chosen], frame["confidence"], rtol=0, atol=1e-12)


def test_summary_means_are_means_of_predictions(nested):
    table = nested.summary()
    means = nested.predictions.groupby("arm", observed=True)[["correct", "brier", "log_loss"]].mean()
    np.testing.assert_allclose(table[["accuracy", "brier", "log_loss"]], means.loc[list(nested.arms)], atol=1e-12)
    for name in nested.arms:
        rows = nested.predictions[nested.predictions["arm"] == name]
        ece = expected_calibration_error(rows["correct"].astype(int), rows["confidence"])
        assert np.isclose(table.loc[name, "ece_width"], ece, rtol=0, atol=1e-12)
        fixes = (rows["correct"] & ~rows["round0_correct"]).sum()
        assert table.loc[name, "fixes"] == fixes
        assert (
            table.loc[name, "fixes"] - table.loc[name, "breaks"] == rows["correct"].sum() - rows["round0_correct"].sum()
        )


def test_intervals_resample_questions_not_rows(panel):
    """The same task under twenty seeds is one observation: more seeds may not shrink the interval of plurality."""
    widths = []
    for seeds in (range(1), range(20)):
        row = compare(panel, "plurality", seeds=seeds).summary().loc["plurality"]
        widths.append(row["accuracy_high"] - row["accuracy_low"])
    assert widths[1] > 0.7 * widths[0]  # of rows it would be a fifth


def test_differences_are_paired(nested):
    table = nested.differences("plurality").set_index(["arm", "metric"])
    summary = nested.summary()
    for (arm, metric), row in table.iterrows():
        assert np.isclose(row["difference"], summary.loc[arm, metric] - summary.loc["plurality", metric], atol=1e-12)
        assert row["low"] <= row["difference"] <= row["high"]
    assert table.loc[("per-agent", "accuracy"), "p_win"] > 0.95
    with pytest.raises(TraceError, match=r"'nobody'.*plurality"):
        nested.differences("nobody")


def test_plurality_differs_from_itself_by_nothing(panel):
    both = compare(panel, {"a": Plurality(), "b": "plurality"}, seeds=(0,))
    found = both.differences("a")
    assert (found[["difference", "low", "high"]] == 0).all(axis=None)
    assert (found["p_win"] == 0.5).all()


# ---- leaks --------------------------------------------------------------------------------------------------

ARMS = ["plurality", "best-member", "per-agent-untempered", "confusion-untempered"]


def flipped(traces, tasks):
    """Give these tasks another candidate as gold."""
    gold = {t: traces.classes[g] for t, g in zip(traces.task_ids.tolist(), traces.gold, strict=True)}
    return traces.with_gold({t: (g + 1) % 3 if t in tasks else g for t, g in gold.items()})


@pytest.mark.parametrize("protocol", ["nested", "draw"])
def test_no_test_label_touches_what_scores_it(panel, protocol):
    """Flip every label of a test group, one fold (or draw) at a time: choices and predictions stay."""
    before = compare(panel, ARMS, seeds=(3,), protocol=protocol)
    for fold in range(2 if protocol == "nested" else 1):
        labelled = set(before.draws.loc[before.draws["fold"] == fold, "task"])
        frame = before.predictions
        tested = set(frame.loc[(frame["fold"] == fold) & (frame["arm"] == "plurality"), "task"])
        after = compare(flipped(panel, tested), ARMS, seeds=(3,), protocol=protocol)
        here = (frame["fold"] == fold).to_numpy()
        assert set(after.draws.loc[after.draws["fold"] == fold, "task"]) == labelled
        kept = ["task", "predicted", "confidence", "tied", "committed"]
        pd.testing.assert_frame_equal(frame.loc[here, kept], after.predictions.loc[here, kept])
        pd.testing.assert_frame_equal(
            before.choices[before.choices["fold"] == fold], after.choices[after.choices["fold"] == fold]
        )


class Peeking(Arm):
    """A planted leak: decides by the gold inside the traces it is asked about."""

    needs_labels = False

    def __init__(self, view="all", random_state=0):
        self.view, self.random_state = view, random_state

    def _learn(self, traces, gold_candidate):
        self.seen_ = (traces.gold >= 0).sum()

    def _log_proba(self, traces):
        proba = np.full(len(traces.candidate_class), 1e-6)
        proba[traces.candidate_class == traces.gold[traces.candidate_task]] = 1.0
        total = np.bincount(traces.candidate_task, proba)
        return np.log(proba / total[traces.candidate_task])

    def _contributions(self, traces):
        return Contributions("nats", self._log_proba(traces), {})


@pytest.mark.parametrize("protocol", ["nested", "draw"])
def test_a_planted_leak_gains_nothing(panel, protocol):
    assert Peeking().score(panel) == 1.0  # outside a comparison it cheats perfectly
    found = compare(panel, {"peeking": Peeking()}, seeds=(0, 1), protocol=protocol)
    assert abs(found.summary().loc["peeking", "accuracy"] - 1 / 3) < 0.12
    assert found.fitted["peeking"].seen_ == 0


def test_a_leak_through_the_draw_would_be_seen(panel, monkeypatch):
    """The flip test has teeth: an arm that learns from all labels changes its predictions when they are flipped."""
    import bda.comparison

    class Cheat(PerAgent):
        def fit(self, traces, labels=None):
            return super().fit(bda.comparison._everything)

    def run(traces):
        monkeypatch.setattr(bda.comparison, "_everything", traces, raising=False)
        return compare(traces, {"cheat": Cheat()}, seeds=(3,)).predictions

    before = run(panel)
    tested = set(before.loc[before["fold"] == 0, "task"])
    after = run(flipped(panel, tested))
    here = (before["fold"] == 0).to_numpy()
    assert (before.loc[here, "confidence"] != after.loc[here, "confidence"]).any()


def test_twins_of_a_group_never_stand_on_both_sides():
    traces = council(150, seed=4)
    meta = tuple({"group": f"question {i % 70}"} for i in range(150))
    found = compare(replace(traces, meta=meta), ["plurality"], seeds=(0, 1))
    for (seed, fold), draw in found.draws.groupby(["seed", "fold"]):
        rows = found.predictions[(found.predictions["seed"] == seed) & (found.predictions["fold"] == fold)]
        assert not set(draw["group"]) & set(rows["group"])
        assert draw["group"].is_unique
    assert found.n_groups == 70


# ---- reproducibility ----------------------------------------------------------------------------------------


def test_order_of_tasks_agents_and_arms_does_not_matter(panel, drawn):
    order = np.random.default_rng(1).permutation(len(panel))
    other = compare(
        panel[order].agents(list(panel.agent_names)[::-1]), ["per-agent", "plurality", "best-member"], seeds=(0, 1),
        protocol="draw",
    )  # fmt: skip
    key = ["arm", "seed", "task"]
    columns = [*key, "predicted", "confidence", "brier", "tied"]
    left = drawn.predictions[columns].astype({"arm": str}).sort_values(key).reset_index(drop=True)
    right = other.predictions[columns].astype({"arm": str}).sort_values(key).reset_index(drop=True)
    pd.testing.assert_frame_equal(left, right, rtol=1e-12)


def test_same_seed_same_bytes(panel, drawn):
    again = compare(panel, ["plurality", "best-member", "per-agent"], seeds=(0, 1), protocol="draw")
    pd.testing.assert_frame_equal(again.predictions, drawn.predictions)
    assert str(again) == str(drawn)


# ---- unlabelled, uncommitted, tied, repeated ----------------------------------------------------------------


def test_tasks_without_a_label_are_not_scored(panel):
    labels = {t: panel.classes[g] for t, g in zip(panel.task_ids[:90].tolist(), panel.gold[:90], strict=True)}
    found = compare(panel.with_gold(labels), "plurality", seeds=(0,))
    assert (found.n_tasks, found.n_unlabelled) == (90, 30)
    assert set(found.predictions["task"]) == set(labels)
    passed = compare(panel, "plurality", seeds=(0,), labels=labels)
    pd.testing.assert_frame_equal(found.predictions, passed.predictions)
    assert "30 tasks have no label" in str(found)


def test_labels_without_gold_inside(panel):
    bare = replace(panel, gold=np.full(len(panel), -1, np.int32))
    labels = [panel.classes[g] for g in panel.gold]
    found = compare(bare, "per-agent", seeds=(0,), labels=labels)
    pd.testing.assert_frame_equal(found.predictions, compare(panel, "per-agent", seeds=(0,)).predictions)
    assert (found.traces.gold == panel.gold).all()


@pytest.mark.parametrize("rule", ["uniform", "wrong"])
def test_a_silent_task_is_counted(rule):
    traces = council(100, missing=0.0)
    votes = np.array([[r[a] for a in range(4)] for r in _wide(traces)])
    votes[:20] = -1
    silent = Traces.from_votes(votes, classes=3).with_gold([traces.classes[g] for g in traces.gold])
    found = compare(silent, ["plurality", "per-agent"], seeds=(0,), uncommitted=rule)
    rows = found.predictions[~found.predictions["committed"]]
    assert found.summary()["uncommitted"].tolist() == [20, 20]
    np.testing.assert_allclose(rows["confidence"], 1 / 3)
    assert (rows["tied"] == 3).all()
    if rule == "wrong":
        assert not rows["correct"].any()
    else:
        assert 0 < rows["correct"].mean() < 0.8
    assert "nobody committed" in str(found)


def _wide(traces):
    table = traces.moves_table
    wide = np.full((len(traces), len(traces.agent_names)), -1)
    wide[table.task, table.agent] = [traces.classes[c] for c in table.resolved]
    return wide


def test_equal_arms_do_not_lead():
    """On one vote a task, weighing by one shared reliability decides as plurality does, in every draw."""
    gold = np.arange(60) % 2
    words = str(compare(Traces.from_votes(np.tile(gold, (3, 1)).T, gold=gold), ["plurality", "one-coin"], seeds=(0,)))
    assert "Accuracy: one-coin 1.000 equals plurality 1.000 (one-coin minus plurality: +0.000" in words
    assert "Brier score: plurality 0.000 beats one-coin" in words


def test_repeats_become_one_note():
    moves = [{"agent": "loud", "round": r, "type": "propose", "answer": "b"} for r in range(40)]
    records = [{"task": f"q{i:03}", "candidates": ["a", "b", "c", "d"], "gold": "a", "moves": moves} for i in range(60)]
    traces = Traces.from_records(records)
    arm = PerAgent()
    with pytest.warns(EvidenceWarning):
        arm.fit(traces).predict_proba(traces)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare(traces, {"per-agent": arm}, seeds=(0,))
    assert len(found.notes) == 1
    assert "per-agent" in found.notes[0]
    assert found.notes[0] in str(found)


def test_unanimity():
    traces = Traces.from_votes([[0, 0, 0], [1, 1, -1], [0, 1, 0], [1, -1, -1], [1, 1, 1]], classes=2)
    found = measure_unanimity(traces.with_gold([0, 0, 0, 0, 0]), np.zeros(5, np.int32))
    assert (found.tasks, found.unanimous, found.wrong) == (4, 3, 2)
    assert found.share_wrong == pytest.approx(2 / 3)


# ---- arms and arguments -------------------------------------------------------------------------------------


def test_arms_in_every_form(panel):
    forms = ["plurality", OneCoin(alpha=3.0), Tuned(PerAgent(), {"kappa": KAPPAS})]
    found = compare(panel, forms, seeds=(0,))
    assert found.arms == ("plurality", "OneCoin(alpha=3.0)", "PerAgent() tuned")
    assert set(found.choices["arm"]) == {"PerAgent() tuned"}
    assert found.choices["kappa"].isin(KAPPAS).all()
    assert found.fitted["OneCoin(alpha=3.0)"].alpha == 3.0


def test_an_instance_is_not_changed(panel):
    arm = BestMember(random_state=7)
    compare(panel, {"best": arm}, seeds=(0,))
    assert not arm.is_fitted
    assert arm.random_state == 7


def test_untempered_names_keep_temperature_one():
    for name in ARM_NAMES:
        found = named_arm(name, challenged=True)
        if isinstance(found, Tuned):
            assert (found.grid.get("temperature") == TEMPERATURES) == (not name.endswith("-untempered"))
            assert ("challenge" in found.grid) == (type(found.arm) is Confusion)


def test_readings_are_tried_only_where_someone_challenges():
    assert "challenge" not in read_arms(["confusion"], challenged=False)["confusion"].grid


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"arms": "per-judge"}, r"per-judge.*per-agent"),
        ({"arms": [3]}, r"3.*not an arm"),
        ({"arms": 3}, r"3.*not an arm"),
        ({"arms": []}, "empty"),
        ({"arms": ["plurality", "plurality"]}, "plurality.*two arms|two arms.*plurality"),
        ({"seeds": ()}, "seeds"),
        ({"seeds": 3}, r"seeds.*3"),
        ({"seeds": (0, 0)}, "repeats"),
        ({"seeds": (0, -1)}, "-1"),
        ({"seeds": (0.5,)}, r"0\.5"),
        ({"n_labels": 0}, "n_labels"),
        ({"n_labels": 2.5}, r"2\.5"),
        ({"n_labels": 1000}, r"1000.*96 labelled groups|96 labelled groups.*1000"),
        ({"n_labels": 120, "protocol": "draw"}, "nothing to score"),
        ({"protocol": "bootstrap"}, "bootstrap.*nested"),
        ({"uncommitted": "skip"}, "skip.*uniform"),
        ({"groups": "question"}, "question"),
        ({"groups": [1, 2]}, "2 entries for 120 tasks"),
        ({"arms": Tuned(PerAgent(), {"gamma": (1.0,)})}, "gamma"),
        ({"arms": Tuned(PerAgent(), {"kappa": ()})}, "kappa"),
    ],
)
def test_refused(panel, arguments, words):
    with pytest.raises(TraceError, match=rf"(?s){words}"):
        compare(panel, **arguments)


def test_too_few_labelled_tasks_are_named(panel):
    few = panel.with_gold(dict.fromkeys(panel.task_ids[:10].tolist(), 0))
    with pytest.raises(TraceError, match="8 labelled groups"):
        compare(few, "plurality")
