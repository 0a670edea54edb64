"""The oracle against the worked cases, against itself by another route, and against facts worked by hand."""

import itertools
import json
import math
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

from tests.bda import oracle
from tests.bda.oracle import (
    agents_of,
    best_member,
    beta_cdf,
    beta_quantile,
    confusion_concentration,
    confusion_counts,
    confusion_evidence,
    counts,
    evidence_of_counts,
    informative,
    move_probability,
    one_coin_evidence,
    one_coin_evidence_quad,
    per_agent_evidence,
    per_agent_prior,
    plurality,
    posterior,
    profile,
    random_task,
    random_tasks,
    repeated_weight,
    resolve,
    right_wrong,
    standing_after,
    turning,
    weight,
    weighted_vote,
)

CASES = json.loads((Path(__file__).parents[1] / "golden" / "bda.json").read_text())["cases"]
READINGS = ("composite", "set", "exact", "ignore")


def of_kind(kind):
    return [pytest.param(case, id=case["task"]["task"]) for case in CASES if case["kind"] == kind]


def close(value, tolerance=1e-11):
    return pytest.approx(value, rel=tolerance, abs=tolerance)


def trace(*moves, candidates="ABCD", gold=None):
    """Write a move as "s1 0 propose A", "s1 1 concede s2 A" or "s1 1 challenge s2"; a dict adds fields."""
    task = {"task": "t", "candidates": list(candidates), "gold": gold, "moves": []}
    for move in moves:
        text, extra = move if isinstance(move, tuple) else (move, {})
        agent, r, kind, *rest = text.split()
        fields = dict(zip(("answer",) if kind == "propose" else ("target", "answer"), rest, strict=False))
        task["moves"].append({"agent": agent, "round": int(r), "type": kind} | fields | extra)
    return task


def meanings(*moves):
    return [(move["kind"], move["answer"]) for move in resolve(trace(*moves))]


# Worked cases


def test_every_kind_of_case_is_read():
    assert {case["kind"] for case in CASES} == {"one_coin", "per_agent", "confusion"}


@pytest.mark.parametrize("case", of_kind("one_coin"))
def test_one_coin_case(case):
    arguments = [case[name] for name in ("task", "alpha", "beta", "challenge", "view")]
    evidence = one_coin_evidence(*arguments)
    for route in (evidence, one_coin_evidence_quad(*arguments)):
        assert route == {agent: close(row) for agent, row in case["evidence"].items()}
        assert posterior(case["task"], route, case["tau"], case["class_prior"]) == close(case["posterior"])


@pytest.mark.parametrize("case", of_kind("per_agent"))
def test_per_agent_case(case):
    options = {"challenge": case["challenge"], "view": case["view"]}
    assert {a: list(n) for a, n in right_wrong(case["calibration"], **options).items()} == case["right_wrong"]
    agents = agents_of(case["task"], *case["calibration"])
    prior = per_agent_prior(case["calibration"], agents, case["alpha"], case["beta"], case["kappa"], **options)
    assert {a: [float(v) for v in pair] for a, pair in prior.items()} == {a: close(p) for a, p in case["prior"].items()}
    evidence = per_agent_evidence(case["task"], prior, **options)
    assert posterior(case["task"], evidence, case["tau"]) == close(case["posterior"])


@pytest.mark.parametrize("case", of_kind("confusion"))
def test_confusion_case(case):
    classes = case["classes"]
    fitted = confusion_counts(case["calibration"], classes, case["challenge"])
    assert {a: [[C[t][c] for c in classes] for t in classes] for a, C in fitted.items()} == case["counts"]
    settings = [case[name] for name in ("prior_strength", "prior_accuracy", "challenge", "likelihood")]
    evidence = confusion_evidence(case["task"], case["calibration"], classes, *settings)
    assert posterior(case["task"], evidence, case["tau"]) == close(case["posterior"])


# Resolution


