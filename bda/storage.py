"""Arms on disk: versioned JSON that executes nothing; applying a loaded arm needs NumPy alone."""

from __future__ import annotations

import json
import math
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bda.errors import TraceError
from bda.reliability import Reliability

if TYPE_CHECKING:
    from bda.arm import Arm

__all__ = ["ARM_HOME", "dump_arm", "load_arm"]

FORMAT = "steelyard.arm"
SCHEMA = 1
ARM_HOME = {
    "BestMember": "bda.votes",
    "Confusion": "bda.confusion",
    "OneCoin": "bda.one_coin",
    "PerAgent": "bda.one_coin",
    "Plurality": "bda.votes",
    "WeightedVote": "bda.votes",
}
ARRAYS = {"gold_classes_": np.int64, "counts_": np.float64}


def dump_arm(arm: Arm, path: str | os.PathLike[str] | None) -> str:
    """Return an arm as JSON text; see `Arm.to_json`."""
    params = arm.get_params()
    if params.get("class_prior") is not None:
        params["class_prior"] = [[name, float(weight)] for name, weight in params["class_prior"].items()]
    content: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "arm": type(arm).__name__,
        "params": {name: _plain(value) for name, value in params.items()},
        "fitted": _fitted(arm) if arm.is_fitted else None,
    }
    text = json.dumps(content, allow_nan=False, ensure_ascii=False)
    if path is not None:
        path = Path(path)
        partial = path.with_name(f".{path.name}.partial")
        partial.write_text(text + "\n", encoding="utf-8")
        os.replace(partial, path)
    return text


def load_arm(path: str | os.PathLike[str]) -> Arm:
    """Read an arm that `to_json` wrote.

    Parameters
    ----------
    path : path
        A JSON file.

    Returns
    -------
    Arm
        Fitted as it was; probabilities are the same to the last bit.

    Raises
    ------
    TraceError
        If the file is not an arm, or of a newer schema.

    Examples
    --------
    >>> import tempfile
    >>> import bda
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = bda.OneCoin(alpha=4.0).to_json(f"{folder}/arm.json")
    ...     bda.load_arm(f"{folder}/arm.json").alpha
    4.0
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as fault:
        raise TraceError(f"is not JSON: {fault}", where=str(path), remedy="pass a file that to_json wrote") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TraceError("is not a saved arm", where=str(path), remedy="pass a file that to_json wrote")
    if content.get("schema") != SCHEMA:
        raise TraceError(
            "is not a known schema", where=str(path), field="schema", value=content.get("schema"),
            remedy=f"this version reads schema {SCHEMA}; upgrade steelyard",
        )  # fmt: skip
    if content.get("arm") not in ARM_HOME:
        raise TraceError(
            "is not an arm", where=str(path), field="arm", value=content.get("arm"),
            remedy=f"arms are {', '.join(ARM_HOME)}",
        )  # fmt: skip
    params = dict(content["params"])
    if params.get("class_prior") is not None:
        params["class_prior"] = {name: weight for name, weight in params["class_prior"]}
    arm: Arm = getattr(import_module(ARM_HOME[content["arm"]]), content["arm"])(**params)
    if content["fitted"] is not None:
        _restore(arm, content["fitted"])
    return arm


def _fitted(arm: Arm) -> dict[str, Any]:
    state: dict[str, Any] = {
        "classes": arm.classes_.tolist(),
        "agents": list(arm.agents_),
        "n_labels": arm.n_labels_,
    }
    if hasattr(arm, "reliability_"):
        found: Reliability = arm.reliability_
        state["reliability"] = {
            "right": found.right.tolist(),
            "wrong": found.wrong.tolist(),
            "chance": [None if math.isnan(c) else c for c in found.chance.tolist()],
            "n_candidates": found.n_candidates,
        }
    for name in ARRAYS:
        if hasattr(arm, name):
            array = getattr(arm, name)
            state[name] = {"shape": list(array.shape), "values": array.ravel().tolist()}
    return state


def _restore(arm: Any, state: dict[str, Any]) -> None:
    names = state["classes"]
    kinds = {type(name) for name in names}
    arm.classes_ = np.array(names) if len(kinds) == 1 else np.array(names, object)
    arm.agents_ = tuple(state["agents"])
    arm.n_labels_ = state["n_labels"]
    if "reliability" in state:
        found = state["reliability"]
        arm.reliability_ = Reliability(
            np.array(found["right"], np.int64),
            np.array(found["wrong"], np.int64),
            np.array([math.nan if c is None else c for c in found["chance"]], float),
            found["n_candidates"],
        )
    for name, dtype in ARRAYS.items():
        if name in state:
            setattr(arm, name, np.array(state[name]["values"], dtype).reshape(state[name]["shape"]))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
