"""Arms by name, and the arms that a comparison takes when it is told none.

A name stands for an arm whose hyperparameters the inner folds pick from the grids of `bda.selection`; with
`-untempered` its temperature stays at 1. Plurality, the best member and the weighted vote have nothing to pick.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bda.arm import Arm
from bda.confusion import Confusion
from bda.errors import TraceError
from bda.one_coin import OneCoin, PerAgent
from bda.selection import KAPPAS, PRIOR_ACCURACIES, PRIOR_COUNTS, PRIOR_STRENGTHS, TEMPERATURES, Tuned
from bda.votes import BestMember, Plurality, WeightedVote

__all__ = ["ARM_NAMES", "Contender", "named_arm", "read_arms"]

Contender = Arm | Tuned
READINGS = ("composite", "set", "ignore")

_ARMS: dict[str, type[Arm]] = {
    "plurality": Plurality,
    "best-member": BestMember,
    "weighted-vote": WeightedVote,
    "one-coin": OneCoin,
    "per-agent": PerAgent,
    "confusion": Confusion,
    "one-coin-untempered": OneCoin,
    "per-agent-untempered": PerAgent,
    "confusion-untempered": Confusion,
}
ARM_NAMES = tuple(_ARMS)

Grid = dict[str | tuple[str, ...], tuple[Any, ...]]
_GRIDS: dict[type[Arm], Grid] = {
    OneCoin: {("alpha", "beta"): PRIOR_COUNTS},
    PerAgent: {("alpha", "beta"): PRIOR_COUNTS, "kappa": KAPPAS},
    Confusion: {"prior_strength": PRIOR_STRENGTHS, "prior_accuracy": PRIOR_ACCURACIES},
}


def named_arm(name: str, challenged: bool = False) -> Contender:
    """Return the arm that a name stands for.

    Parameters
    ----------
    name : str
        One of `ARM_NAMES`.
    challenged : bool
        Whether the traces hold challenges: only then does the confusion model's grid try their readings.

    Returns
    -------
    Arm or Tuned
        Tuned where there is something to pick.

    Raises
    ------
    TraceError
        For another name.

    Examples
    --------
    >>> sorted(named_arm("confusion-untempered").grid)
    ['prior_accuracy', 'prior_strength']
    """
    if name not in _ARMS:
        raise TraceError("is not an arm", field="arms", value=name, remedy=f"use {', '.join(_ARMS)}")
    kind = _ARMS[name]
    if kind not in _GRIDS:
        return kind()
    grid = dict(_GRIDS[kind])
    if kind is Confusion and challenged:
        grid["challenge"] = READINGS
    if not name.endswith("-untempered"):
        grid["temperature"] = TEMPERATURES
    return Tuned(kind(), grid)


def read_arms(arms: Any, challenged: bool) -> dict[str, Contender]:
    """Return what a user passed as arms, by name.

    Parameters
    ----------
    arms : None, str, Arm, Tuned, iterable of these, or mapping from name to these
        None takes all of `ARM_NAMES`.
    challenged : bool
        As in `named_arm`.

    Returns
    -------
    dict
        From name to Arm or Tuned, in the order given.

    Raises
    ------
    TraceError
        For anything else, or two arms of one name.
    """
    if arms is None:
        arms = ARM_NAMES
    if isinstance(arms, str | Arm | Tuned):
        arms = [arms]
    if isinstance(arms, Mapping):
        pairs = [(str(name), arm) for name, arm in arms.items()]
    elif isinstance(arms, Iterable):
        pairs = [(_name(arm), arm) for arm in arms]
    else:
        raise _not_an_arm(arms)
    found: dict[str, Contender] = {}
    for name, arm in pairs:
        contender = named_arm(arm, challenged) if isinstance(arm, str) else arm
        if not isinstance(contender, Arm | Tuned):
            raise _not_an_arm(arm)
        if name in found:
            raise TraceError("names two arms", field="arms", value=name, remedy="pass a mapping with a name for each")
        found[name] = contender
    if not found:
        raise TraceError("is empty", field="arms", value=arms, remedy="name at least one arm, or pass None for all")
    return found


def _name(arm: Any) -> str:
    if isinstance(arm, Tuned):
        return f"{arm.arm!r} tuned"
    return arm if isinstance(arm, str) else repr(arm)


def _not_an_arm(value: Any) -> TraceError:
    return TraceError("is not an arm", field="arms", value=value, remedy=f"pass an arm or a name: {', '.join(_ARMS)}")
