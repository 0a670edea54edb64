r"""Reliability diagram: frequency against confidence in every occupied bin, with a consistency band.

    x_b = mean of c in bin b,    f_b = mean of y in bin b,
    band_b = central quantiles of the mean of y* in bin b, with y*_i ~ Bernoulli(c_i)

The band lies round the diagonal: it is where a calibrated model's points would fall, bin by bin, at these
counts. Unlike an interval round the point it does not collapse when a bin is all right or all wrong. Source:
Broecker & Smith (2007), Increasing the reliability of reliability diagrams.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from calibration.binning import DEFAULT_BINNING, Binning
from calibration.consistency import ScoredBins
from calibration.observations import FloatArray, IntArray, central_tails, check_level, check_whole, observe

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ReliabilityCurve", "reliability_curve"]

_STRIP = "counts"  # label of the strip's axes, by which a second curve on the same axes finds it
_BAR = 0.022  # width of a bar, in confidence


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Points of a reliability diagram, occupied bins only.

    Attributes
    ----------
    mean_confidence, frequency : float array, shape (m,)
        Mean score and share right.
    count : int array, shape (m,)
        Rows; they sum to n.
    lower, upper : float array, shape (m,)
        Consistency band of the frequency, bin by bin.
    edges : float array, shape (m, 2)
        Lower and upper edge of every bin.
    n_bins_effective : int
        m.
    band_level : float
        Level of the band.
    assumption : str
        How rows depend on each other in the band.

    Examples
    --------
    >>> from calibration import reliability_curve
    >>> reliability_curve([0, 1, 1, 1], [0.2, 0.6, 0.6, 1.0]).to_frame()["count"].tolist()
    [1, 2, 1]
    """

    mean_confidence: FloatArray
    frequency: FloatArray
    count: IntArray
    lower: FloatArray
    upper: FloatArray
    edges: FloatArray
    n_bins_effective: int
    band_level: float
    assumption: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row for every occupied bin."""
        import pandas as pd

        return pd.DataFrame(
            {
                "edge_low": self.edges[:, 0],
                "edge_high": self.edges[:, 1],
                "count": self.count,
                "mean_confidence": self.mean_confidence,
                "frequency": self.frequency,
                "lower": self.lower,
                "upper": self.upper,
            }
        )

    def plot(self, ax: Any = None, label: str | None = None) -> Any:
        """Draw the diagram with its band and, above it, a strip of counts.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; a new figure, unknown to pyplot, when left out. Several curves may share one.
        label : str, optional
            Name in the legend.

        Returns
        -------
        matplotlib Axes
            The axes drawn on.
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(figsize=(4.6, 5.0), layout="constrained").add_subplot()
        strip = next((child for child in ax.child_axes if child.get_label() == _STRIP), None)
        if strip is None:
            _prepare(ax, self.band_level)
            strip = ax.inset_axes((0, 1.03, 1, 0.13), sharex=ax, label=_STRIP)
            _prepare_strip(strip)
        x, m = self.mean_confidence, self.count.max()
        (line,) = ax.plot(x, self.frequency, lw=1.2, zorder=3, label=label, clip_on=False)
        colour = line.get_color()
        height = np.maximum(self.upper - self.lower, 0.006)  # a certain bin has no width, but is still seen
        ax.bar(x, height, _BAR, self.lower, color=colour, alpha=0.22, lw=0, zorder=1, clip_on=False)
        sizes = 14 + 90 * self.count / m
        dots = {"color": colour, "edgecolor": "white", "lw": 0.8, "zorder": 4, "clip_on": False}
        ax.scatter(x, self.frequency, s=sizes, **dots)
        strip.bar(x, self.count, _BAR, color=colour, alpha=0.55, lw=0, clip_on=False)
        top = max(int(m), int(strip.get_yticks()[-1]))
        strip.set(ylim=(0, top), yticks=[0, top])
        if label is not None:
            ax.legend(loc="upper left", frameon=False)
        return ax


def reliability_curve(
    correct: ArrayLike,
    confidence: ArrayLike,
    *,
    binning: Binning = DEFAULT_BINNING,
    band_level: float = 0.95,
    n_resamples: int = 1000,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> ReliabilityCurve:
    """Return the reliability curve of confidences, with the band that calibrated ones would keep to.

    Parameters
    ----------
    correct : array-like, shape (n,)
        Whether each row was right: 0/1 or False/True.
    confidence : array-like, shape (n,)
        The chance claimed for it.
    binning : Binning
        15 equal-width right-closed bins by default.
    band_level : float
        Level of the band in every bin, in (0, 1): of m calibrated points about m (1 - level)
        fall outside.
    n_resamples : int
        Replicates; memory grows as this times the occupied bins.
    groups : array-like, shape (n,), optional
        Rows that share a group share one uniform in the simulation; see `calibration.consistency`.
    random_state : int
        Seed.

    Returns
    -------
    ReliabilityCurve
        Points, counts, band and edges.

    Examples
    --------
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.6, 0.6, 1.0], binning=Binning("distinct"))
    >>> curve.frequency.tolist(), curve.count.tolist()
    ([0.0, 1.0, 1.0], [1, 2, 1])
    """
    level = check_level(band_level, "band_level")
    outcome = observe(correct, confidence).outcome
    scored = ScoredBins.of(confidence, binning, groups)
    hits = np.concatenate(list(scored.simulated_hits(check_whole(n_resamples, "n_resamples"), random_state)))
    low, high = np.quantile(hits, central_tails(level), axis=0, method="inverted_cdf")
    return ReliabilityCurve(
        mean_confidence=scored.sum_probability / scored.count,
        frequency=scored.hits(outcome) / scored.count,
        count=scored.count,
        lower=low / scored.count,
        upper=high / scored.count,
        edges=scored.edges,
        n_bins_effective=len(scored.count),
        band_level=level,
        assumption=scored.assumption,
    )


def _prepare(ax: Any, level: float) -> None:
    ax.plot([0, 1], [0, 1], color="0.55", lw=1, ls=(0, (4, 3)), zorder=2)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="frequency", aspect="equal")
    ax.spines[["top", "right"]].set_visible(False)
    note = f"bars: {100 * level:g} % of calibrated frequencies"
    ax.text(0.985, 0.02, note, ha="right", fontsize="x-small", color="0.4", transform=ax.transAxes)


def _prepare_strip(strip: Any) -> None:
    strip.tick_params(axis="x", labelbottom=False, length=0)
    strip.tick_params(axis="y", labelsize="x-small")
    strip.spines[["top", "right"]].set_visible(False)
    strip.set_ylabel("rows", fontsize="x-small")
    strip.set_yticks([0])
