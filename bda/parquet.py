"""Traces as one Parquet table: a row a move, and a row for every task without moves.

The file's own metadata holds what rows cannot say: classes in their order, agents without a move, and a version.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bda.errors import TraceError
from bda.frames import from_frame, long_columns
from bda.labels import offered
from bda.trace_files import json_text, refuse_repeated_tasks
from bda.whole_files import appearing

if TYPE_CHECKING:
    from bda.traces import Traces

__all__ = ["read_parquet", "write_parquet"]

KEY = b"steelyard.traces"
SCHEMA = 1


def write_parquet(traces: Traces, path: str | os.PathLike[str]) -> None:
    """Write one Parquet table; see `Traces.write_parquet`."""
    _need_pyarrow()
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    refuse_repeated_tasks(traces)
    columns = long_columns(traces, silent=True)
    position = [traces.position(name) for name in columns["task"]]
    columns["candidates"] = _texts(traces, [offered(traces, n) for n in range(len(traces))])[position]
    if traces.meta is not None:
        columns["meta"] = _texts(traces, [dict(meta) for meta in traces.meta])[position]
    try:
        table = pa.Table.from_pandas(pd.DataFrame(columns), preserve_index=False)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError) as fault:
        raise TraceError(
            f"cannot be written as Parquet: {fault}",
            where=str(path),
            remedy="give tasks, agents and classes names of one type each, or write JSON lines",
        ) from None
    about = {"schema": SCHEMA, "classes": list(traces.classes), "agents": list(traces.agent_names)}
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), KEY: json.dumps(about).encode()})
    with appearing(path) as partial:
        pq.write_table(table, partial)


def read_parquet(path: str | os.PathLike[str]) -> Traces:
    """Read what `write_parquet` wrote, or another long table; see `Traces.read_parquet`."""
    _need_pyarrow()
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        about = _about((pq.read_schema(path).metadata or {}).get(KEY), path)
        frame = pd.read_parquet(path, engine="pyarrow", dtype_backend="numpy_nullable")
    except pa.ArrowException as fault:
        raise TraceError(
            f"is not a whole Parquet file: {fault}", where=str(path), remedy="copy the file again, or write it again"
        ) from None
    return from_frame(frame, classes=about.get("classes"), agents=about.get("agents", ()))


def _about(text: bytes | None, path: str | os.PathLike[str]) -> dict[str, Any]:
    about: dict[str, Any] = {"schema": SCHEMA}
    if text is not None:
        try:
            about = dict(json.loads(text))
        except (ValueError, TypeError):
            raise TraceError(
                "is not what write_parquet writes", where=str(path), field="metadata", value=text,
                remedy="write the file again, or drop its metadata to read it as another long table",
            ) from None  # fmt: skip
    if about.get("schema") != SCHEMA:
        raise TraceError(
            "is not a known schema",
            where=str(path),
            field="schema",
            value=about.get("schema"),
            remedy=f"this version reads schema {SCHEMA}; upgrade steelyard",
        )
    return about


def _texts(traces: Traces, values: list[Any]) -> NDArray[np.object_]:
    texts = np.empty(len(values), object)
    texts[:] = [json_text(value, task, value) for value, task in zip(values, traces.task_ids, strict=True)]
    return texts


def _need_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as fault:
        raise ImportError("Parquet needs pyarrow: pip install 'steelyard[parquet]'") from fault
