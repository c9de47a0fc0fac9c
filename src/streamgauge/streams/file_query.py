"""Reads a published data set's own file format as a query of DuckDB over its columns."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pyarrow as pa

from streamgauge.model.errors import UserError
from streamgauge.store.tables import text_literal


def query_file(path: Path, layout: str, query: str, wanted: str) -> pa.Table:
    """The rows of `query`, which reads the file's columns as the table `lines`; gzip too if the name ends in .gz.

    `layout` is what DuckDB's read_csv needs to know of the format, and `wanted` says for an error what a line looks
    like. A file that is missing, empty or unreadable is a UserError with the line where it is known.
    """
    if not path.is_file():
        raise UserError(f"there is no file {path}", f"Each line needs {wanted}")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty", f"Each line needs {wanted}")
    with duckdb.connect() as connection:
        connection.execute("set preserve_insertion_order = true; set timezone = 'UTC'")
        lines = f"read_csv({text_literal(str(path))}, strict_mode = true, {layout})"
        try:
            rows = connection.sql(f"with lines as (from {lines}) {query}").to_arrow_table()
        except duckdb.Error as error:
            raise UserError(_where(path, str(error)), f"Each line needs {wanted}") from None
    if rows.num_rows == 0:
        raise UserError(f"{path} has no events", f"Each line needs {wanted}")
    return rows


def _where(path: Path, message: str) -> str:
    line = re.search(r"Line: (\d+)", message)
    told = re.search(r"Could not convert string \"(.*?)\"", message)
    reason = f"'{told[1]}' is not a number" if told else re.sub(r"^.*Error: ", "", message.splitlines()[0])
    return f"{path}, line {line[1]}: {reason}" if line else f"{path}: {reason}"
