"""The report and the plots: complete, escaped, self-contained, the same bytes twice."""

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

from bda import TraceError, Traces, compare
from bda.plots import plot_calibration, plot_profile, plot_scores, shortened
from bda.report import report_html
from tests.bda.test_comparison import council

NASTY = '<script>alert("x")</script>&amp; $\\frac$ 猫\u202e'


@pytest.fixture(scope="module")
def comparison():
    return compare(council(), ["plurality", "best-member", "per-agent", "confusion"], seeds=(0, 1))


@pytest.fixture(scope="module")
def page(comparison):
    return report_html(comparison, "steelyard evaluate a.jsonl --report <b>.html")


class Structure(HTMLParser):
    """Checks that every element is closed, and collects what refers outside."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.outside, self.tags, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in {"meta", "br", "link", "img", "input", "hr"}:
            self.open.append(tag)
        for name, value in attrs:
            local = (value or "").startswith("#")
            if name in {"src", "href", "xlink:href", "srcset", "action"} and not local:
                self.outside.append((tag, name, value))
            assert not name.startswith("on"), f"{tag} has {name}"

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def structure(page):
    parser = Structure()
    parser.feed(page)
    parser.close()
    assert not parser.open
    return parser


def test_well_formed_and_self_contained(page):
    found = structure(page)
    assert found.outside == []
    assert "script" not in found.tags
    assert not re.search(r"url\((?!#)|@import", page)


def test_holds_what_the_issue_asks(page, comparison):
    text = " ".join(structure(page).text)
    for heading in ("What came out", "Are the probabilities honest?", "The agents", "Three verdicts, explained",
                    "What was assumed", "How to reproduce"):  # fmt: skip
        assert heading in text
    assert page.count("<svg") == 3
    assert page.count("<h3>") == 3
    for name in (*comparison.arms, *comparison.traces.agent_names):
        assert str(name) in text
    assert "steelyard evaluate a.jsonl --report <b>.html" in text


def test_numbers_are_those_of_the_summary(page, comparison):
    for row in comparison.summary().itertuples():
        assert f"<b>{row.accuracy:.3f}</b>" in page
        assert f"<b>{row.brier:.3f}</b>" in page


def test_first_verdict_has_plurality_wrong_and_the_council_right(page, comparison):
    task = re.search(r"<h3>Plurality is wrong, the weighed council right</h3><p>Task <b>(.*?)</b>", page).group(1)
    frame = comparison.predictions
    row = frame[(frame["task"].map(str) == task) & (frame["seed"] == 0) & (frame["arm"] == "per-agent")].iloc[0]
    assert row["correct"]
    assert not row["round0_correct"]
    assert row["fold"] == 0
    assert task not in set(comparison.draws.query("seed == 0 and fold == 0")["task"].map(str))


def test_same_bytes(comparison, page):
    again = compare(council(), ["plurality", "best-member", "per-agent", "confusion"], seeds=(0, 1))
    assert report_html(again, "steelyard evaluate a.jsonl --report <b>.html") == page


def test_names_are_escaped():
    rng = np.random.default_rng(2)
    gold = rng.integers(2, size=80)
    names = [f"{NASTY}{i}" for i in range(3)]
    classes = (f"{NASTY}yes", "no")
    records = [
        {
            "task": f"{NASTY}{n}",
            "candidates": list(classes),
            "gold": classes[g],
            "moves": [
                {
                    "agent": a,
                    "round": 0,
                    "type": "propose",
                    "answer": classes[g if rng.random() < 0.7 else 1 - g],
                }
                for a in names
            ],
        }
        for n, g in enumerate(gold)
    ]
    found = compare(Traces.from_records(records), {NASTY: "per-agent", "plurality": "plurality"}, seeds=(0,))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nor does a letter that the plotting font lacks make a noise
        page = report_html(found, command=NASTY, title=NASTY)
    parsed = structure(page)
    assert "script" not in parsed.tags
    assert "<script" not in page
    assert "\u202e" not in page  # nothing can turn the direction of the text
    assert parsed.text.count("\u202e") == 0


def test_a_report_without_profile_or_plurality():
    found = compare(council(), "plurality", seeds=(0,))
    assert "Three verdicts" not in report_html(found)
    structure(report_html(compare(council(), "confusion", seeds=(0,))))


def test_many_agents_stay_readable():
    traces = council(100, reliable=tuple(np.linspace(0.2, 0.9, 60)))
    page = compare(traces, ["plurality", "per-agent"], seeds=(0,)).to_html()
    assert "All 60 agents" in page
    assert "20 agents between" in page
    structure(page)


# ---- plots --------------------------------------------------------------------------------------------------


def test_scores_plot_shows_every_arm(comparison):
    ax = comparison.plot("accuracy")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(comparison.arms)
    offsets = ax.collections[1].get_offsets()
    np.testing.assert_allclose(offsets[:, 0], comparison.summary()["accuracy"])
    with pytest.raises(TraceError, match=r"'f1'.*accuracy, brier, log_loss"):
        plot_scores(comparison.summary(), "f1")


def test_profile_plot_is_sorted_and_marks_negative_weights(comparison):
    profile = comparison.fitted["per-agent"].profile_
    ax = plot_profile(profile, held_out=np.linspace(0, 1, len(profile)))
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown == [str(a) for a in profile.sort_values("mean", ascending=False)["agent"]]
    dots = ax.collections[1]
    np.testing.assert_allclose(dots.get_offsets()[:, 0], sorted(profile["mean"], reverse=True))
    red = [tuple(c[:3]) == tuple(dots.get_facecolors()[-1][:3]) for c in dots.get_facecolors()]
    ordered = profile.sort_values("mean", ascending=False)
    assert red == (ordered["weight"] < 0).tolist()
    assert any(red)
    assert not all(red)


def test_calibration_plots_one_an_arm(comparison):
    axes = plot_calibration(comparison, ["plurality", "confusion"])
    assert [ax.get_title() for ax in axes] == ["plurality", "confusion"]


def test_plots_leave_no_figure_behind(comparison):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    comparison.plot()
    report_html(comparison)
    assert plt.get_fignums() == before


@pytest.mark.parametrize("name", ["short", "x" * 500, "tab\tand\nline", ""])
def test_shortened(name):
    found = shortened(name, 20)
    assert len(found) <= 20
    assert found.isprintable()
