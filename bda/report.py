"""The report of a comparison: one HTML file that needs nothing else.

Figures are inline SVG with fixed identifiers and no date, so the same comparison gives the same bytes. Every name
that came from data is escaped.
"""

from __future__ import annotations

import html
import io
import platform
import warnings
from collections.abc import Callable
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from bda.evidence import count_evidence
from bda.labels import candidate_positions, gold_codes
from bda.one_coin import PerAgent
from bda.plots import plot_calibration, plot_profile, plot_scores, shortened
from bda.reliability import measure_reliability
from bda.report_style import STYLE
from bda.summary import p_text
from bda.verdict import Verdict
from bda.votes import Plurality

if TYPE_CHECKING:
    import pandas as pd

    from bda.arm import Arm
    from bda.comparison import Comparison

__all__ = ["report_html"]

MOST_ROWS = 30
MOST_PARTS = 25
DIAGRAMS = 4


def report_html(comparison: Comparison, command: str | None = None, title: str = "Steelyard report") -> str:
    """Return the report of a comparison as one self-contained HTML page.

    Parameters
    ----------
    comparison : Comparison
        What `compare` returned.
    command : str, optional
        The command that made it, shown under "How to reproduce".
    title : str
        Heading of the page.

    Returns
    -------
    str
        HTML: the table, reliability diagrams, reliabilities and weights, three explained verdicts, what was
        assumed, and how to reproduce it.
    """
    summary = comparison.summarise()
    weigher = _weigher(comparison, summary.table)
    sections = [
        _section("What came out", _paragraphs(summary.remarks) + _scores(summary.table) + _table(summary.table)),
        _section("Are the probabilities honest?", _calibration(comparison, summary.table)),
    ]
    if weigher is not None:
        sections.append(_section("The agents", _profile(comparison, weigher)))
        sections.append(_section("Three verdicts, explained", _verdicts(comparison, weigher)))
    sections.append(_section("What was assumed", _assumptions(comparison)))
    sections.append(_section("How to reproduce", _reproduction(comparison, command)))
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{_text(title)}</title>\n'
        f"<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{_text(title)}</h1>\n"
        f'<p class="lead">{_text(summary.heading)}.</p>\n{"".join(sections)}</body>\n</html>\n'
    )


# ---- scores -------------------------------------------------------------------------------------------------


def _scores(table: pd.DataFrame) -> str:
    def draw(figure: Any) -> None:
        left, right = figure.subplots(1, 2, sharey=True)
        plot_scores(table, "accuracy", left)
        plot_scores(table, "brier", right)

    return _figure(
        draw, (9.6, 0.32 * len(table) + 0.9),
        "Accuracy and Brier score of every arm with 95 % intervals over questions; the best is coloured.",
    )  # fmt: skip


def _table(table: pd.DataFrame) -> str:
    head = (
        ("arm", ""), ("accuracy", "share of scored tasks that are right, with its 95 % interval over questions"),
        ("Brier", "sum over candidates of (p - y)², 0 to 2"), ("log loss", "nats, clipped at 36"),
        ("ECE width", "expected calibration error, 15 bins of equal width"),
        ("if calibrated", "mean and 95 % point of that error if the probabilities were honest"),
        ("p", "chance of an error as large if the probabilities were honest"),
        ("ECE mass", "the same with 15 bins of equal mass"), ("p", "as before"),
        ("fixes", "right where plurality of round 0 is wrong"), ("breaks", "wrong where it is right"),
        ("ties", "decided by a seeded draw"),
    )  # fmt: skip
    rows = [
        [
            _text(str(name)), _interval(r, "accuracy"), _interval(r, "brier"), _interval(r, "log_loss"),
            f"{r.ece_width:.3f}", f"{r.ece_width_null:.3f}, {r.ece_width_null95:.3f}", p_text(r.ece_width_p),
            f"{r.ece_mass:.3f}", p_text(r.ece_mass_p), f"{r.fixes:,.0f}", f"{r.breaks:,.0f}", f"{r.tied:,.0f}",
        ]
        for name, r in table.iterrows()
    ]  # fmt: skip
    note = (
        "<p class='note'>An ECE is never 0 in a finite sample; read it beside what honest probabilities would show. "
        "Fixes and breaks count predictions over all seeds.</p>"
    )
    return _html_table(head, rows) + note