@pytest.mark.parametrize(
    ("moves", "last"),
    [
        # a round is simultaneous: the target's answer of the same round is not standing yet
        (["s1 0 propose A", "s2 0 challenge s1"], ("none", None)),
        (["s1 0 propose A", "s2 0 concede s1 B"], ("endorse", "B")),
        (["s1 0 propose A", "s1 1 propose B", "s2 1 concede s1"], ("endorse", "A")),
        # explicit against standing
        (["s1 0 propose A", "s2 1 challenge s1 B"], ("reject", "B")),
        (["s1 0 propose A", "s2 1 challenge s1"], ("reject", "A")),
        (["s1 0 propose A", "s2 1 concede s1 B"], ("endorse", "A")),
        (["s1 0 propose A", ("s2 1 concede s1 B", {"frozen": True})], ("endorse", "B")),
        (["s1 0 propose A", ("s2 1 concede s1", {"frozen": True})], ("endorse", "A")),
        (["s1 0 propose A", ("s2 1 concede s1", {"answer": None})], ("endorse", "A")),
        # concessions move what stands, challenges do not; an own concession of the round does not count yet
        (["s1 0 propose A", "s2 0 propose B", "s2 1 concede s1", "s3 2 challenge s2"], ("reject", "A")),
        (["s1 0 propose A", "s2 0 propose B", "s2 1 challenge s1 C", "s3 2 challenge s2"], ("reject", "B")),
        # nothing usable
        (["s1 0 propose A", "s1 1 challenge s1 B"], ("none", None)),
        (["s1 0 propose A", "s1 1 concede s1"], ("none", None)),
        (["s2 1 concede s9"], ("none", None)),
        (["s2 1 challenge s9 C"], ("reject", "C")),
        (["s1 0 propose A", ("s2 1 concede s1", {"status": "truncated"})], ("none", None)),
        ([("s1 0 propose A", {"status": "failed"}), "s2 1 challenge s1"], ("none", None)),
        (["s1 0 propose A", ("s1 1 propose", {"answer": None}), "s2 2 challenge s1"], ("reject", "A")),
        ([("s1 0 propose A", {"target": "s1"})], ("endorse", "A")),
        (["s1 0 propose A", "s1 1 abstain"], ("none", None)),
        # rounds in any file order; several moves in a round keep theirs
        (["s1 1 propose B", "s1 0 propose A", "s2 1 challenge s1"], ("reject", "A")),
        (["s1 0 propose B", "s1 0 propose A", "s2 1 challenge s1"], ("reject", "A")),
    ],
)
def test_resolution(moves, last):
    assert meanings(*moves)[-1] == last


def test_resolution_keeps_file_order_and_says_why():
    moves = resolve(
        trace(
            "s2 1 concede s1 B",
            "s1 0 propose A",
            ("s3 0 propose", {"answer": None}),
            ("s3 1 abstain", {"status": "failed"}),
        )
    )
    assert [move["agent"] for move in moves] == ["s2", "s1", "s3", "s3"]
    assert [move["status"] for move in moves] == ["ok", "ok", "unreadable", "failed"]
    assert [move["inconsistent"] for move in moves] == [True, False, False, False]


def test_last_vote_survives_an_unreadable_move_and_needs_an_endorsement():
    task = trace("s1 1 propose B", "s1 0 propose A", ("s1 2 propose", {"answer": None}), "s2 1 challenge s1")
    assert standing_after(task) == {"s1": "B"}
    assert [(m["agent"], m["round"], m["answer"]) for m in informative(task, "last_vote")] == [("s1", 0, "B")]


def test_round0_view_is_taken_after_resolution():
    task = trace("s2 1 challenge s1", "s1 0 propose A")
    assert counts(task)["s2"][1]["A"] == 1
    assert [m["answer"] for m in informative(task, "round0")] == ["A"]
    assert counts(task, challenge="ignore").keys() == {"s1"}


# The one-coin model


