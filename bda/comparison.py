"""Arms compared on the same traces, labels and draws (BDA section 5 and appendix D.1).

Every split draws its labels once for all arms; the inner folds pick hyperparameters; the arm is refitted on all
labels of the draw and scored on tasks that share no group with them. Rows of all arms are paired: the same seed,
fold and task.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm, as_traces
from bda.errors import RepeatWarning, TraceError
from bda.evidence import count_evidence
from bda.labels import candidate_positions, gold_codes
from bda.named_arms import Contender, read_arms
from bda.names import Name
from bda.posteriors import sum_by
from bda.selection import Choice, Tuned, choose
from bda.splits import Split, group_names, make_splits
from bda.ties import decide
from bda.traces import Traces
from bda.votes import BestMember, Plurality

if TYPE_CHECKING:
    import pandas as pd

    from bda.summary import Summary

__all__ = ["LOG_LOSS_CLIP", "Comparison", "Unanimity", "compare"]

LOG_LOSS_CLIP = 2.0**-52
UNCOMMITTED = ("uniform", "wrong")

Floats = NDArray[np.float64]
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


@dataclass(frozen=True, eq=False)
class Comparison:
    """What every arm said on every scored task, and how it was chosen.

    Attributes
    ----------
    predictions : DataFrame
        One row per arm, seed and scored task: arm, seed, fold, task, group, gold, predicted, correct, p_gold,
        confidence, brier (0..2), log_loss (nats, clipped), clipped, tied, committed, round0_correct. Rows of all
        arms follow one order.
    choices : DataFrame
        One row per tuned arm and split: arm, seed, fold, the parameters picked, inner_brier.
    draws : DataFrame
        One row per split and labelled task: seed, fold, task, group, inner_fold.
    arms : tuple of str
        Names, in order.
    protocol, n_labels, seeds, uncommitted
        As passed to `compare`.
    n_tasks, n_unlabelled, n_groups : int
        Labelled tasks, tasks left out for want of a label, and groups of labelled tasks.
    unanimity : Unanimity
        How often a unanimous round 0 is wrong.
    notes : tuple of str
        What arms warned of.
    traces : Traces
        What was compared, gold inside.
    fitted : dict from str to Arm
        Every arm as fitted on the first split, for explanations.
    """

    predictions: pd.DataFrame
    choices: pd.DataFrame
    draws: pd.DataFrame
    arms: tuple[str, ...]
    protocol: str
    n_labels: int
    seeds: tuple[int, ...]
    uncommitted: str
    n_tasks: int
    n_unlabelled: int
    n_groups: int
    unanimity: Unanimity
    notes: tuple[str, ...]
    traces: Traces
    fitted: dict[str, Arm]
    _summaries: dict[tuple[int, int], Summary] = field(default_factory=dict, repr=False)

    def summary(self, n_resamples: int = 2000, random_state: int = 0) -> pd.DataFrame:
        """Return one row an arm: scores with question-clustered 95 % intervals, calibration error with its null.

        Parameters
        ----------
        n_resamples : int
            Bootstrap and null replicates.
        random_state : int
            Seeds both.

        Returns
        -------
        DataFrame
            Indexed by arm: accuracy, brier and log_loss, each with _low and _high; accuracy_sd over seeds; clipped;
            ece_width and ece_mass (15 bins of equal width and of equal mass), each with _null, _null95 and _p; fixes
            and breaks against round-0 plurality; tied, uncommitted and n rows.
        """
        return self.summarise(n_resamples, random_state).table.copy()

    def summarise(self, n_resamples: int = 2000, random_state: int = 0) -> Summary:
        """Return the summary with its plain words: who wins, and by how much.

        Parameters
        ----------
        n_resamples, random_state : int
            As in `summary`.

        Returns
        -------
        Summary
            `table` and `remarks`; printing it shows both.
        """
        from bda.summary import summarise

        key = (n_resamples, random_state)
        if key not in self._summaries:
            self._summaries[key] = summarise(self, n_resamples, random_state)
        return self._summaries[key]

    def differences(
        self, reference: str = "plurality", n_resamples: int = 2000, random_state: int = 0
    ) -> pd.DataFrame:
        """Return every arm's difference from a reference arm on the same rows.

        Parameters
        ----------
        reference : str
            An arm's name.
        n_resamples, random_state : int
            Of the question-clustered bootstrap.

        Returns
        -------
        DataFrame
            arm, metric (accuracy, brier, log_loss), difference (arm minus reference), low, high, p_win (share of
            bootstrap replicates in which the arm is the better one).

        Raises
        ------
        TraceError
            If `reference` is not an arm of this comparison.
        """
        from bda.summary import differences

        return differences(self, reference, n_resamples, random_state)

    def to_frame(self) -> pd.DataFrame:
        """Return the summary.

        Returns
        -------
        DataFrame
            As `summary()`.
        """
        return self.summary()

    def plot(self, metric: str = "brier", ax: Any = None) -> Any:
        """Plot one metric of every arm with its interval.

        Parameters
        ----------
        metric : {"accuracy", "brier", "log_loss"}
            What to show.
        ax : matplotlib Axes, optional
            Where to draw.

        Returns
        -------
        Axes
            The plot.
        """
        from bda.plots import plot_scores

        return plot_scores(self.summary(), metric, ax)

    def to_html(self, command: str | None = None) -> str:
        """Return the report: one HTML page that needs nothing else.

        Parameters
        ----------
        command : str, optional
            The command that made it, shown under "How to reproduce".

        Returns
        -------
        str
            HTML.
        """
        from bda.report import report_html

        return report_html(self, command)

    def table(self, column: str) -> NDArray[Any]:
        """Return a column of `predictions`, arms side by side.

        Parameters
        ----------
        column : str
            Its name.

        Returns
        -------
        array, shape (n_rows, n_arms)
            Rows are paired.
        """
        return self.predictions[column].to_numpy().reshape(len(self.arms), -1).T

    def __str__(self) -> str:
        return str(self.summarise())


def compare(
    traces: Any,
    arms: Any = None,
    n_labels: int = 25,
    seeds: Sequence[int] = (0, 1, 2),
    protocol: str = "nested",
    groups: Any = None,
    labels: Any = None,
    uncommitted: str = "uniform",
) -> Comparison:
    """Compare arms on the same draws of labels, without leaks.

    Parameters
    ----------
    traces : Traces, long frame, or wide array of votes
        What agents said.
    arms : None, name, Arm, Tuned, iterable of these, or mapping from name to these
        None takes every name of `bda.named_arms.ARM_NAMES`. An Arm is used as it is; what a Tuned or a name leaves
        open is picked by the inner folds. `random_state` is set to the seed, so that all arms break ties alike.
    n_labels : int
        Labelled groups of each draw, one task each.
    seeds : sequence of int
        One pass each.
    protocol : {"nested", "draw"}
        "nested": outer 5-fold over groups, labels drawn from the rest, every task scored once a seed. "draw": one
        draw a seed, all other groups scored.
    groups : None, str or sequence, optional
        The question each task belongs to: None takes `meta.group`, a string another key of `meta`.
    labels : None, mapping, Series or array, optional
        As in `Arm.fit`; tasks without a label are not scored.
    uncommitted : {"uniform", "wrong"}
        A task on which nobody committed is scored from its uniform posterior, or counted as wrong.

    Returns
    -------
    Comparison
        Predictions, choices, draws, and their summary.

    Raises
    ------
    TraceError
        If there are too few labelled groups, or an argument is not what it should be.

    Examples
    --------
    >>> import numpy as np
    >>> from bda import Traces, compare
    >>> rng = np.random.default_rng(0)
    >>> gold = rng.integers(3, size=120)
    >>> right = rng.random((120, 4)) < [0.9, 0.6, 0.5, 0.1]
    >>> votes = np.where(right, gold[:, None], (gold[:, None] + 1) % 3)
    >>> result = compare(Traces.from_votes(votes), ["plurality", "per-agent"], labels=gold)
    >>> result.summary().loc[["plurality", "per-agent"], "accuracy"].round(2).tolist()
    [0.76, 0.98]
    """
    traces = as_traces(traces)
    _one_of("protocol", protocol, ("nested", "draw"))
    _one_of("uncommitted", uncommitted, UNCOMMITTED)
    gold = gold_codes(traces, labels)
    names = group_names(traces, groups)
    chosen_seeds = _seeds(seeds)
    challenged = bool((traces.moves_table.kind < 0).any())
    contenders = read_arms(arms, challenged)
    splits = make_splits(traces, gold, names, _count("n_labels", n_labels), chosen_seeds, protocol)
    known = _Known(traces, gold, names, [_Scored.of(traces, gold, split) for split in splits])
    baseline = _round0_correct(traces, gold, chosen_seeds)

    columns: list[dict[str, Any]] = []
    choices: list[dict[str, Any]] = []
    notes: list[str] = []
    fitted: dict[str, Arm] = {}
    for name, contender in contenders.items():
        ready = _ready_arms(contender, traces, gold, splits, name, choices)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcomes = [_outcome(arm, known, i) for i, arm in enumerate(ready)]
        notes += _notes(name, caught)
        fitted[name] = ready[0]
        columns.append({key: np.concatenate([o[key] for o in outcomes]) for key in outcomes[0]})
    return Comparison(
        predictions=_predictions(list(contenders), columns, known, splits, baseline, uncommitted),
        choices=_choice_frame(choices),
        draws=_draw_frame(traces, names, splits),
        arms=tuple(contenders),
        protocol=protocol,
        n_labels=int(n_labels),
        seeds=chosen_seeds,
        uncommitted=uncommitted,
        n_tasks=int((gold >= 0).sum()),
        n_unlabelled=int((gold < 0).sum()),
        n_groups=len({names[i] for i in np.flatnonzero(gold >= 0)}),
        unanimity=measure_unanimity(traces, gold),
        notes=tuple(notes),
        traces=traces if labels is None else traces.with_gold(_named(traces, gold)),
        fitted=fitted,
    )


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
    votes = count_evidence(traces, view="round0_vote")
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
class _Scored:
    """The two sides of a split, cut once for all arms."""

    labelled: Traces
    labels: list[Name]
    test: Traces
    rows: Ints
    gold_candidate: Ints

    @classmethod
    def of(cls, traces: Traces, gold: NDArray[np.int32], split: Split) -> _Scored:
        test = traces.tasks(split.test)
        return cls(
            labelled=traces.tasks(split.labelled),
            labels=[traces.classes[code] for code in gold[split.labelled]],
            test=test,
            rows=split.test,
            gold_candidate=candidate_positions(test, np.arange(len(test)), gold[split.test]),
        )


@dataclass(frozen=True)
class _Known:
    traces: Traces
    gold: NDArray[np.int32]
    groups: list[Name]
    scored: list[_Scored]


def _ready_arms(
    contender: Contender,
    traces: Traces,
    gold: NDArray[np.int32],
    splits: list[Split],
    name: str,
    choices: list[dict[str, Any]],
) -> list[Arm]:
    """Return one unfitted arm a split, and record what was chosen."""
    if isinstance(contender, Arm):
        picked = [Choice({}, float("nan"))] * len(splits)
        arm = contender
    else:
        picked = choose(contender, traces, gold, splits)
        arm = contender.arm
        for split, choice in zip(splits, picked, strict=True):
            row = {"arm": name, "seed": split.seed, "fold": split.fold, **choice.setting}
            choices.append({**row, "inner_brier": choice.brier})
    return [
        type(arm)(**{**arm.get_params(), **choice.setting, "random_state": split.seed})
        for split, choice in zip(splits, picked, strict=True)
    ]


def _outcome(arm: Arm, known: _Known, i: int) -> dict[str, NDArray[Any]]:
    """Fit an arm on a split's labels and score it on the split's test tasks."""
    scored = known.scored[i]
    test, at_gold = scored.test, scored.gold_candidate
    log_proba = arm.fit(scored.labelled, scored.labels).log_proba(test)
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
        evidence = count_evidence(traces, view="round0_vote" if arm.view == "round0" else "last_vote")
    else:
        evidence = count_evidence(traces, getattr(arm, "challenge", "composite"), arm.view)
    return np.bincount(evidence.task, minlength=len(traces)) > 0


def _round0_correct(traces: Traces, gold: NDArray[np.int32], seeds: tuple[int, ...]) -> dict[int, NDArray[np.bool_]]:
    log_proba = Plurality(view="round0").log_proba(traces)
    return {seed: traces.candidate_class[decide(traces, log_proba, seed).candidate] == gold for seed in seeds}


def _notes(name: str, caught: list[warnings.WarningMessage]) -> list[str]:
    """Return one note for all repeats an arm warned of, and let every other warning through."""
    repeats = [str(w.message) for w in caught if issubclass(w.category, RepeatWarning)]
    for other in {(str(w.message), w.category): w for w in caught if not issubclass(w.category, RepeatWarning)}.values():
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if not repeats:
        return []
    more = f" ({len(repeats)} such warnings, the first shown)" if len(repeats) > 1 else ""
    return [f"{name}: {repeats[0]}{more}"]


# ---- frames -------------------------------------------------------------------------------------------------


def _predictions(
    arms: list[str],
    columns: list[dict[str, Any]],
    known: _Known,
    splits: list[Split],
    baseline: dict[int, NDArray[np.bool_]],
    uncommitted: str,
) -> pd.DataFrame:
    import pandas as pd

    rows = np.concatenate([split.test for split in splits])
    sizes = [len(split.test) for split in splits]
    classes, n = _objects(known.traces.classes), len(arms)
    table = {key: np.concatenate([column[key] for column in columns]) for key in columns[0]}
    if uncommitted == "wrong":
        table["correct"] = table["correct"] & table["committed"]
    return pd.DataFrame(
        {
            "arm": pd.Categorical.from_codes(np.repeat(np.arange(n), len(rows)), arms),
            "seed": np.tile(np.repeat([s.seed for s in splits], sizes), n),
            "fold": np.tile(np.repeat([s.fold for s in splits], sizes), n),
            "task": np.tile(_objects(known.traces.task_ids)[rows], n),
            "group": np.tile(_objects(known.groups)[rows], n),
            "gold": np.tile(classes[known.gold[rows]], n),
            **table,
            "predicted": classes[table["predicted"]],
            "round0_correct": np.tile(np.concatenate([baseline[s.seed][s.test] for s in splits]), n),
        }
    )


def _choice_frame(choices: list[dict[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    names = dict.fromkeys(key for row in choices for key in row if key != "inner_brier")
    return pd.DataFrame(choices, columns=[*(names or ("arm", "seed", "fold")), "inner_brier"])


def _draw_frame(traces: Traces, groups: list[Name], splits: list[Split]) -> pd.DataFrame:
    import pandas as pd

    rows = np.concatenate([split.labelled for split in splits])
    sizes = [len(split.labelled) for split in splits]
    return pd.DataFrame(
        {
            "seed": np.repeat([s.seed for s in splits], sizes),
            "fold": np.repeat([s.fold for s in splits], sizes),
            "task": _objects(traces.task_ids)[rows],
            "group": _objects(groups)[rows],
            "inner_fold": np.concatenate([split.inner for split in splits]),
        }
    )


def _objects(names: Any) -> NDArray[np.object_]:
    column = np.empty(len(names), object)
    column[:] = list(names)
    return column


def _named(traces: Traces, gold: NDArray[np.int32]) -> dict[Name, Name]:
    return {traces.task_ids[i]: traces.classes[gold[i]] for i in np.flatnonzero(gold >= 0)}


# ---- arguments ----------------------------------------------------------------------------------------------


def _seeds(seeds: Any) -> tuple[int, ...]:
    if not isinstance(seeds, Sequence | range | np.ndarray) or isinstance(seeds, str) or not len(seeds):
        raise TraceError("is not a sequence of integers", field="seeds", value=seeds, remedy="pass e.g. (0, 1, 2)")
    found = tuple(_count("seeds", seed, least=0) for seed in seeds)
    if len(set(found)) < len(found):
        raise TraceError("repeats a seed", field="seeds", value=found, remedy="pass each seed once")
    return found


def _count(field: str, value: Any, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise TraceError("is not a count", field=field, value=value, remedy=f"pass an integer from {least} on")
    return int(value)


def _one_of(field: str, value: Any, options: tuple[str, ...]) -> None:
    if value not in options:
        raise TraceError("is not an option", field=field, value=value, remedy=f"use {', '.join(options)}")
