"""Splits of spec section 5: who is drawn, who is scored, and what a draw may depend on."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bda import TraceError, Traces
from bda.splits import INNER_FOLDS, OUTER_FOLDS, PROTOCOLS, group_names, inner_folds, make_splits


def council(n=120, weights=(5, 3, 2), groups=None, unlabelled=0, seed=0):
    """Tasks q0.. without moves, with gold of uneven frequencies; groups: how many tasks share each question."""
    rng = random.Random(seed)
    names = list("abcdefgh"[: len(weights)])
    tasks = []
    for i in range(n):
        gold = rng.choices(names, weights)[0] if i >= unlabelled else None
        meta = {} if groups is None else {"group": f"g{rng.randrange(groups)}"}
        tasks.append({"task": f"q{i}", "candidates": names, "gold": gold, "meta": meta, "moves": []})
    return tasks


def split(tasks, n_labels=25, seeds=(0, 1), protocol="nested"):
    traces = Traces.from_records(tasks)
    return traces, make_splits(traces, traces.gold, group_names(traces), n_labels, seeds, protocol)


def by_name(traces, splits):
    """What the splits say, with task names in place of positions."""
    names = traces.task_ids
    return [
        (s.seed, s.fold, names[s.labelled].tolist(), s.inner.tolist(), sorted(names[s.test].tolist())) for s in splits
    ]


@pytest.fixture(scope="module")
def grouped():
    return split(council(groups=70, unlabelled=15))


# Nested


def test_each_labelled_task_is_scored_once_a_seed(grouped):
    traces, splits = grouped
    assert len(splits) == 2 * OUTER_FOLDS
    for seed in (0, 1):
        scored = np.concatenate([s.test for s in splits if s.seed == seed])
        assert sorted(scored.tolist()) == np.flatnonzero(traces.gold >= 0).tolist()


def test_no_group_is_on_both_sides_and_no_two_labels_share_one(grouped):
    traces, splits = grouped
    names = np.array(group_names(traces))
    assert Counter(names.tolist()).most_common(1)[0][1] > 1
    for s in splits:
        assert len(s.labelled) == len(set(names[s.labelled])) == 25
        assert not set(names[s.labelled]) & set(names[s.test])
        assert (traces.gold[s.labelled] >= 0).all()


def test_outer_folds_hold_like_numbers_of_tasks(grouped):
    traces, splits = grouped
    sizes = [len(s.test) for s in splits]
    largest = max(Counter(group_names(traces)).values())
    assert max(sizes) - min(sizes) <= largest


def test_unlabelled_tasks_are_neither_drawn_nor_scored(grouped):
    traces, splits = grouped
    used = {int(n) for s in splits for n in (*s.labelled, *s.test)}
    assert used == set(np.flatnonzero(traces.gold >= 0).tolist())


@pytest.mark.parametrize("weights", [(5, 3, 2), (1, 1), (90, 5, 3, 2)])
def test_labels_are_drawn_by_largest_remainder_on_the_training_part(weights):
    traces, splits = split(council(300, weights), seeds=range(4))
    for s in splits:
        pool = traces.gold[np.setdiff1d(np.arange(300), s.test)]
        frequency = np.bincount(pool, minlength=len(weights))
        quota = 25 * frequency / frequency.sum()
        drawn = np.bincount(traces.gold[s.labelled], minlength=len(weights))
        assert (drawn >= np.floor(quota)).all()
        assert (drawn <= np.floor(quota) + 1).all()
        topped = drawn > np.floor(quota)
        remainder = quota - np.floor(quota)
        assert remainder[topped].min(initial=1) >= remainder[~topped].max(initial=0) - 1e-12


def test_all_labels_of_a_training_part_can_be_drawn():
    _, splits = split(council(50), n_labels=40)
    for s in splits:
        assert sorted([*s.labelled.tolist(), *s.test.tolist()]) == list(range(50))


def test_every_label_is_drawn_sometimes():
    _, splits = split(council(100), seeds=range(30))
    drawn = Counter(n for s in splits for n in s.labelled.tolist())
    assert len(drawn) == 100
    assert max(drawn.values()) < 4 * min(drawn.values())


# Draw


def test_one_draw_scores_every_other_group():
    traces, splits = split(council(groups=70), protocol="draw", seeds=(0, 1, 2))
    names = np.array(group_names(traces))
    assert [s.fold for s in splits] == [0, 0, 0]
    for s in splits:
        assert len(set(names[s.labelled])) == 25
        twins = np.flatnonzero(np.isin(names, names[s.labelled]))
        assert sorted([*twins.tolist(), *s.test.tolist()]) == list(range(120))
        assert len(twins) > 25


def test_a_draw_looks_at_no_label():
    tasks = council(groups=70)
    turned = [{**t, "gold": random.Random(i).choice("abc")} for i, t in enumerate(tasks)]
    assert [(s.labelled.tolist(), s.test.tolist()) for s in split(tasks, protocol="draw")[1]] == [
        (s.labelled.tolist(), s.test.tolist()) for s in split(turned, protocol="draw")[1]
    ]


# What a draw depends on


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(st.integers(0, 2**32))
def test_splits_do_not_depend_on_file_order(protocol, seed):
    tasks = council(90, groups=60, unlabelled=5, seed=seed % 7)
    rng = random.Random(seed)
    turned = [{**t, "candidates": rng.sample(t["candidates"], 3)} for t in rng.sample(tasks, len(tasks))]
    assert by_name(*split(turned, 12, (0,), protocol)) == by_name(*split(tasks, 12, (0,), protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_splits_do_not_depend_on_what_agents_say(protocol):
    tasks = council(60)
    rng = random.Random(1)
    spoken = [
        {**t, "moves": [{"agent": a, "round": 0, "type": "propose", "answer": rng.choice("abc")} for a in "xyz"]}
        for t in tasks
    ]
    assert by_name(*split(spoken, 20, (0, 3), protocol)) == by_name(*split(tasks, 20, (0, 3), protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_same_seed_draws_the_same_and_another_does_not(protocol):
    tasks = council()
    traces, splits = split(tasks, seeds=(0, 1), protocol=protocol)
    alone = by_name(*split(tasks, seeds=(1,), protocol=protocol))
    together = by_name(traces, splits)
    assert together[len(alone) :] == alone  # a seed does not depend on which others were asked for
    assert [row[2] for row in together[: len(alone)]] != [row[2] for row in alone]
    assert together == by_name(*split(tasks, seeds=(np.int64(0), np.int32(1)), protocol=protocol))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_labels_of_test_groups_move_no_draw(protocol):
    """Flipping every label of a test part leaves that part's draw as it was."""
    tasks = council(100, groups=80)
    _, splits = split(tasks, protocol=protocol)
    for number, s in enumerate(splits[:6]):
        flipped = [
            {**t, "gold": "b" if t["gold"] != "b" else "c"} if n in set(s.test.tolist()) else t
            for n, t in enumerate(tasks)
        ]
        again = split(flipped, protocol=protocol)[1][number]
        assert again.labelled.tolist() == s.labelled.tolist()
        assert again.inner.tolist() == s.inner.tolist()
        assert again.test.tolist() == s.test.tolist()


