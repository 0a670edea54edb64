"""The summary of a comparison: scores with intervals, calibration error beside its null, and plain words.

Intervals resample questions (groups), never rows: a question scored under several seeds is one observation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bda.errors import TraceError
from bda.votes import BestMember, Plurality
from calibration import Binning, PairedDifference, cluster_bootstrap, ece_test, paired_difference

if TYPE_CHECKING:
    import pandas as pd

    from bda.comparison import Comparison

__all__ = ["METRICS", "Summary", "differences", "summarise"]

METRICS = {"accuracy": "correct", "brier": "brier", "log_loss": "log_loss"}
BINNINGS = {"ece_width": Binning("uniform"), "ece_mass": Binning("quantile")}
SAME = 1e-12  # equal scores reached through different sums
WORDS = {"accuracy": "Accuracy", "brier": "Brier score"}


@dataclass(frozen=True, eq=False)
class Summary:
    """The table of a comparison and what it says in words.

    Attributes
    ----------
    heading : str
        What was compared, and how.
    table : DataFrame
        As `Comparison.summary` returns.
    remarks : tuple of str
        Who wins and by how much; how often unanimity is wrong; what arms warned of.
    """

    heading: str
    table: pd.DataFrame
    remarks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON.

        Returns
        -------
        dict
            heading, arms (one mapping an arm) and remarks.
        """
        rows = self.table.reset_index().to_dict(orient="records")
        return {"heading": self.heading, "arms": rows, "remarks": list(self.remarks)}

    def __str__(self) -> str:
        return "\n".join([self.heading, "", *text_table(self.table), "", *self.remarks])


def summarise(comparison: Comparison, n_resamples: int, random_state: int) -> Summary:
    """Return the summary of a comparison.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.
    n_resamples, random_state : int
        Replicates and seed of bootstrap and null.

    Returns
    -------
    Summary
        Table and remarks.
    """
    import pandas as pd

    arms, n = comparison.arms, len(comparison.arms)
    groups = question_codes(comparison)
    columns: dict[str, Any] = {}
    for metric, column in METRICS.items():
        scores = comparison.table(column).astype(float)
        found = cluster_bootstrap(scores, groups, n_resamples=n_resamples, random_state=random_state)
        columns |= {metric: found.estimate, f"{metric}_low": found.low, f"{metric}_high": found.high}
    columns["accuracy_sd"] = _spread_over_seeds(comparison)
    columns["clipped"] = comparison.table("clipped").sum(axis=0)
    correct, confidence = comparison.table("correct"), comparison.table("confidence").astype(float)
    for name, binning in BINNINGS.items():
        tests = [
            ece_test(
                correct[:, a], confidence[:, a], binning=binning, groups=groups, n_resamples=n_resamples,
                random_state=random_state,
            )
            for a in range(n)
        ]  # fmt: skip
        columns[name] = [t.value for t in tests]
        columns |= {
            f"{name}_null": [t.null_mean for t in tests],
            f"{name}_null95": [t.null_q95 for t in tests],
        }
        columns[f"{name}_p"] = [t.pvalue for t in tests]
    before = comparison.table("round0_correct").astype(bool)
    right = correct.astype(bool)
    columns["fixes"], columns["breaks"] = (right & ~before).sum(axis=0), (~right & before).sum(axis=0)
    columns["tied"] = (comparison.table("tied") > 1).sum(axis=0)
    columns["uncommitted"] = (~comparison.table("committed").astype(bool)).sum(axis=0)
    columns["n"] = len(groups)
    table = pd.DataFrame(columns, index=pd.Index(arms, name="arm"))
    remarks = [
        *_verdicts(comparison, table, n_resamples, random_state),
        *_facts(comparison),
        *comparison.notes,
    ]
    return Summary(_heading(comparison, len(groups)), table, tuple(remarks))


def differences(comparison: Comparison, reference: str, n_resamples: int, random_state: int) -> pd.DataFrame:
    """Return every arm's paired differences from a reference arm.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.
    reference : str
        An arm's name.
    n_resamples, random_state : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        arm, metric, difference, low, high, p_win.
    """
    import pandas as pd

    if reference not in comparison.arms:
        raise TraceError(
            "is not an arm of this comparison", field="reference", value=reference,
            remedy=f"use {', '.join(comparison.arms)}",
        )  # fmt: skip
    rows = []
    for arm in comparison.arms:
        if arm == reference:
            continue
        for metric in METRICS:
            d = _difference(comparison, arm, reference, metric, n_resamples, random_state)
            rows.append((arm, metric, d.estimate, d.low, d.high, d.p_win))
    return pd.DataFrame(rows, columns=["arm", "metric", "difference", "low", "high", "p_win"])


