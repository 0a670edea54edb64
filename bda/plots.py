"""Plots of a comparison: scores of arms, reliabilities of agents, reliability diagrams.

Figures are made without pyplot, so that nothing global changes; every function returns its Axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bda.errors import TraceError

if TYPE_CHECKING:
    import pandas as pd

    from bda.comparison import Comparison

__all__ = ["plot_calibration", "plot_profile", "plot_scores", "shortened"]

INK, FAINT, ACCENT, BELOW = "#1d2733", "#8a94a0", "#0b6e8a", "#b3432b"
LABELS = {
    "accuracy": "accuracy",
    "brier": "Brier score (0..2, less is better)",
    "log_loss": "log loss (nats)",
}
MOST_AGENTS = 40
MOST_LETTERS = 34


def plot_scores(summary: pd.DataFrame, metric: str = "brier", ax: Any = None) -> Any:
    """Plot one metric of every arm with its 95 % interval.

    Parameters
    ----------
    summary : DataFrame
        As `Comparison.summary` returns.
    metric : {"accuracy", "brier", "log_loss"}
        What to show.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        One line an arm, the first on top.
    """
    if metric not in LABELS:
        raise TraceError("is not a metric", field="metric", value=metric, remedy=f"use {', '.join(LABELS)}")
    ax = _axes(ax, 0.32 * len(summary) + 0.9)
    y = np.arange(len(summary))
    value, low, high = (summary[f"{metric}{end}"].to_numpy() for end in ("", "_low", "_high"))
    best = value.argmax() if metric == "accuracy" else value.argmin()
    colours = [ACCENT if i == best else INK for i in y]
    ax.hlines(y, low, high, colors=colours, lw=1.6)
    ax.scatter(value, y, s=26, color=colours, zorder=3)
    for i, v in enumerate(value):
        ax.annotate(
            f"{v:.3f}", (max(high[i], v), i), (5, 0), textcoords="offset points", va="center",
            fontsize="small", color=colours[i],
        )  # fmt: skip
    _names(ax, [str(name) for name in summary.index])
    ax.set_xlabel(LABELS[metric])
    if metric == "accuracy":
        ax.set_xlim(0, 1.08)
        ax.set_xticks([0, 0.25, 0.5, 0.75, 1])
    else:
        ax.set_xlim(0, None)
        ax.margins(x=0.12)
    return ax


def plot_profile(profile: pd.DataFrame, held_out: Any = None, ax: Any = None) -> Any:
    """Plot every agent's reliability with its interval and what chance would give.

    Parameters
    ----------
    profile : DataFrame
        An arm's `profile_`.
    held_out : float array, shape (n_agents,), optional
        Share of right moves on tasks that were not used in the fit, drawn as a hollow diamond.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        One line an agent, the most reliable on top, red where its weight is negative; of more than 40 agents the
        ends of the order.
    """
    shown = profile.assign(held_out=np.nan if held_out is None else held_out)
    shown = shown.sort_values(["mean", "agent"], ascending=[False, True], key=_sortable)
    left_out = max(0, len(shown) - MOST_AGENTS)
    if left_out:
        import pandas as pd

        half = MOST_AGENTS // 2
        shown = pd.concat([shown.iloc[:half], shown.iloc[-half:]])
    ax = _axes(ax, 0.28 * len(shown) + 0.9)
    y = np.arange(len(shown))
    colours = [BELOW if weight < 0 else INK for weight in shown["weight"]]
    ax.hlines(y, shown["low"], shown["high"], colors=colours, lw=1.6)
    ax.scatter(shown["mean"], y, s=26, color=colours, zorder=3)
    ax.scatter(shown["chance"], y, marker="|", s=90, color=FAINT, zorder=2)
    ax.scatter(shown["held_out"], y, marker="D", s=26, facecolor="white", edgecolor=ACCENT, zorder=4)
    if left_out:
        ax.axhline(MOST_AGENTS // 2 - 0.5, color=FAINT, lw=0.8, ls=(0, (2, 3)))
        ax.annotate(
            f"{left_out} agents between", (0, MOST_AGENTS // 2 - 0.5), (3, 0), textcoords="offset points",
            va="center", fontsize="small", color=FAINT, backgroundcolor="white",
        )  # fmt: skip
    _names(ax, [str(name) for name in shown["agent"]])
    ax.set_xlim(0, 1)
    ax.set_xlabel("chance that a move is right")
    return ax


def plot_calibration(comparison: Comparison, arms: Sequence[str], axes: Any = None) -> Any:
    """Plot a reliability diagram of each arm, with the band that calibrated confidences would keep to.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.
    arms : sequence of str
        Names.
    axes : sequence of matplotlib Axes, optional
        One an arm; a new figure by default.

    Returns
    -------
    list of Axes
        One an arm.
    """
    from bda.summary import question_codes
    from calibration import reliability_curve

    if axes is None:
        from matplotlib.figure import Figure

        axes = Figure(figsize=(3.1 * len(arms), 3.9), layout="constrained").subplots(1, len(arms), squeeze=False)[0]
    groups = question_codes(comparison)
    correct, confidence = comparison.table("correct"), comparison.table("confidence").astype(float)
    for ax, name in zip(axes, arms, strict=True):
        column = comparison.arms.index(name)
        reliability_curve(correct[:, column], confidence[:, column], groups=groups).plot(ax)
        ax.set_title(shortened(name), fontsize="medium", pad=38).set_parse_math(False)
    return list(axes)


def shortened(name: str, most: int = MOST_LETTERS) -> str:
    """Return a name with its middle cut out where it is long, and control characters shown as spaces.

    Parameters
    ----------
    name : str
        Any text.
    most : int
        Letters kept.

    Returns
    -------
    str
        At most `most` letters.

    Examples
    --------
    >>> shortened("a-very-long-name-of-an-agent", 11)
    'a-ver…agent'
    """
    name = "".join(letter if letter.isprintable() else " " for letter in name)
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-(most - 1 - half) :]}"


def _axes(ax: Any, height: float) -> Any:
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(6.4, height), layout="constrained").add_subplot()
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color="#e6e9ed", lw=0.8)
    ax.set_axisbelow(True)
    return ax


def _names(ax: Any, names: list[str]) -> None:
    ax.set_yticks(np.arange(len(names)), [shortened(name) for name in names])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)  # a name may hold a dollar
    ax.set_ylim(len(names) - 0.4, -0.6)


def _sortable(column: Any) -> Any:
    return column.map(str) if column.name == "agent" else column