@pytest.mark.parametrize("seed", range(6))
def test_exact_and_quadrature_agree_on_messy_traces(seed):
    rng = random.Random(seed)
    task, view = random_task(rng), rng.choice(("all", "round0", "last_vote"))
    alpha, beta = rng.choice(((Fraction(1, 2), Fraction(1, 2)), (3, 2), (Fraction(7, 3), 20)))
    for challenge in READINGS:
        exact = one_coin_evidence(task, alpha, beta, challenge, view)
        quadrature = one_coin_evidence_quad(task, alpha, beta, challenge, view)
        assert quadrature == {agent: close(row) for agent, row in exact.items()}


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_single_endorsements_are_a_weighted_vote(k):
    task = trace("s1 0 propose A", "s2 0 propose B", candidates="ABCDE"[:k])
    prior = {"s1": (3, 20), "s2": (Fraction(5, 2), 1)}
    p = posterior(task, per_agent_evidence(task, prior))
    assert math.log(p[0] / p[1]) == close(weight(3, 20, k) - weight(Fraction(5, 2), 1, k))


def test_repeats_from_below_chance_turn_positive():
    assert [round(repeated_weight(3, 20, 4, n), 2) for n in (1, 6, 15)] == [-0.80, -2.16, 0.05]
    assert turning(3, 20, 4) == 15
    assert repeated_weight(3, 20, 4, 14) < 0
    assert turning(3, 20, 2) is None
    assert turning(3, 2, 4) is None
    for n in (1, 6, 15):
        task = trace(*["s1 0 propose A"] * n)
        row = one_coin_evidence(task, 3, 20)["s1"]
        assert row[0] - row[1] == close(repeated_weight(3, 20, 4, n))


@pytest.mark.parametrize("alpha", [Fraction(1, 2), 1, 4])
@pytest.mark.parametrize("challenge", READINGS)
def test_symmetric_prior_is_flat_at_two_candidates_only(alpha, challenge):
    task = trace("s1 0 propose A", "s1 0 propose A", "s2 1 challenge s1", candidates="AB")
    prior = {"A": 0.3, "B": 0.1}
    assert posterior(task, one_coin_evidence(task, alpha, alpha, challenge), 1, prior) == close([0.75, 0.25])
    unanimous = [trace(*["s1 0 propose A"] * n, candidates="ABC") for n in (1, 5, 25)]
    tops = [posterior(task, one_coin_evidence(task, alpha, alpha, challenge))[0] for task in unanimous]
    assert tops == sorted(tops)
    assert tops[-1] > 0.999


@pytest.mark.parametrize("seed", range(20))
def test_readings_agree_at_two_candidates(seed):
    rng = random.Random(seed)
    task = random_task(rng, candidates=["A", "B"])
    composite = one_coin_evidence(task, 3, Fraction(3, 2))
    assert one_coin_evidence(task, 3, Fraction(3, 2), "set") == composite
    assert one_coin_evidence(task, 3, Fraction(3, 2), "exact") == composite


def mass(kinds, k, challenge, truth="A"):
    """Total evidence of all answers to moves of the given kinds."""
    total = Fraction(0)
    for answers in itertools.product("ABCDE"[:k], repeat=len(kinds)):
        e, x = (dict.fromkeys("ABCDE"[:k], 0) for _ in range(2))
        for kind, answer in zip(kinds, answers, strict=True):
            (e if kind == "endorse" else x)[answer] += 1
        total += evidence_of_counts(e, x, truth, Fraction(5, 2), 2, challenge)
    return total


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("challenge", ["composite", "set", "exact"])
def test_probabilities_of_all_moves_sum_to_one(k, challenge):
    theta, candidates = Fraction(2, 7), "ABCDE"[:k]
    sums = {
        kind: sum(move_probability(kind, c, "A", theta, 1 - theta, k, challenge) for c in candidates)
        for kind in ("endorse", "reject")
    }
    coherent = challenge != "composite" or k == 2
    assert sums["endorse"] == 1
    assert (sums["reject"] == 1) == coherent
    assert mass(["endorse"] * 3, k, challenge) == 1
    assert (mass(["endorse", "reject", "reject"], k, challenge) == 1) == coherent


def test_exact_challenge_supports_what_it_rejects_below_chance_of_a_false_answer():
    task = trace("s1 0 challenge s9 A", candidates="ABC")
    for alpha, beta, supports in ((3, 2, True), (5, 2, False)):  # (K-1)/K = 2/3
        row = one_coin_evidence(task, alpha, beta, "exact")["s1"]
        assert (row[0] > row[1]) == supports


