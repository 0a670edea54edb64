"""Bayesian deliberation aggregation: traces, evidence, posteriors, arms, selection.

Names are resolved on first use, so that `from bda import Traces, OneCoin` loads NumPy and nothing heavier.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "BestMember": "bda.votes",
    "Comparison": "bda.comparison",
    "Confusion": "bda.confusion",
    "EvidenceWarning": "bda.errors",
    "NotFittedError": "bda.errors",
    "OneCoin": "bda.one_coin",
    "PerAgent": "bda.one_coin",
    "Plurality": "bda.votes",
    "ProtocolReport": "bda.protocol",
    "TraceError": "bda.errors",
    "TraceWarning": "bda.errors",
    "Traces": "bda.traces",
    "Tuned": "bda.selection",
    "Verdict": "bda.verdict",
    "WeightedVote": "bda.votes",
    "compare": "bda.comparison",
    "load_arm": "bda.storage",
}

__all__ = [
    "BestMember",
    "Comparison",
    "Confusion",
    "EvidenceWarning",
    "NotFittedError",
    "OneCoin",
    "PerAgent",
    "Plurality",
    "ProtocolReport",
    "TraceError",
    "TraceWarning",
    "Traces",
    "Tuned",
    "Verdict",
    "WeightedVote",
    "compare",
    "load_arm",
]

if TYPE_CHECKING:
    from bda.comparison import Comparison, compare
    from bda.confusion import Confusion
    from bda.errors import EvidenceWarning, NotFittedError, TraceError, TraceWarning
    from bda.one_coin import OneCoin, PerAgent
    from bda.protocol import ProtocolReport
    from bda.selection import Tuned
    from bda.storage import load_arm
    from bda.traces import Traces
    from bda.verdict import Verdict
    from bda.votes import BestMember, Plurality, WeightedVote


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'bda' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