def _interval(row: Any, metric: str) -> str:
    low, high = row[f"{metric}_low"], row[f"{metric}_high"]
    return f"<b>{row[metric]:.3f}</b><br><span class='range'>{low:.3f}–{high:.3f}</span>"


def _calibration(comparison: Comparison, table: pd.DataFrame) -> str:
    firsts: dict[type[Arm], str] = {}  # the first arm of each kind stands for it
    for name in comparison.arms:
        firsts.setdefault(type(comparison.fitted[name]), name)
    counted = firsts.pop(Plurality, None)
    ranked = sorted(firsts.values(), key=lambda name: (table.loc[name, "brier"], name))
    shown = ([] if counted is None else [counted]) + ranked
    shown = shown[:DIAGRAMS]

    def draw(figure: Any) -> None:
        axes = figure.subplots(1, len(shown), squeeze=False)[0]
        plot_calibration(comparison, shown, axes)

    words = (
        "<p>Of the predictions made with a given confidence, the share that is right. On the diagonal, confidence is "
        "honest; shaded bars are where 95 % of honest frequencies would fall at these counts.</p>"
    )
    return words + _figure(draw, (3.1 * len(shown), 3.9), "Reliability diagrams: frequency against confidence.")


# ---- agents -------------------------------------------------------------------------------------------------


def _weigher(comparison: Comparison, table: pd.DataFrame) -> str | None:
    """Return the arm whose weights are shown: the first per-agent one, else the best with a profile."""
    profiled = [name for name in comparison.arms if hasattr(comparison.fitted[name], "profile_")]
    of_agents = [name for name in profiled if isinstance(comparison.fitted[name], PerAgent)]
    if of_agents:
        return of_agents[0]
    return min(profiled, key=lambda name: (table.loc[name, "brier"], name)) if profiled else None


def _profile(comparison: Comparison, name: str) -> str:
    arm = comparison.fitted[name]
    profile: pd.DataFrame = getattr(arm, "profile_")  # noqa: B009 - not every arm has one
    held_out, moves = _held_out(comparison, arm)

    def draw(figure: Any) -> None:
        plot_profile(profile, held_out, figure.add_subplot())

    head = (
        ("agent", ""), ("right", "labelled moves that agree with gold"), ("wrong", "and that do not"),
        ("reliability", "posterior mean with its 95 % interval"), ("chance", "what guessing would give"),
        ("P(below chance)", "posterior probability"), ("weight", "nats that one endorsement adds to its answer"),
        ("elsewhere", "share of right moves on the tasks that were scored, and their number"),
    )  # fmt: skip
    order = np.lexsort((np.array([str(name) for name in profile["agent"]]), -profile["mean"]))
    rows = [_agent_row(profile.iloc[i], held_out[i], int(moves[i])) for i in order]
    fit = f"{_text(name)} as fitted on the {arm.n_labels_} labels of the first draw"
    words = (
        f"<p>{fit}. Dot and line: posterior mean and 95 % interval from these labels alone; tick: chance; diamond: "
        "what the agent did on the tasks that were scored. Red: a negative weight, so that its endorsement counts "
        "against the answer.</p>"
    )
    table = _html_table(head, rows)
    if len(rows) > MOST_ROWS:
        table = f"<details><summary>All {len(rows):,} agents</summary>{table}</details>"
    height = 0.28 * min(len(profile), 40) + 0.9
    return words + _figure(draw, (8.0, height), "Reliability of every agent with its interval.") + table


def _agent_row(row: Any, held_out: float, moves: int) -> list[str]:
    chance = "" if np.isnan(row["chance"]) else f"{row['chance']:.2f}"
    below = "" if np.isnan(row["p_below_chance"]) else f"{row['p_below_chance']:.3f}"
    return [
        _text(shortened(str(row["agent"]), 60)), f"{row['right']:,}", f"{row['wrong']:,}",
        f"<b>{row['mean']:.3f}</b> <span class='range'>{row['low']:.3f}–{row['high']:.3f}</span>",
        chance, below, f"{row['weight']:+.2f}", f"{held_out:.3f} of {moves:,}" if moves else "",
    ]  # fmt: skip


