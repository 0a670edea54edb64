"""Slow, exact restatements to compare with: rational arithmetic and loops, none of the package's code."""

import json
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "calibration.json").read_text())["cases"]


def golden(*starts):
    """Return the known answers whose names begin with one of these."""
    return [case for case in GOLDEN if case["id"].startswith(starts)]


def uniform_bin(p, n_bins, closed):
    for b in range(n_bins):
        low, high = b / n_bins, (b + 1) / n_bins
        inside = low < p <= high if closed == "right" else low <= p < high
        if inside or (b == 0 and p == 0) or (b == n_bins - 1 and p == 1):
            return b
    raise AssertionError(p)


def rank_split_bins(probs, n_bins, closed):
    """Deal sorted ranks to bins, then send each run of equal scores to the bin of one of its ends."""
    n = len(probs)
    of_rank = [b for b in range(n_bins) for _ in range(n // n_bins + (b < n % n_bins))]
    ranked = sorted(probs)
    bins = []
    for p in probs:
        first = ranked.index(p)
        last = first + ranked.count(p) - 1
        bins.append(of_rank[first if closed == "right" else last])
    return bins


def bins_of(probs, binning):
    if binning.strategy == "uniform":
        return [uniform_bin(p, binning.n_bins, binning.closed) for p in probs]
    if binning.strategy == "quantile":
        return rank_split_bins(probs, binning.n_bins, binning.closed)
    return [sorted(set(probs)).index(p) for p in probs]


def calibration_error(y, probs, binning, norm="l1", weights=None):
    """Return the binned error; exact but for the root of l2."""
    weights = [1] * len(y) if weights is None else weights
    cells = {}
    for b, outcome, p, w in zip(bins_of(probs, binning), y, probs, weights, strict=True):
        mass, gap = cells.get(b, (Fraction(0), Fraction(0)))
        cells[b] = mass + Fraction(w), gap + Fraction(w) * (Fraction(p) - int(outcome))
    total = sum(mass for mass, _ in cells.values())
    if norm == "l1":
        return float(sum(abs(gap) for _, gap in cells.values()) / total)
    if norm == "max":
        return float(max(abs(gap / mass) for mass, gap in cells.values() if mass))
    return float(sum(gap**2 / mass for mass, gap in cells.values() if mass) / total) ** 0.5


def null_errors(probs, binning, groups=None):
    """Return every (chance, error) under calibration: 2^n outcomes, or every place of one uniform a group."""
    rows = range(len(probs))
    groups = list(rows) if groups is None else groups
    names = sorted(set(groups))
    # One uniform u of a group lies between two neighbouring scores of the group, which settles its rows.
    pieces = []
    for name in names:
        cuts = sorted({Fraction(0), Fraction(1), *(Fraction(probs[i]) for i in rows if groups[i] == name)})
        pieces.append([(low, high - low) for low, high in pairwise(cuts)])
    result = []
    for choice in product(*pieces):
        u = {name: low for name, (low, _) in zip(names, choice, strict=True)}
        chance = Fraction(1)
        for _, width in choice:
            chance *= width
        y = [u[groups[i]] < Fraction(probs[i]) for i in rows]
        result.append((float(chance), calibration_error(y, probs, binning)))
    return result
