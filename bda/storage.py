"""Arms on disk: versioned JSON that executes nothing; applying a loaded arm needs NumPy alone."""

from __future__ import annotations

import json
import math
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.inputs import name_array
from bda.names import Name, plain_name
from bda.reliability import Reliability
from bda.whole_files import appearing

if TYPE_CHECKING:
    from bda.arm import Arm

__all__ = ["ARM_HOME", "ARRAYS", "dump_arm", "load_arm"]

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
WITHOUT_RECORD = {"Plurality"}  # every other arm keeps its agents' labelled record, `reliability_`
ARRAYS: dict[str, dict[str, type[np.generic]]] = {"Confusion": {"gold_classes_": np.int64, "counts_": np.float64}}


def dump_arm(arm: Arm, path: str | os.PathLike[str] | None) -> str:
    """Return an arm as JSON text; see `Arm.to_json`.

    Parameters
    ----------
    arm : Arm
        One of `ARM_HOME`, fitted or not.
    path : path, optional
        Where to write it; the file appears whole or not at all.

    Returns
    -------
    str
        JSON.

    Raises
    ------
    TraceError
        If `load_arm` could not read it back.
    """
    kind = type(arm)
    if ARM_HOME.get(kind.__name__) != kind.__module__:
        raise TraceError(
            "cannot be saved, because load_arm does not know it",
            field="arm",
            value=kind.__name__,
            remedy=f"arms that can be saved are {', '.join(ARM_HOME)}",
        )
    arm._check()
    params = {name: _plain(value) for name, value in arm.get_params().items()}
    if params.get("class_prior") is not None:
        params["class_prior"] = [[plain_name(c, "class_prior"), float(w)] for c, w in params["class_prior"].items()]
    content: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "arm": kind.__name__,
        "params": params,
        "fitted": _fitted(arm) if arm.is_fitted else None,
    }
    text = json.dumps(content, allow_nan=False)
    if path is not None:
        with appearing(path) as partial:
            partial.write_text(text + "\n", encoding="utf-8")
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
        If the file is not an arm, of another schema, or damaged.

    Examples
    --------
    >>> import tempfile
    >>> import bda
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = bda.OneCoin(alpha=4.0).to_json(f"{folder}/arm.json")
    ...     bda.load_arm(f"{folder}/arm.json").alpha
    4.0
    """
    where, remedy = str(path), "pass a file that to_json wrote"
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise TraceError(f"is not JSON: {fault}", where=where, remedy=remedy) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TraceError("is not a saved arm", where=where, remedy=remedy)
    if content.get("schema") != SCHEMA:
        raise TraceError(
            "is not a known schema",
            where=where,
            field="schema",
            value=content.get("schema"),
            remedy=f"this version reads schema {SCHEMA}; upgrade steelyard or save the arm again",
        )
    if content.get("arm") not in list(ARM_HOME):
        raise TraceError(
            "is not an arm",
            where=where,
            field="arm",
            value=content.get("arm"),
            remedy=f"arms are {', '.join(ARM_HOME)}",
        )
    try:
        return _read_arm(content)
    except TraceError as fault:
        raise TraceError(
            fault.problem,
            where=where,
            field=fault.field,
            value=fault.value,
            remedy="the file is damaged: save the arm again",
        ) from None


def _refuse_constant(token: str) -> NoReturn:
    raise ValueError(f"it holds {token}, which no saved arm does")


# ---- reading ------------------------------------------------------------------------------------------------


def _read_arm(content: dict[str, Any]) -> Arm:
    kind = getattr(import_module(ARM_HOME[content["arm"]]), content["arm"])
    params = dict(_get(content, "params", dict))
    expected = kind().get_params()
    if params.keys() != expected.keys():
        raise TraceError("are not the arm's", field="params", value=sorted(params))
    if params.get("class_prior") is not None:
        pairs = params["class_prior"]
        if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
            raise TraceError("is not a list of pairs", field="class_prior", value=pairs)
        _names([name for name, _ in pairs], "class_prior")
        params["class_prior"] = dict(pairs)
    arm: Arm = kind(**params)
    arm._check()
    if "fitted" not in content:
        raise TraceError("is missing", field="fitted", value=None)
    if content["fitted"] is not None:
        _restore(arm, _get(content, "fitted", dict))
    return arm


def _restore(arm: Any, state: dict[str, Any]) -> None:
    classes, agents = _names(_get(state, "classes", list), "classes"), _names(_get(state, "agents", list), "agents")
    sizes = {"agents": len(agents), "classes": len(classes)}
    name = type(arm).__name__
    if name not in WITHOUT_RECORD:
        arm.reliability_ = _reliability(_get(state, "reliability", dict), len(agents))
    arrays = {key: _array(state, key, dtype) for key, dtype in ARRAYS.get(name, {}).items()}
    if name == "Confusion":
        _check_counts(arrays["gold_classes_"], arrays["counts_"], sizes)
    for key, array in arrays.items():
        setattr(arm, key, array)
    arm.classes_, arm.agents_ = name_array(classes), agents
    arm.n_labels_ = int(_counts([_get(state, "n_labels", int)], "n_labels", 1)[0])


def _reliability(state: dict[str, Any], n_agents: int) -> Reliability:
    chance = _get(state, "chance", list)
    if len(chance) != n_agents or not all(c is None or (_is_number(c) and 0 <= c <= 1) for c in chance):
        raise TraceError("is not a chance in 0..1 for each agent", field="chance", value=chance)
    n_candidates = _get(state, "n_candidates", int)
    if n_candidates < 2:
        raise TraceError("is below 2", field="n_candidates", value=n_candidates)
    return Reliability(
        _counts(_get(state, "right", list), "right", n_agents),
        _counts(_get(state, "wrong", list), "wrong", n_agents),
        np.array([math.nan if c is None else c for c in chance], float),
        n_candidates,
    )


def _check_counts(gold_classes: NDArray[Any], counts: NDArray[Any], sizes: dict[str, int]) -> None:
    inside = gold_classes.ndim == 1 and ((gold_classes >= 0) & (gold_classes < sizes["classes"])).all()
    if not inside or (np.diff(gold_classes) <= 0).any():
        raise TraceError("are not codes of the arm's classes", field="gold_classes_", value=gold_classes.tolist())
    if counts.shape != (sizes["agents"], len(gold_classes), sizes["classes"]):
        raise TraceError("has another shape than agents x gold classes x classes", field="counts_", value=counts.shape)
    if not (counts >= 0).all():
        raise TraceError("holds a negative count", field="counts_", value=float(counts.min()))


def _get(state: dict[str, Any], key: str, kind: type) -> Any:
    value = state.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TraceError("is missing" if key not in state else f"is not a {kind.__name__}", field=key, value=value)
    return value


def _names(values: list[Any], field: str) -> tuple[Name, ...]:
    if not all(isinstance(value, (str, int)) for value in values) or len(set(values)) < len(values):
        raise TraceError("holds something that is no name, or a name twice", field=field, value=values)
    return tuple(values)


def _counts(values: list[Any], field: str, n: int) -> NDArray[np.int64]:
    whole = all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**63 for v in values)
    if len(values) != n or not whole:
        raise TraceError(f"is not {n} counts", field=field, value=values)
    return np.array(values, np.int64)


def _array(state: dict[str, Any], key: str, dtype: type[np.generic]) -> NDArray[Any]:
    stored = _get(state, key, dict)
    shape, values = _get(stored, "shape", list), _get(stored, "values", list)
    sizes = _counts(shape, f"{key}.shape", len(shape)).tolist()
    if not all(_is_number(v) and abs(v) < 2**63 for v in values) or math.prod(sizes) != len(values):
        raise TraceError(f"does not hold the {math.prod(sizes)} numbers of its shape", field=key, value=len(values))
    return np.array(values, dtype).reshape(sizes)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# ---- writing ------------------------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _fitted(arm: Arm) -> dict[str, Any]:
    state: dict[str, Any] = {"classes": arm.classes_.tolist(), "agents": list(arm.agents_), "n_labels": arm.n_labels_}
    if type(arm).__name__ not in WITHOUT_RECORD:
        found: Reliability = getattr(arm, "reliability_")  # noqa: B009 - Plurality has none
        state["reliability"] = {
            "right": found.right.tolist(),
            "wrong": found.wrong.tolist(),
            "chance": [None if math.isnan(c) else c for c in found.chance.tolist()],
            "n_candidates": found.n_candidates,
        }
    for name in ARRAYS.get(type(arm).__name__, {}):
        array = getattr(arm, name)
        state[name] = {"shape": list(array.shape), "values": array.ravel().tolist()}
    return state
