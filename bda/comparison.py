"""Arms compared on the same traces, labels and draws (BDA section 5 and appendix D.1).

Every split draws its labels once for all arms; the inner folds pick hyperparameters; the arm is refitted on all
labels of the draw and scored on tasks that share no group with them. Rows of all arms are paired: the same seed,
fold and task.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.arm import Arm, as_traces
from bda.errors import TraceError
from bda.labels import gold_codes
from bda.named_arms import read_arms
from bda.outcomes import Cut, Unanimity, choice_frame, draw_frame, measure_unanimity, prediction_frame, score_arm
from bda.splits import group_names, make_splits
from bda.traces import Traces

if TYPE_CHECKING:
    import pandas as pd

    from bda.summary import Summary

__all__ = ["Comparison", "compare"]

UNCOMMITTED = ("uniform", "wrong")


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

    Examples
    --------
    >>> from bda import Traces, compare
    >>> judges = Traces.read_jsonl("examples/llmbar_judges.jsonl.gz").agents("GPT-4/Vanilla*")
    >>> result = compare(judges, ["plurality", "confusion"], seeds=(0,))
    >>> result.differences("plurality")["metric"].tolist()
    ['accuracy', 'brier', 'log_loss']
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
    _summaries: dict[tuple[int, int], Summary] = field(default_factory=dict, repr=False, init=False)

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

    def differences(self, reference: str = "plurality", n_resamples: int = 2000, random_state: int = 0) -> pd.DataFrame:
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
    [0.52, 0.92]
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
    blind = replace(traces, gold=np.full(len(traces), -1, np.int32))  # so that no arm can see what scores it
    cuts = [Cut.of(blind, gold, split) for split in splits]
    outcomes = {name: score_arm(name, contender, blind, gold, cuts) for name, contender in contenders.items()}
    return Comparison(
        predictions=prediction_frame(outcomes, traces, gold, names, cuts, uncommitted),
        choices=choice_frame(outcomes, cuts),
        draws=draw_frame(traces, names, cuts),
        arms=tuple(contenders),
        protocol=protocol,
        n_labels=int(n_labels),
        seeds=chosen_seeds,
        uncommitted=uncommitted,
        n_tasks=int((gold >= 0).sum()),
        n_unlabelled=int((gold < 0).sum()),
        n_groups=len({names[i] for i in np.flatnonzero(gold >= 0)}),
        unanimity=measure_unanimity(traces, gold),
        notes=tuple(note for outcome in outcomes.values() for note in outcome.notes),
        traces=replace(traces, gold=gold),
        fitted={name: outcome.first for name, outcome in outcomes.items()},
    )


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