def test_temperature_divides_evidence_but_not_the_class_prior():
    task = trace("s1 0 propose A", candidates="AB")
    p = posterior(task, one_coin_evidence(task, 3, 1), 2, {"A": 1, "B": 4, "C": 9})
    assert p[0] / p[1] == close(math.sqrt(3) / 4)


# Agents, confusion, votes

FOUR = [
    trace("s1 0 propose A", "s2 0 propose A", gold="A", candidates="AB"),
    trace("s1 0 propose B", "s2 0 propose A", "s2 1 challenge s1", gold="A", candidates="ABC"),
    trace("s1 0 propose C", "s1 1 concede s2", "s2 0 propose A", gold="C", candidates="ABC"),
    trace("s1 0 propose A", "s2 0 propose B", gold=None),
]


def test_right_wrong_by_hand():
    assert right_wrong(FOUR) == {"s1": (2, 2), "s2": (3, 1)}
    assert right_wrong(FOUR, "ignore") == {"s1": (2, 2), "s2": (2, 1)}
    assert right_wrong(FOUR, view="last_vote") == {"s1": (1, 2), "s2": (2, 1)}


def test_prior_of_an_unseen_agent_keeps_its_mean():
    prior = per_agent_prior(FOUR, ["s2", "s9"], 3, 1, 4)
    assert prior == {"s2": (6, 2), "s9": (6, 2)}
    assert per_agent_prior(FOUR, ["s1"], 3, 1, 0) == {"s1": (3, 1)}


def test_profile_by_hand():
    report = profile(FOUR, "s2", 1, 1, 5, 4)
    assert report["mean"] == close(4 / 6)  # Beta(1 + 3, 1 + 1)
    assert report["chance"] == close((1 / 2 + 1 / 3 + 2 / 3 + 1 / 3) / 4)
    t = report["chance"]
    assert report["below_chance"] == close(5 * t**4 - 4 * t**5)
    for level, end in zip((0.025, 0.975), report["interval"], strict=True):
        assert 5 * end**4 - 4 * end**5 == close(level)
    assert report["weight"] == close(math.log((1 + 5 * 0.75) * 3 / (1 + 5 * 0.25)))
    assert report["turning"] is None
    unseen = profile(FOUR, "s9", 3, 20, 5, 4)
    assert (unseen["chance"], unseen["below_chance"]) == (None, None)


def test_beta_tails_of_known_form():
    assert beta_cdf(Fraction(1, 2), Fraction(1, 2), 0.3) == close(2 / math.pi * math.asin(math.sqrt(0.3)))
    assert beta_quantile(2, 1, 0.49) == close(0.7)


def test_a_challenge_counts_in_every_rival_cell():
    row = confusion_counts(FOUR, "ABC")["s2"]["A"]
    assert row == {"A": 2 + 1, "B": 0, "C": 1}
    assert confusion_counts(FOUR, "ABC", "set")["s2"]["A"] == {"A": 2, "B": 0, "C": 0}


@pytest.mark.parametrize("strength", [1, 10])
def test_confusion_rows_sum_to_one_and_stay_near_their_mle(strength):
    for agent, C in confusion_counts(random_tasks(random.Random(5), 40), "ABCDEFGH").items():
        for candidates in ("AB", "CDE", "ABCDEFGH"):
            a = confusion_concentration(C, candidates, strength, Fraction(3, 5))
            for t, row in a.items():
                n = sum(C[t][c] for c in candidates)
                assert sum(row.values()) == n + strength, agent
                if n:
                    distance = sum(abs(row[c] / (n + strength) - Fraction(C[t][c], n)) for c in candidates) / 2
                    assert distance <= Fraction(strength, n + strength)


def test_uniform_errors_reduce_confusion_to_the_one_coin_rule():
    task = trace("s1 0 propose A", "s2 0 propose B", "s2 1 challenge s1", candidates="ABC")
    evidence = confusion_evidence(task, [], "ABC", 5, Fraction(4, 5), "ignore")
    theta = Fraction(4, 5)
    for agent, answer in (("s1", "A"), ("s2", "B")):
        for row, truth in zip(evidence[agent], "ABC", strict=True):
            assert row == close(math.log(move_probability("endorse", answer, truth, theta, 1 - theta, 3)))


