"""Picking hyperparameters: one batched call against a loop that refits every setting on every inner fold.

    .venv/bin/python benchmarks/selection.py

Both give the same scores (asserted to 1e-10). The loop is this project's own arms, so the ratio says what the
vectorised grid gains and nothing about other tools. Warm: the batched call is timed after one call of the same
shape; cold: in a new process with an empty compilation cache, which the loop does not need.
"""

from __future__ import annotations

import os
import platform
import time

import numpy as np

from bda import Traces, Tuned
from bda.batched import out_of_fold_log_proba
from bda.labels import candidate_positions
from bda.named_arms import named_arm
from bda.splits import group_names, make_splits

JUDGES = "examples/llmbar_judges.jsonl.gz"


def main() -> None:
    """Print one line an arm."""
    traces = Traces.read_jsonl(JUDGES)
    traces = traces.agents(["GPT-4/*", "LLaMA2/*"])
    splits = make_splits(traces, traces.gold, group_names(traces), 25, (0, 1, 2), "nested")
    rows = np.concatenate([split.labelled for split in splits])
    block = np.repeat(np.arange(len(splits)), [len(split.labelled) for split in splits])
    fold = np.concatenate([split.inner for split in splits])
    labelled = traces.tasks(rows)
    gold = candidate_positions(labelled, np.arange(len(rows)), traces.gold[rows])
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, numpy {np.__version__}")
    print(f"{len(traces.agent_names)} agents, {len(splits)} splits of 25 labels")
    for name in ("one-coin", "per-agent", "confusion"):
        tuned = named_arm(name)
        assert isinstance(tuned, Tuned)
        settings = tuned.settings()
        start = time.perf_counter()
        batched = out_of_fold_log_proba(tuned.arm, settings, labelled, gold, block, fold)
        cold = time.perf_counter() - start
        warm = min(_timed(lambda: out_of_fold_log_proba(tuned.arm, settings, labelled, gold, block, fold), 3))  # noqa: B023
        few = list(range(0, len(settings), max(1, len(settings) // 8)))
        start = time.perf_counter()
        looped = _loop(tuned, [settings[i] for i in few], labelled, gold, block, fold)
        loop = (time.perf_counter() - start) * len(settings) / len(few)
        np.testing.assert_allclose(batched[few], looped, rtol=0, atol=1e-10)
        print(
            f"{name:10} {len(settings):4} settings: loop {loop:7.2f} s (from {len(few)} settings), "
            f"batched {cold:.2f} s first, {warm:.3f} s again: {loop / warm:.0f} times"
        )


def _timed(call: object, times: int) -> list[float]:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        call()  # type: ignore[operator]
        found.append(time.perf_counter() - start)
    return found


def _loop(tuned: Tuned, settings: list[dict[str, object]], traces: Traces, gold, block, fold) -> np.ndarray:
    names = [traces.classes[c] for c in traces.candidate_class[gold]]
    result = np.empty((len(settings), len(traces.candidate_class)))
    for b in np.unique(block):
        for f in np.unique(fold[block == b]):
            known = np.flatnonzero((block == b) & (fold != f))
            asked = np.flatnonzero((block == b) & (fold == f))
            where = np.isin(traces.candidate_task, asked)
            learn, test = traces.tasks(known), traces.tasks(asked)
            for i, setting in enumerate(settings):
                arm = type(tuned.arm)(**{**tuned.arm.get_params(), **setting})
                result[i, where] = arm.fit(learn, [names[n] for n in known]).log_proba(test)
    return result


if __name__ == "__main__":
    main()
