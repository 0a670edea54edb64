"""One split of a comparison: an arm fitted on its labels and scored on its test tasks; and the frames of it all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm
from bda.errors import EvidenceWarning
from bda.evidence import count_evidence
from bda.labels import candidate_positions
from bda.named_arms import Contender
from bda.names import Name
from bda.posteriors import sum_by
from bda.selection import Choice, Tuned, choose
from bda.splits import Split
from bda.ties import decide
from bda.traces import Traces
from bda.votes import BestMember, Plurality

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "LOG_LOSS_CLIP", "Cut", "Outcome", "Unanimity", "choice_frame", "draw_frame", "measure_unanimity",
    "prediction_frame", "score_arm",
]  # fmt: skip

LOG_LOSS_CLIP = 2.0**-52

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Unanimity:
    """Tasks on which everyone who voted in round 0 agreed, among labelled tasks with two such votes or more.

    Attributes
    ----------
    tasks, unanimous, wrong : int
        Such tasks, those that were unanimous, and those that were unanimous and wrong.
    """

    tasks: int
    unanimous: int
    wrong: int

    @property
    def share_wrong(self) -> float:
        """Return the share of unanimous tasks that are wrong; NaN without any."""
        return self.wrong / self.unanimous if self.unanimous else float("nan")


def measure_unanimity(traces: Traces, gold: NDArray[np.int32]) -> Unanimity:
    """Count labelled tasks whose round-0 votes agree, and how often they are wrong together.

    Parameters
    ----------
    traces : Traces
        The tasks.
    gold : int32 array, shape (n_tasks,)
        Class codes, -1 where unlabelled.

    Returns
    -------
    Unanimity
        Over tasks with at least two round-0 votes.
    """
    votes = count_evidence(traces, view="round0", votes=True)
    counts = np.bincount(votes.cell_candidate, minlength=len(traces.candidate_class))
    total, most = np.zeros(len(traces), np.int64), np.zeros(len(traces), np.int64)
    np.add.at(total, traces.candidate_task, counts)
    np.maximum.at(most, traces.candidate_task, counts)
    several = (gold >= 0) & (total >= 2)
    agreed = several & (most == total)
    position = candidate_positions(traces, np.flatnonzero(agreed), gold[agreed])
    return Unanimity(int(several.sum()), int(agreed.sum()), int((counts[position] == 0).sum()))


# ---- one split ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """The two sides of a split, cut once for all arms.

    Attributes
    ----------
    split : Split
        Seed, fold and positions.
    labelled, test : Traces
        Without gold inside, so that no arm can see what scores it.
    labels : list of names
        Gold of the labelled tasks.
    gold_candidate : int64 array, shape (n_test,)
        True position among all candidates of `test`.
    """

    split: Split
    labelled: Traces
    labels: list[Name]
    test: Traces
    gold_candidate: Ints

    @classmethod
    def of(cls, traces: Traces, gold: NDArray[np.int32], split: Split) -> Cut:
        """Return a split of these tasks; `traces` must hold no gold."""
        test = traces.tasks(split.test)
        return cls(
            split=split,
            labelled=traces.tasks(split.labelled),
            labels=[traces.classes[code] for code in gold[split.labelled]],
            test=test,
            gold_candidate=candidate_positions(test, np.arange(len(test)), gold[split.test]),
        )


@dataclass(frozen=True)
class Outcome:
    """One arm over all splits.

    Attributes
    ----------
    columns : dict from str to array
        One entry per scored row, splits one after the other.
    choices : list of Choice
        What the inner folds picked, one a split; empty for an arm without a grid.
    notes : tuple of str
        What the arm warned of.
    first : Arm
        As fitted on the first split.
    """

    columns: dict[str, NDArray[Any]]
    choices: list[Choice]
    notes: tuple[str, ...]
    first: Arm


def score_arm(name: str, contender: Contender, traces: Traces, gold: NDArray[np.int32], cuts: list[Cut]) -> Outcome:
    """Choose, fit and score one arm on every split.

    Parameters
    ----------
    name : str
        For notes.
    contender : Arm or Tuned
        The arm, and what the inner folds pick.
    traces : Traces
        All tasks, without gold.
    gold : int32 array, shape (n_tasks,)
        Class codes; only those of labelled tasks reach the arm.
    cuts : list of Cut
        The splits.

    Returns
    -------
    Outcome
        Paired with that of every other arm on the same cuts.
    """
    splits = [cut.split for cut in cuts]
    choices = choose(contender, traces, gold, splits) if isinstance(contender, Tuned) else []
    base = contender.arm if isinstance(contender, Tuned) else contender
    settings = [choice.setting for choice in choices] or [{}] * len(cuts)
    arms = [
        type(base)(**{**base.get_params(), **setting, "random_state": split.seed})
        for setting, split in zip(settings, splits, strict=True)
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = [_score(arm, cut) for arm, cut in zip(arms, cuts, strict=True)]
    columns = {key: np.concatenate([row[key] for row in rows]) for key in rows[0]}
    return Outcome(columns, choices, _notes(name, caught), arms[0])


def _score(arm: Arm, cut: Cut) -> dict[str, NDArray[Any]]:
    """Fit an arm on a split's labels and score it on the split's test tasks."""
    test, at_gold = cut.test, cut.gold_candidate
    log_proba = arm.fit(cut.labelled, cut.labels).log_proba(test)
    decision = decide(test, log_proba, int(arm.random_state))
    miss = np.exp(log_proba)
    miss[at_gold] -= 1
    return {
        "predicted": test.candidate_class[decision.candidate],
        "correct": decision.candidate == at_gold,
        "p_gold": np.exp(log_proba[at_gold]),
        "confidence": np.minimum(np.exp(log_proba[decision.candidate]), 1.0),
        "brier": sum_by(miss**2, test.candidate_task, len(test)),
        "log_loss": -np.maximum(log_proba[at_gold], np.log(LOG_LOSS_CLIP)),
        "clipped": log_proba[at_gold] < np.log(LOG_LOSS_CLIP),
        "tied": decision.tied,
        "committed": _committed(arm, test),
    }


def _committed(arm: Arm, traces: Traces) -> NDArray[np.bool_]:
    """Return on which tasks anyone said something that the arm reads."""
    if isinstance(arm, Plurality | BestMember):
        evidence = count_evidence(traces, view=arm.view, votes=True)
    else:
        evidence = count_evidence(traces, getattr(arm, "challenge", "composite"), arm.view)
    return np.bincount(evidence.task, minlength=len(traces)) > 0


def _notes(name: str, caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Return one note for all evidence that an arm warned of, and let every other warning through."""
    turned = [str(warning.message) for warning in caught if issubclass(warning.category, EvidenceWarning)]
    others = {(str(w.message), w.category): w for w in caught if not issubclass(w.category, EvidenceWarning)}
    for other in others.values():
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if not turned:
        return ()
    more = f" ({len(turned)} such warnings, the first shown)" if len(turned) > 1 else ""
    return (f"{name}: {turned[0]}{more}",)