def test_marginal_evidence_of_all_answers_sums_to_one():
    total = 0.0
    for pair in itertools.product("ABC", repeat=2):
        task = trace(*(f"s1 0 propose {answer}" for answer in pair), candidates="ABC")
        total += math.exp(confusion_evidence(task, FOUR, "ABC", 3, 0.6, "set", "marginal")["s1"][0])
    assert total == close(1)


def test_votes_by_hand():
    task = trace("s1 0 propose A", "s2 0 propose B", "s9 0 propose B", "s2 1 challenge s1", candidates="ABC")
    assert plurality(task) == close([1 / 3, 2 / 3, 0])
    # r = 1/2, 3/4, and 2/3 for the unseen: theta = (2 + 3 r) / 6
    theta = {"s1": 3.5 / 6, "s2": 4.25 / 6, "s9": 4 / 6}
    assert best_member(task, FOUR, 2, 1, 3) == [close([1.75 / 12, 4.25 / 6, 1.75 / 12])]
    odds = {a: 2 * p / (1 - p) for a, p in theta.items()}
    scores = [odds["s1"], odds["s2"] * odds["s9"], 1]
    assert weighted_vote(task, FOUR, 2, 1, 3) == close([s / sum(scores) for s in scores])


def test_votes_when_the_best_is_silent_or_all_are():
    task = trace("s1 0 propose A", ("s2 0 propose", {"answer": None}), candidates="ABC")
    assert best_member(task, FOUR, 2, 1, 3) == [close([3.5 / 6, 1.25 / 6, 1.25 / 6])]
    silent = trace("s1 0 abstain", candidates="ABCD")
    for shares in (
        plurality(silent),
        weighted_vote(silent, FOUR, 2, 1, 3),
        *best_member(silent, FOUR, 2, 1, 3),
    ):
        assert shares == [0.25] * 4


# Random traces


def test_random_tasks_reach_every_corner():
    tasks = random_tasks(random.Random(0), 300)
    moves = [move for task in tasks for move in task["moves"]]
    resolved = [move for task in tasks for move in resolve(task)]
    assert {len(task["candidates"]) for task in tasks} == {2, 3, 4, 5, 6}
    assert {move["status"] for move in resolved} == {"ok", "failed", "truncated", "unreadable"}
    assert {move["kind"] for move in resolved} == {"endorse", "reject", "none"}
    assert any(task["gold"] is None for task in tasks)
    assert any(not task["moves"] for task in tasks)
    assert any(move["inconsistent"] for move in resolved)
    assert any(move.get("frozen") and move["inconsistent"] for move in resolved)
    assert any(move.get("target") == move["agent"] for move in moves)
    assert any(move.get("target") not in {None, *agents_of(task)} for task in tasks for move in task["moves"])
    assert any([m["round"] for m in task["moves"]] != sorted(m["round"] for m in task["moves"]) for task in tasks)
    assert json.loads(json.dumps(tasks)) == tasks == random_tasks(random.Random(0), 300)


def test_every_posterior_of_a_random_task_is_a_distribution():
    rng = random.Random(1)
    tasks = random_tasks(rng, 30)
    for task in tasks:
        every = [posterior(task, one_coin_evidence(task, 2, 1, challenge)) for challenge in READINGS]
        for challenge in ("composite", "set", "ignore"):
            for likelihood in ("plugin", "marginal"):
                evidence = confusion_evidence(task, tasks, "ABCDEFGH", 3, 0.6, challenge, likelihood)
                every.append(posterior(task, evidence, 1.5))
        every += [plurality(task), weighted_vote(task, tasks, 2, 1, 5), *best_member(task, tasks, 2, 1, 5)]
        for p in every:
            assert min(p) >= 0
            assert sum(p) == close(1)


def test_the_oracle_keeps_its_own_precision():
    assert oracle.MP.dps == 40
    assert mpmath.mp.dps == 15
