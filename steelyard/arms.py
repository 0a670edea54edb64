"""Arms on the command line: `per-agent`, `per-agent:kappa=10,temperature=2`, or a name and `--set kappa=10`."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from steelyard.printing import say, shown

if TYPE_CHECKING:
    from bda.arm import Arm
    from bda.selection import Tuned
    from bda.traces import Traces

__all__ = ["EXAMPLES", "add_setting_arguments", "named_arm", "say_unknown", "tunable"]

EXAMPLES = ("plurality", "best-member", "weighted-vote", "one-coin", "per-agent", "confusion")


def add_setting_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--set`, which sets parameters of an arm.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The command's own parser.

    Examples
    --------
    >>> import argparse
    >>> from steelyard.arms import add_setting_arguments
    >>> parser = argparse.ArgumentParser()
    >>> add_setting_arguments(parser)
    >>> parser.parse_args(["--set", "kappa=10"]).set
    ['kappa=10']
    """
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="PARAM=VALUE",
        help="set parameters of the arm (kappa=10); an unknown one is answered with those there are",
    )


def named_arm(text: str, settings: Sequence[str] = ()) -> Arm:
    """Return an arm by name, not fitted.

    Parameters
    ----------
    text : str
        A name, perhaps with parameters: `per-agent:kappa=10,temperature=2`.
    settings : sequence of str
        More parameters, as `name=value`; they win over those in `text`.

    Returns
    -------
    Arm
        With these parameters, all others at their defaults.

    Raises
    ------
    TraceError
        For a name, parameter or value that does not exist.

    Examples
    --------
    >>> from steelyard.arms import named_arm
    >>> named_arm("per-agent:kappa=10", ["temperature=2"])
    PerAgent(kappa=10.0, temperature=2.0)
    """
    return _parsed(text, settings)[0]


def tunable(text: str, settings: Sequence[str] = (), challenged: bool = False) -> Tuned | Arm:
    """Return an arm by name together with the grid that the inner folds search.

    Parameters
    ----------
    text : str
        As in `named_arm`.
    settings : sequence of str
        As in `named_arm`.
    challenged : bool
        Whether the traces hold challenges, so that readings of a challenge belong to the grid.

    Returns
    -------
    Tuned or Arm
        What was set is held fixed and leaves the grid; an arm without a grid is returned as it is.

    Examples
    --------
    >>> from steelyard.arms import tunable
    >>> list(tunable("per-agent:kappa=10").grid)
    [('alpha', 'beta'), 'temperature']
    """
    from bda.named_arms import named_arm as with_grid
    from bda.selection import Tuned

    arm, values = _parsed(text, settings)
    found = with_grid(text.partition(":")[0], challenged)
    if not isinstance(found, Tuned):
        return arm
    grid = {axis: tried for axis, tried in found.grid.items() if not values & _names(axis)}
    return Tuned(arm, grid) if grid else arm


def say_unknown(arm: Arm, traces: Traces) -> None:
    """Say which agents a fit did not meet: a slip in a name, or another file than was meant, shows here.

    Parameters
    ----------
    arm : Arm
        Fitted or not.
    traces : Traces
        What it is applied to.

    Examples
    --------
    >>> from bda import PerAgent, Traces
    >>> from steelyard.arms import say_unknown
    >>> arm = PerAgent().fit(Traces.from_votes([[0], [1]], agents=["ada"]), [0, 1])
    >>> say_unknown(arm, Traces.from_votes([[0, 1]], agents=["ada", "cox"]))
    """
    if not (arm.needs_labels and arm.is_fitted):
        return
    known = set(arm.agents_)
    unknown = [name for name in traces.agent_names if name not in known]
    if unknown:
        few = ", ".join(map(shown, unknown[:5])) + (", ..." if len(unknown) > 5 else "")
        say(f"{len(unknown)} of {len(traces.agent_names)} agents had no part in the fit; its prior weighs them: {few}")


def _parsed(text: str, settings: Sequence[str]) -> tuple[Arm, set[str]]:
    """Return an arm with its parameters, and the names of those that were set."""
    from bda.errors import TraceError
    from bda.named_arms import ARM_NAMES
    from bda.named_arms import named_arm as with_grid
    from bda.selection import Tuned

    name, colon, inside = text.partition(":")
    if name not in ARM_NAMES:
        remedy = f"{_near(name, ARM_NAMES)}arms are {', '.join(ARM_NAMES)}"
        raise TraceError("is not an arm", field="arm", value=name, remedy=remedy)
    found = with_grid(name)
    arm = found.arm if isinstance(found, Tuned) else found
    default = arm.get_params()
    values: dict[str, Any] = {}
    for setting in [*(inside.split(",") if colon else ()), *settings]:
        param, equals, value = (part.strip() for part in setting.partition("="))
        if not equals:
            raise TraceError("is not a setting", where=name, field="setting", value=setting, remedy="write name=value")
        if param not in default:
            raise TraceError(
                "is not there", where=name, field="parameter", value=param,
                remedy=f"{_near(param, default)}parameters are {', '.join(default)}",
            )  # fmt: skip
        values[param] = _value(param, value, default[param])
    arm.set_params(**values)
    arm._check()  # now, rather than after a long file is read
    return arm, set(values)


def _value(param: str, text: str, default: Any) -> Any:
    """Return a value of the type that the parameter's default has; class_prior, whose default is None, is JSON."""
    from bda.errors import TraceError

    def refuse(kind: str) -> TraceError:
        return TraceError(f"is not {kind}", field=param, value=text, remedy=f"write --set {param}=" + example)

    example = repr(default)
    if isinstance(default, str):
        return text
    if default is None:
        example = """'{"A": 0.3, "B": 0.7}'"""
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not all(type(weight) in (int, float) for weight in found.values()):
            raise refuse("a JSON object from class to weight")
        return found
    try:
        return type(default)(text)
    except ValueError:
        raise refuse("a whole number" if isinstance(default, int) else "a number") from None


def _near(word: str, known: Any) -> str:
    near = difflib.get_close_matches(word, list(known), 1)
    return f"did you mean {near[0]!r}? " if near else ""


def _names(axis: str | tuple[str, ...]) -> set[str]:
    return {axis} if isinstance(axis, str) else set(axis)