# ---- frames -------------------------------------------------------------------------------------------------


def prediction_frame(
    outcomes: dict[str, Outcome], traces: Traces, gold: NDArray[np.int32], groups: list[Name], cuts: list[Cut],
    uncommitted: str,
) -> pd.DataFrame:  # fmt: skip
    """Return one row per arm, seed and scored task.

    Parameters
    ----------
    outcomes : dict from str to Outcome
        By arm.
    traces, gold, groups
        All tasks, their class codes and their groups.
    cuts : list of Cut
        The splits.
    uncommitted : {"uniform", "wrong"}
        Whether a task on which nobody committed counts as wrong.

    Returns
    -------
    DataFrame
        As `Comparison.predictions`.
    """
    import pandas as pd

    rows = np.concatenate([cut.split.test for cut in cuts])
    sizes = [len(cut.split.test) for cut in cuts]
    classes, n = _objects(traces.classes), len(outcomes)
    keys = next(iter(outcomes.values())).columns
    table = {key: np.concatenate([outcome.columns[key] for outcome in outcomes.values()]) for key in keys}
    if uncommitted == "wrong":
        table["correct"] = table["correct"] & table["committed"]
    arms = pd.Categorical(np.repeat(_objects(outcomes), len(rows)), categories=list(outcomes))
    return pd.DataFrame(
        {
            "arm": arms,
            "seed": np.tile(np.repeat([cut.split.seed for cut in cuts], sizes), n),
            "fold": np.tile(np.repeat([cut.split.fold for cut in cuts], sizes), n),
            "task": np.tile(_objects(traces.task_ids)[rows], n),
            "group": np.tile(_objects(groups)[rows], n),
            "gold": np.tile(classes[gold[rows]], n),
            **table,
            "predicted": classes[table["predicted"]],
            "round0_correct": np.tile(_round0_correct(traces, gold, cuts), n),
        }
    )


def choice_frame(outcomes: dict[str, Outcome], cuts: list[Cut]) -> pd.DataFrame:
    """Return one row per tuned arm and split: arm, seed, fold, the parameters picked, inner_brier."""
    import pandas as pd

    rows = [
        {"arm": name, "seed": cut.split.seed, "fold": cut.split.fold, **choice.setting, "inner_brier": choice.brier}
        for name, outcome in outcomes.items()
        for cut, choice in zip(cuts, outcome.choices, strict=False)
    ]
    names = dict.fromkeys(["arm", "seed", "fold", *(key for row in rows for key in row)])
    names.pop("inner_brier", None)
    return pd.DataFrame(rows, columns=[*names, "inner_brier"])


def draw_frame(traces: Traces, groups: list[Name], cuts: list[Cut]) -> pd.DataFrame:
    """Return one row per split and labelled task: seed, fold, task, group, inner_fold."""
    import pandas as pd

    splits = [cut.split for cut in cuts]
    rows = np.concatenate([split.labelled for split in splits])
    sizes = [len(split.labelled) for split in splits]
    return pd.DataFrame(
        {
            "seed": np.repeat([split.seed for split in splits], sizes),
            "fold": np.repeat([split.fold for split in splits], sizes),
            "task": _objects(traces.task_ids)[rows],
            "group": _objects(groups)[rows],
            "inner_fold": np.concatenate([split.inner for split in splits]),
        }
    )


def _round0_correct(traces: Traces, gold: NDArray[np.int32], cuts: list[Cut]) -> NDArray[np.bool_]:
    """Return for every scored row whether plurality of round 0, ties drawn by the row's seed, is right."""
    log_proba = Plurality(view="round0").log_proba(traces)
    chosen = {seed: decide(traces, log_proba, seed).candidate for seed in {cut.split.seed for cut in cuts}}
    right = {seed: traces.candidate_class[candidate] == gold for seed, candidate in chosen.items()}
    return np.concatenate([right[cut.split.seed][cut.split.test] for cut in cuts])


def _objects(names: Any) -> NDArray[np.object_]:
    column = np.empty(len(names), object)
    column[:] = list(names)
    return column