# Inner folds


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(0, 100))
def test_inner_folds_are_dealt_round_robin_within_class(codes, seed):
    traces = Traces.from_records(council(1, (1, 1, 1, 1)))
    gold = np.array(codes, np.int32)
    fold = inner_folds(gold, traces, np.random.default_rng(seed))
    n_folds = min(INNER_FOLDS, len(codes))
    sizes = np.bincount(fold, minlength=n_folds)
    assert len(sizes) == n_folds
    assert sizes.max() - sizes.min() <= 1
    for code in set(codes):
        own = np.bincount(fold[gold == code], minlength=n_folds)
        assert own.max() - own.min() <= 1


def test_inner_folds_are_shuffled():
    traces = Traces.from_records(council(1))
    gold = np.zeros(25, np.int32)
    first, second = (inner_folds(gold, traces, np.random.default_rng(seed)).tolist() for seed in (0, 1))
    assert first != second
    assert first != sorted(first)


# Groups


def test_groups_come_from_meta_another_key_or_a_sequence():
    tasks = [
        {"task": i, "candidates": ["a", "b"], "gold": "a", "meta": meta, "moves": []}
        for i, meta in enumerate(
            [{"group": "g", "topic": "t"}, {"topic": "u"}, {"group": None, "topic": "t"}, {"group": 3.0}]
        )
    ]
    traces = Traces.from_records(tasks)
    assert group_names(traces) == ["g", 1, 2, 3]
    assert group_names(traces, "topic") == ["t", "u", "t", 3]
    assert group_names(traces, np.array(["x", "x", "y", "y"])) == ["x", "x", "y", "y"]
    assert group_names(traces, ["x", None, float("nan"), np.int64(4)]) == ["x", 1, 2, 4]
    assert group_names(Traces.from_votes([[0, 1]] * 2)) == [0, 1]


def test_tasks_with_a_null_group_are_not_one_question():
    tasks = [{**t, "meta": {"group": None}} for t in council(60)]
    assert by_name(*split(tasks)) == by_name(*split([{**t, "meta": {}} for t in tasks]))


def test_a_bad_group_is_named():
    traces = Traces.from_records([{**t, "meta": {"group": ["a"]}} for t in council(3)])
    with pytest.raises(TraceError, match=r"task 'q0': group = \['a'\] is a list, not a name"):
        group_names(traces)
    with pytest.raises(TraceError, match="groups = 'topic' is in no task's meta"):
        group_names(traces, "topic")
    with pytest.raises(TraceError, match="has 2 entries for 3 tasks"):
        group_names(traces, ["a", "b"])


# Too few


def test_too_few_groups_name_the_counts():
    with pytest.raises(
        TraceError, match=r"n_labels = 25 cannot be drawn: 24 labelled groups are available.*30 in all, seed 0, fold 0"
    ):
        split(council(30))
    with pytest.raises(TraceError, match="there are 4 labelled groups, fewer than 5 outer folds"):
        split(council(4), n_labels=2)
    with pytest.raises(TraceError, match=r"n_labels = 30 leaves nothing to score: 30 labelled groups, 30 drawn"):
        split(council(30), n_labels=30, protocol="draw")
    with pytest.raises(TraceError, match="n_labels = 31 cannot be drawn: 30 labelled groups"):
        split(council(30), n_labels=31, protocol="draw")
    with pytest.raises(TraceError, match="n_labels = 0 cannot be drawn"):
        split(council(30), n_labels=0)
    with pytest.raises(TraceError, match="protocol = 'loose' is not a protocol; use nested, draw"):
        split(council(30), protocol="loose")


def test_few_groups_count_as_few_however_many_tasks_they_hold():
    with pytest.raises(TraceError, match="8 labelled groups are available"):
        split(council(500, groups=10), n_labels=9)
