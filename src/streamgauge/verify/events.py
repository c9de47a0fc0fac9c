"""The events of a trial as an oracle sees them: one view per input stream, in bounded memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from streamgauge.model.errors import UserError
from streamgauge.store.tables import Table, attach, connect, one_row, quoted


class Events:
    """What was published, a table per input: index, partition, offset, append_ms, due_ms, bytes and its fields."""

    def __init__(self, inputs: Mapping[str, Table], spill_folder: Path) -> None:
        self.connection = connect(spill_folder)
        self.names = tuple(inputs)
        for name, table in inputs.items():
            attach(self.connection, name, table)

    def sql(self, query: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> duckdb.DuckDBPyRelation:
        """The rows of a query over the inputs, each a table of its name."""
        try:
            return self.connection.sql(query, params=params)
        except duckdb.Error as error:
            first_line = str(error).splitlines()[0]
            raise UserError(
                f"the oracle's query failed: {first_line}", f"It can read the inputs {', '.join(self.names)}"
            ) from error

    def count(self, name: str) -> int:
        """How many events of that input are in the log."""
        (count,) = one_row(self.connection, f"select count(*) from {quoted(name)}")
        return int(count)

    def close(self) -> None:
        """Let go of the connection and of what it spilled."""
        self.connection.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if isinstance(error, duckdb.OutOfMemoryException):
            raise UserError(
                f"the trial is too large for its figures to be taken: {str(error).splitlines()[0]}",
                "Publish fewer events, with --for or --events",
            ) from error