def _held_out(comparison: Comparison, arm: Arm) -> tuple[Any, Any]:
    """Return each agent's share of right moves, and their number, on the first split's scored tasks."""
    test = comparison.traces.tasks(_first_test(comparison))
    at_gold = candidate_positions(test, np.arange(len(test)), gold_codes(test, None))
    reading = getattr(arm, "challenge", "composite")
    found = measure_reliability(count_evidence(test, reading, arm.fit_view), at_gold, test.n_candidates)
    moves = found.right + found.wrong
    share = np.divide(found.right, moves, out=np.full(len(moves), np.nan), where=moves > 0)
    return share, moves


def _first_test(comparison: Comparison) -> Any:
    rows = _first_rows(comparison, comparison.arms[0])
    return np.array([comparison.traces.position(task) for task in rows["task"]])


def _first_rows(comparison: Comparison, arm: str) -> pd.DataFrame:
    frame = comparison.predictions
    first = frame.iloc[0]
    here = (frame["arm"] == arm) & (frame["seed"] == first["seed"]) & (frame["fold"] == first["fold"])
    found: pd.DataFrame = frame[here].reset_index(drop=True)
    return found


# ---- verdicts -----------------------------------------------------------------------------------------------


def _verdicts(comparison: Comparison, name: str) -> str:
    rows = _first_rows(comparison, name)
    right, votes_right = rows["correct"].to_numpy(bool), rows["round0_correct"].to_numpy(bool)
    confidence = rows["confidence"].to_numpy()
    order = np.lexsort((np.array([str(task) for task in rows["task"]]), -confidence))
    wanted = (
        ("Plurality is wrong, the weighed council right", order, ~votes_right & right),
        ("The weighed council is wrong where it is most sure", order, ~right),
        ("The closest call", order[::-1], np.ones(len(rows), bool)),
        ("The surest verdict", order, np.ones(len(rows), bool)),
        ("Plurality is right, the weighed council wrong", order, votes_right & ~right),
    )
    shown: dict[int, str] = {}
    for words, ranking, holds in wanted:
        found = next((int(i) for i in ranking if holds[i] and int(i) not in shown), None)
        if found is not None and len(shown) < 3:
            shown[found] = words
    arm = comparison.fitted[name]
    parts = [
        _verdict(words, arm.explain(comparison.traces, rows["task"][i]), arm, comparison) for i, words in shown.items()
    ]
    note = (
        f"<p>By {_text(name)} as fitted on the first draw; none of these tasks lent it a label. Each bar is an agent's "
        "log evidence for the winner over the runner-up, divided by the temperature; they add up to the log odds.</p>"
    )
    return note + "".join(parts)


def _verdict(words: str, verdict: Verdict, arm: Arm, comparison: Comparison) -> str:
    longest = max((abs(part.difference) for part in verdict.parts), default=0.0) or 1.0
    by_size = sorted(range(len(verdict.parts)), key=lambda i: -abs(verdict.parts[i].difference))
    shown = [verdict.parts[i] for i in sorted({0, *by_size[:MOST_PARTS]})]
    lines = []
    for part in shown:
        width = 50 * abs(part.difference) / longest
        side = "for" if part.difference >= 0 else "against"
        share = "" if part.share is None else f"{part.share:+.0%}"
        lines.append(
            f"<tr><td>{_text(shortened(str(part.source), 60))}</td><td>{_text(shortened(part.said, 40))}</td>"
            f"<td class='bar'><i class='{side}' style='width:{width:.2f}%'></i></td>"
            f"<td>{part.difference:+.3f}</td><td>{share}</td></tr>"
        )
    rest = len(verdict.parts) - len(shown)
    more = f"<p class='note'>The largest parts; {rest:,} smaller ones are not listed.</p>" if rest else ""
    votes = Plurality(view="round0", random_state=int(arm.random_state)).explain(comparison.traces, verdict.task)
    outcome = "right" if verdict.winner == verdict.gold else "wrong"
    counted = "right" if votes.winner == verdict.gold else "wrong"
    return (
        f"<h3>{_text(words)}</h3><p>Task <b>{_text(shortened(str(verdict.task), 80))}</b>: the verdict is "
        f"<b>{_text(str(verdict.winner))}</b> with probability {verdict.probability:.3f}, before "
        f"{_text(str(verdict.runner_up))} with {verdict.runner_up_probability:.3f}; gold is "
        f"<b>{_text(str(verdict.gold))}</b>, so it is {outcome}. Plurality of round 0 says "
        f"{_text(str(votes.winner))} with {votes.probability:.2f} of the votes, which is {counted}.</p>"
        f"<table class='verdict'><thead><tr><th>source</th><th>said</th><th>against / for the verdict</th>"
        f"<th>{_text(verdict.unit)}</th><th>share</th></tr></thead><tbody>{''.join(lines)}</tbody></table>{more}"
    )


