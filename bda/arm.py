"""The shape of an arm: what every aggregator shares.

An arm stores its constructor's arguments (`bda.parameters`), learns from labelled traces in `fit`, and returns
probabilities of candidates. It follows scikit-learn's conventions without importing scikit-learn.
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bda.errors import NotFittedError, TraceError, TraceWarning
from bda.evidence import VIEW_REMEDY, is_view
from bda.inputs import as_traces, name_array
from bda.labels import candidate_positions, gold_codes
from bda.names import Name
from bda.parameters import Parameters, check_seed
from bda.ties import Decisions, decide
from bda.traces import Traces
from bda.verdict import Contributions, Verdict, explain

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MOST_CLASSES", "Arm", "Contributions", "as_traces"]

MOST_CLASSES = 1000

Floats = NDArray[np.float64]


class Arm(Parameters, ABC):
    """Base of every aggregator. Subclasses define `_check`, `_learn`, `_log_proba` and `_contributions`."""

    needs_labels: ClassVar[bool] = True
    random_state: int
    view: str
    fit_view: str  # of arms that learn
    classes_: NDArray[Any]
    agents_: tuple[Name, ...]
    n_labels_: int

    def __sklearn_is_fitted__(self) -> bool:
        return not self.needs_labels or self.is_fitted

    @property
    def is_fitted(self) -> bool:
        """Whether `fit` was called."""
        return hasattr(self, "classes_")

    # ---- learning ---------------------------------------------------------------------------------------

    def fit(self, traces: Any, labels: Any = None) -> Self:
        """Learn from the labelled tasks.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.
        labels : None, mapping, Series or array, optional
            None takes the gold inside. By task name (mapping, Series) or aligned to tasks (array); missing
            means unlabelled. Tasks that a mapping names beyond `traces` are left out.

        Returns
        -------
        Self
            The arm, with `classes_`, `agents_` and its own fitted attributes.

        Raises
        ------
        TraceError
            If there is no label and the arm needs one, or a label is not a candidate of its task.

        Examples
        --------
        >>> from bda import PerAgent, Traces
        >>> traces = Traces.from_votes([[0, 1], [1, 1], [0, 1]], agents=["ada", "cox"])
        >>> PerAgent().fit(traces, [0, 1, 0]).agents_
        ('ada', 'cox')
        """
        traces = as_traces(traces)
        self._check()
        gold = gold_codes(traces, labels)
        labelled = np.flatnonzero(gold >= 0)
        if self.needs_labels and not len(labelled):
            raise TraceError(
                f"none of the {len(traces)} tasks has a label, and {type(self).__name__} learns from labels",
                remedy="pass labels=, or use an arm that needs none (OneCoin, Plurality)",
            )
        learnt = traces.tasks(labelled)
        self._learn(learnt, candidate_positions(learnt, np.arange(len(labelled)), gold[labelled]))
        self.classes_ = name_array(traces.classes)
        self.agents_ = traces.agent_names
        self.n_labels_ = len(labelled)
        return self

    # ---- applying ---------------------------------------------------------------------------------------

    def predict_proba(self, traces: Any) -> Floats:
        """Return the probability of every class for every task.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.

        Returns
        -------
        float64 array, shape (n_tasks, n_classes)
            Columns follow `classes_` (before a fit: `traces.classes`); 0 where a class is not a candidate of
            the task; rows sum to one.

        Raises
        ------
        NotFittedError
            If the arm needs a fit first.
        TraceError
            Above 1,000 classes, or if a task offers a class that `fit` did not see.

        Examples
        --------
        >>> from bda import Plurality, Traces
        >>> Plurality().predict_proba(Traces.from_votes([[0, 1, 1]])).round(3).tolist()
        [[0.333, 0.667]]
        """
        traces = self._ready(traces)
        columns = self._columns(traces)
        if len(self._class_names(traces)) > MOST_CLASSES:
            raise TraceError(
                f"there are {len(self._class_names(traces)):,} classes, too many for a dense table",
                remedy="call predict_candidates(traces) for (task, candidate, probability)",
            )
        proba = np.zeros((len(traces), len(self._class_names(traces))))
        proba[traces.candidate_task, columns[traces.candidate_class]] = np.exp(self._numbers(traces))
        return proba

    def predict_candidates(self, traces: Any) -> pd.DataFrame:
        """Return the probability of every candidate of every task as a long table.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.

        Returns
        -------
        DataFrame
            Columns task, candidate, probability; any number of classes.

        Examples
        --------
        >>> from bda import Plurality, Traces
        >>> Plurality().predict_candidates(Traces.from_votes([[0, 0]], classes=2))["probability"].tolist()
        [1.0, 0.0]
        """
        import pandas as pd

        traces = self._ready(traces)
        return pd.DataFrame(
            {
                "task": traces.task_ids[traces.candidate_task],
                "candidate": name_array(traces.classes)[traces.candidate_class],
                "probability": np.exp(self._numbers(traces)),
            }
        )

    def predict(self, traces: Any) -> NDArray[Any]:
        """Return the most probable candidate of every task.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.

        Returns
        -------
        array, shape (n_tasks,)
            Class names; ties (within 1e-9 in log probability) are broken by a draw keyed by `random_state` and
            the task's name. `decide` also returns how many were tied.

        Examples
        --------
        >>> from bda import Plurality, Traces
        >>> Plurality().predict(Traces.from_votes([[0, 1, 1]])).tolist()
        [1]
        """
        traces = self._ready(traces)
        chosen = self._decide(traces, self._numbers(traces)).candidate
        return np.asarray(name_array(traces.classes)[traces.candidate_class[chosen]])

    def decide(self, traces: Any) -> Decisions:
        """Return the chosen candidate of every task and how many were tied for it.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.

        Returns
        -------
        Decisions
            Positions among all candidates, and numbers tied.

        Examples
        --------
        >>> from bda import Plurality, Traces
        >>> Plurality().decide(Traces.from_votes([[0, 1]])).tied.tolist()
        [2]
        """
        traces = self._ready(traces)
        return self._decide(traces, self._numbers(traces))

    def score(self, traces: Any, labels: Any = None) -> float:
        """Return the accuracy on the labelled tasks.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.
        labels : None, mapping, Series or array, optional
            As in `fit`.

        Returns
        -------
        float
            Share of labelled tasks whose prediction is right.

        Examples
        --------
        >>> from bda import Plurality, Traces
        >>> Plurality().score(Traces.from_votes([[0, 0, 1], [1, 1, 0]]), [0, 0])
        0.5
        """
        traces = self._ready(traces)
        gold = gold_codes(traces, labels)
        chosen = traces.candidate_class[self._decide(traces, self._numbers(traces)).candidate]
        if not (gold >= 0).any():
            raise TraceError("no task has a label to score against", remedy="pass labels=")
        return float(np.mean((chosen == gold)[gold >= 0]))

    def log_proba(self, traces: Any) -> Floats:
        """Return log probabilities of all candidates, flat, in the order of `traces.candidate_class`.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.

        Returns
        -------
        float64 array, shape (n_candidates,)
            Nats; -inf where the probability is exactly 0.

        Examples
        --------
        >>> from bda import OneCoin, Traces
        >>> OneCoin().log_proba(Traces.from_votes([[0, 0], [1, 0]])).shape
        (4,)
        """
        return self._numbers(self._ready(traces))

    def explain(self, traces: Any, task: Name) -> Verdict:
        """Return the verdict on one task with each agent's part in it.

        Parameters
        ----------
        traces : Traces, long frame, or wide array of votes
            What agents said.
        task : name
            A task of `traces`.

        Returns
        -------
        Verdict
            Winner, runner-up, and every agent's log evidence for the one over the other.

        Examples
        --------
        >>> from bda import OneCoin, Traces
        >>> traces = Traces.from_votes([[0, 0, 1]], agents=["ada", "bo", "cy"], tasks=["q1"])
        >>> OneCoin().explain(traces, "q1").winner
        0
        """
        traces = self._ready(traces)
        return explain(self, traces[traces.position(task)])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the arm as JSON, and write it to `path` if one is given.

        Parameters
        ----------
        path : path, optional
            Where to write it.

        Returns
        -------
        str
            Versioned JSON; `bda.load_arm` reads it and needs NumPy alone to apply it.

        Examples
        --------
        >>> from bda import OneCoin
        >>> OneCoin().to_json()[:25]
        '{"format": "steelyard.arm'
        """
        from bda.storage import dump_arm

        return dump_arm(self, path)

    # ---- for subclasses ---------------------------------------------------------------------------------

    def _check(self) -> None:
        for name in ("view", "fit_view"):
            if name in self.get_params() and not is_view(getattr(self, name)):
                raise TraceError("is not a view", field=name, value=getattr(self, name), remedy=VIEW_REMEDY)
        check_seed(self.random_state)

    @abstractmethod
    def _learn(self, traces: Traces, gold_candidate: NDArray[np.int64]) -> None:
        """Learn from labelled tasks; `gold_candidate` is each one's true position among all candidates."""

    @abstractmethod
    def _log_proba(self, traces: Traces) -> Floats:
        """Return log probabilities of all candidates, flat."""

    @abstractmethod
    def _contributions(self, traces: Traces) -> Contributions:
        """Return what speaks for every candidate of a single task."""

    def _require_fit(self) -> None:
        if not self.is_fitted:
            raise NotFittedError(f"this {type(self).__name__} is not fitted; call fit(traces, labels) first")

    def _numbers(self, traces: Traces) -> Floats:
        """Return log probabilities, or raise where parameters too extreme for float64 leave none."""
        found = self._log_proba(traces)
        if np.isnan(found).any():
            task = traces.task_ids[traces.candidate_task[np.isnan(found)][0]]
            raise TraceError(f"{self!r} has no finite answer", field="task", value=task, remedy="use milder parameters")
        return found

    def _decide(self, traces: Traces, log_proba: Floats) -> Decisions:
        return decide(traces, log_proba, int(self.random_state))

    def _ready(self, traces: Any) -> Traces:
        self._check()
        if self.needs_labels:
            self._require_fit()
        asked = as_traces(traces, self.classes_ if self.is_fitted else None)
        if self.needs_labels and asked.agent_names and not set(self.agents_) & set(asked.agent_names):
            warnings.warn(
                f"none of these agents (such as {asked.agent_names[0]!r}) was met in fit (such as "
                f"{next(iter(self.agents_), None)!r}); all get the prior reliability: name agents as in fit",
                TraceWarning,
                stacklevel=3,
            )
        return asked

    def _class_names(self, traces: Traces) -> NDArray[Any]:
        return self.classes_ if self.is_fitted else name_array(traces.classes)

    def _columns(self, traces: Traces) -> NDArray[np.int64]:
        """Return the column of each class of `traces`."""
        position = {name: i for i, name in enumerate(self._class_names(traces).tolist())}
        columns = np.array([position.get(name, -1) for name in traces.classes], np.int64)
        offered = np.unique(traces.candidate_class)
        unseen = [traces.classes[c] for c in offered if columns[c] < 0]
        if unseen:
            raise TraceError(
                "is offered here but was no class when the arm was fitted",
                field="class",
                value=unseen[0],
                remedy="fit on traces that name every class, or call predict_candidates",
            )
        return columns

    def _fitted_agent(self, traces: Traces) -> NDArray[np.int64]:
        """Return each agent's position in `agents_`, -1 for one that `fit` did not meet."""
        position = {name: i for i, name in enumerate(self.agents_)}
        return np.array([position.get(name, -1) for name in traces.agent_names], np.int64)