def text_table(table: pd.DataFrame) -> list[str]:
    """Return the summary as aligned lines of text.

    Parameters
    ----------
    table : DataFrame
        As `Comparison.summary` returns.

    Returns
    -------
    list of str
        A head and one line an arm.
    """
    head = [
        "arm",
        "accuracy",
        "95 %",
        "Brier",
        "95 %",
        "log loss",
        "ECE",
        "if calibrated",
        "p",
        "fixes",
        "breaks",
    ]
    rows = [head]
    for name, r in table.iterrows():
        rows.append(
            [
                str(name),
                f"{r.accuracy:.3f}",
                f"{r.accuracy_low:.3f}..{r.accuracy_high:.3f}",
                f"{r.brier:.3f}",
                f"{r.brier_low:.3f}..{r.brier_high:.3f}",
                f"{r.log_loss:.3f}",
                f"{r.ece_width:.3f}",
                f"{r.ece_width_null:.3f}, <{r.ece_width_null95:.3f}",
                p_text(r.ece_width_p),
                f"{r.fixes:.0f}",
                f"{r.breaks:.0f}",
            ]
        )
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join([row[0].ljust(wide[0]), *(cell.rjust(w) for cell, w in zip(row[1:], wide[1:], strict=True))])
        for row in rows
    ]


def p_text(p: float) -> str:
    """Return a p-value as text that never claims to be 0.

    Parameters
    ----------
    p : float
        In (0, 1].

    Returns
    -------
    str
        Three decimals, or "<.001".
    """
    return "<.001" if p < 0.001 else f"{p:.3f}"


def _heading(comparison: Comparison, n: int) -> str:
    passes = len(comparison.seeds)
    how = {
        "nested": f"{comparison.n_labels} labels drawn from the other folds of an outer 5-fold",
        "draw": f"{comparison.n_labels} labels a draw, all other questions scored",
    }[comparison.protocol]
    of = "" if comparison.n_groups == comparison.n_tasks else f" in {comparison.n_groups:,} groups"
    agents = len(comparison.traces.agent_names)
    return (
        f"{agents} agents, {comparison.n_tasks:,} labelled tasks{of}; protocol {comparison.protocol}: {how}; "
        f"{passes} seed{'s' if passes > 1 else ''}, {n:,} scored predictions an arm"
    )


def _verdicts(comparison: Comparison, table: pd.DataFrame, n_resamples: int, random_state: int) -> list[str]:
    """Say for accuracy and Brier whether the best arm that weighs beats plurality, and the best member."""
    kinds = {name: type(comparison.fitted[name]) for name in comparison.arms}
    weighing = [name for name in comparison.arms if kinds[name] not in (Plurality, BestMember)]
    lines = []
    for metric in WORDS if weighing else ():
        sign = 1 if metric == "accuracy" else -1
        score = dict(zip(comparison.arms, table[metric].tolist(), strict=True))
        a = max(weighing, key=lambda name: sign * score[name])
        for b in (name for name in comparison.arms if kinds[name] in (Plurality, BestMember)):
            d = _difference(comparison, a, b, metric, n_resamples, random_state)
            first, second = (a, b) if sign * d.estimate >= 0 else (b, a)
            sure = d.low > 0 or d.high < 0
            verb = "beats" if sure else "leads" if abs(d.estimate) > SAME else "equals"
            lines.append(
                f"{WORDS[metric]}: {first} {score[first]:.3f} {verb} {second} "
                f"{score[second]:.3f}{', within chance' if verb == 'leads' else ''} ({a} minus {b}: "
                f"{d.estimate:+.3f}, 95 % {d.low:+.3f} to {d.high:+.3f})"
            )
    return lines


def _facts(comparison: Comparison) -> list[str]:
    u = comparison.unanimity
    lines = []
    if u.unanimous:
        lines.append(
            f"Round 0 is unanimous on {u.unanimous:,} of {u.tasks:,} tasks, and then wrong on {u.wrong:,} "
            f"({u.share_wrong:.1%})."
        )
    if comparison.n_unlabelled:
        lines.append(f"{comparison.n_unlabelled:,} tasks have no label and are not scored.")
    silent = (~comparison.table("committed").astype(bool)).sum(axis=0)
    if silent.any():
        rule = "counted as wrong" if comparison.uncommitted == "wrong" else "scored from the class prior"
        lines.append(f"Up to {silent.max():,} predictions an arm are of tasks on which nobody committed: {rule}.")
    return lines


def _difference(
    comparison: Comparison, arm: str, reference: str, metric: str, n_resamples: int, random_state: int
) -> PairedDifference:
    scores = comparison.table(METRICS[metric]).astype(float)
    a, b = (scores[:, comparison.arms.index(name)] for name in (arm, reference))
    return paired_difference(
        a, b, question_codes(comparison), higher_is_better=metric == "accuracy", n_resamples=n_resamples,
        random_state=random_state,
    )  # fmt: skip


def question_codes(comparison: Comparison) -> Any:
    """Return the cluster of every row as codes: names may be of mixed types."""
    import pandas as pd

    column = comparison.predictions["group"].iloc[: len(comparison.predictions) // len(comparison.arms)]
    return pd.factorize(column)[0]


def _spread_over_seeds(comparison: Comparison) -> Any:
    """Return the standard deviation over seeds of each arm's accuracy; NaN with one seed."""
    by_seed = comparison.predictions.groupby(["arm", "seed"], observed=True)["correct"].mean().unstack("seed")
    spread = by_seed.std(axis=1, ddof=1)
    return np.asarray(spread.loc[list(comparison.arms)])
