"""Parameters of an arm: read, set, printed and checked as scikit-learn expects, without importing scikit-learn.

The constructor stores its arguments verbatim; they are checked when the arm is fitted or applied.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bda.errors import TraceError

__all__ = ["Parameters", "check_number", "check_option", "check_prior", "check_seed"]


class Parameters:
    """Base of classes whose constructor's arguments are their parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments.

        Parameters
        ----------
        deep : bool
            Accepted for scikit-learn; arms do not nest.

        Returns
        -------
        dict
            By name.

        Examples
        --------
        >>> from bda import OneCoin
        >>> OneCoin(alpha=3.0).get_params()["alpha"]
        3.0
        """
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Set constructor arguments.

        Parameters
        ----------
        **params : values
            By name.

        Returns
        -------
        Self
            The arm itself.

        Raises
        ------
        ValueError
            For a name the constructor does not have; then nothing is set.

        Examples
        --------
        >>> from bda import OneCoin
        >>> OneCoin().set_params(temperature=2.0).temperature
        2.0
        """
        known = inspect.signature(type(self)).parameters
        for name in params:
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        changed = {n: v for n, v in self.get_params().items() if repr(v) != repr(default[n])}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=False),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(two_d_array=True, allow_nan=True, string=True),
        )


def check_number(owner: Parameters, *names: str, least: float | None = None, below: float = np.inf) -> None:
    """Raise unless parameters are finite numbers above 0, or from `least` on, and below `below`.

    Parameters
    ----------
    owner : Parameters
        Holds them.
    *names : str
        Which.
    least : float, optional
        The smallest value allowed; by default everything above 0.
    below : float
        Values must be smaller.

    Examples
    --------
    >>> from bda import OneCoin
    >>> check_number(OneCoin(alpha=-1), "alpha")
    Traceback (most recent call last):
        ...
    bda.errors.TraceError: alpha = -1 is out of range; use a number above 0
    """
    for name in names:
        value = getattr(owner, name)
        span = ("above 0" if least is None else f"from {least:g} on") + (f", below {below:g}" if below < np.inf else "")
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise TraceError("is not a number", field=name, value=value, remedy=f"use a number {span}")
        if not (value > 0 if least is None else value >= least) or not value < below:
            raise TraceError("is out of range", field=name, value=value, remedy=f"use a number {span}")


def check_option(owner: Parameters, name: str, options: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of `options`.

    Parameters
    ----------
    owner : Parameters
        Holds it.
    name : str
        Which.
    options : tuple of str
        What it may be.
    """
    value = getattr(owner, name)
    if not isinstance(value, str) or value not in options:
        raise TraceError("is not an option", field=name, value=value, remedy=f"use {', '.join(options)}")


def check_prior(class_prior: Any) -> None:
    """Raise unless a class prior is None or a mapping.

    Parameters
    ----------
    class_prior : object
        What the user passed.
    """
    if class_prior is not None and not isinstance(class_prior, Mapping):
        raise TraceError(
            "is not a mapping", field="class_prior", value=class_prior, remedy="map class names to weights"
        )


def check_seed(seed: Any) -> None:
    """Raise unless `random_state` is an integer.

    Parameters
    ----------
    seed : object
        What the user passed.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TraceError("is not an integer", field="random_state", value=seed, remedy="use an integer seed")