# ---- small print --------------------------------------------------------------------------------------------


def _assumptions(comparison: Comparison) -> str:
    u = comparison.unanimity
    report = comparison.traces.protocol_report()
    items = [
        "Agents err independently given the truth. One temperature, picked on the labels, absorbs what dependence "
        f"over-counts; here {u.unanimous:,} of {u.tasks:,} round-0 votes are unanimous, {u.wrong:,} of them wrong.",
        "An agent's reliability is the same on labelled and on scored tasks. Labels are drawn at random from the "
        "same tasks, so this report cannot show a change over time.",
        "A wrong answer falls on every other candidate alike (one-coin arms); the confusion arms drop this.",
        f"Intervals resample the {comparison.n_groups:,} questions and hold the drawn labels fixed.",
        f"Irregular moves, counted and left out or read as the rules say: {_irregular(report)}.",
    ]
    return "<ul>" + "".join(f"<li>{_text(item)}</li>" for item in items) + "</ul>"


def _irregular(report: Any) -> str:
    counts = report.locations()["problem"].value_counts().sort_index()
    found = [f"{count:,} {problem.replace('_', ' ')}" for problem, count in counts.items()]
    return ", ".join(found) or "none"


def _reproduction(comparison: Comparison, command: str | None) -> str:
    call = (
        f"compare(traces, n_labels={comparison.n_labels}, seeds={comparison.seeds}, protocol={comparison.protocol!r}, "
        f"uncommitted={comparison.uncommitted!r})"
    )
    packages = ("steelyard", "numpy", "scipy", "jax", "pandas", "matplotlib")
    versions = ", ".join(f"{name} {_version(name)}" for name in packages)
    return (
        f"<pre>{_text(command or call)}</pre><p>Python {platform.python_version()}, {_text(versions)}. A draw depends "
        "on the seed, the fold and the names of tasks alone.</p><p>Method: Counting Moves, Weighing Voices, sections 3 "
        "to 5 and appendix D.1.</p>"
    )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "(not installed)"


# ---- HTML ---------------------------------------------------------------------------------------------------


def _figure(draw: Callable[[Any], None], size: tuple[float, float], caption: str) -> str:
    """Return a figure as inline SVG, its text as text, the same bytes every time."""
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    look: Any = {
        "svg.hashsalt": caption, "svg.fonttype": "none", "font.size": 9.5, "font.family": "sans-serif",
        "axes.edgecolor": "#8a94a0", "xtick.color": "#4a5561", "ytick.color": "#1d2733", "text.color": "#1d2733",
        "axes.labelcolor": "#4a5561",
    }  # fmt: skip
    with mpl.rc_context(look), warnings.catch_warnings():
        # The browser draws the letters; matplotlib's own font need not have them.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        file = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(file, metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :]
    return f"<figure role='img' aria-label='{_text(caption)}'>{svg}<figcaption>{_text(caption)}</figcaption></figure>"


def _section(heading: str, body: str) -> str:
    return f"<section>\n<h2>{_text(heading)}</h2>\n{body}\n</section>\n"


def _paragraphs(lines: tuple[str, ...]) -> str:
    return "".join(f"<p>{_text(line)}</p>" for line in lines)


def _html_table(head: tuple[tuple[str, str], ...], rows: list[list[str]]) -> str:
    top = "".join(f"<th title='{_text(title)}'>{_text(name)}</th>" for name, title in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<div class='wide'><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>"


def _text(value: str) -> str:
    return html.escape("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in value), quote=True)
