"""Output bytes as typed columns, vectorised; a record that cannot be read is counted, never fatal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.model.application import Matching, Output, PerEvent
from streamgauge.model.errors import UserError
from streamgauge.model.wire import Json, Text
from streamgauge.store.tables import Table, attach, column_types, columns, detach, quoted, text_literal

ENVELOPE = (
    "partition",
    "offset",
    "append_ms",
    "origin_append_ms",
    "origin_partition",
    "origin_offset",
    "origin_ordinal",
)
"""Columns that every output has beside its own."""

CHUNK_RECORDS = 500_000
_RAW = pa.schema([*((name, pa.int64()) for name in ENVELOPE), ("value", pa.binary())])
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}


@dataclass(frozen=True)
class Decoded:
    """Where the decoded outputs lie, and how many records were read and could not be read."""

    path: Path
    rows: int
    undecodable: int
    """Records left out of the file; the verdict counts them as unexpected."""


def matched_columns(matching: Matching) -> tuple[str, ...]:
    """The columns of an output that its matching looks at."""
    if isinstance(matching, PerEvent):
        return matching.values
    return (*matching.key, *matching.values)


def decode_outputs(
    batches: Iterable[pa.RecordBatch],
    output: Output,
    expected_rows: Table,
    destination: Path,
    *,
    connection: duckdb.DuckDBPyConnection,
) -> Decoded:
    """Write outputs (envelope, value bytes) to Parquet as columns of the types of the oracle's answer.

    A record is undecodable when its bytes are not UTF-8 or not one JSON object, or when a member does not fit its
    column's type (a fraction in a whole-number column included). A member that is missing or null is NULL.
    """
    attach(connection, "expected_rows", expected_rows)
    types = column_types(connection, "expected_rows")
    detach(connection, "expected_rows")
    names = matched_columns(output.matching)
    _check_names(output, names, types)
    decoding = _decoding(output, {name: types[name] for name in names})
    query = f"select {columns((*ENVELOPE, *names))} from ({decoding}) where __readable"
    total = rows = 0
    writer: pq.ParquetWriter | None = None
    try:
        for chunk in _chunks(batches):
            attach(connection, "raw_outputs", chunk)
            readable: pa.Table = connection.sql(query).to_arrow_table()
            detach(connection, "raw_outputs")
            total, rows = total + len(chunk), rows + len(readable)
            writer = writer or pq.ParquetWriter(destination, readable.schema, compression="lz4")
            writer.write_table(readable)
    finally:
        if writer is not None:
            writer.close()
    return Decoded(destination, rows, total - rows)


def _chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The batches in tables of about CHUNK_RECORDS, at least one, so that an empty topic has its columns too."""
    kept: list[pa.RecordBatch] = []
    given = False
    for batch in batches:
        kept.append(batch)
        if sum(map(len, kept)) >= CHUNK_RECORDS:
            yield pa.Table.from_batches(kept)
            kept, given = [], True
    if kept or not given:
        yield pa.Table.from_batches(kept, schema=None if kept else _RAW)


def _check_names(output: Output, names: tuple[str, ...], types: Mapping[str, str]) -> None:
    for name in names:
        if name in ENVELOPE:
            raise UserError(f"output '{output.stage}' has a column '{name}', a name that is taken", "Rename the column")
        if name not in types:
            raise UserError(
                f"the oracle of '{output.stage}' gives no column '{name}'",
                f"Its rows have {', '.join(types)}: add it, or name another in the matching",
            )


def _decoding(output: Output, types: Mapping[str, str]) -> str:
    if isinstance(output.wire, Text):
        if list(types) != [output.wire.column]:
            raise UserError(
                f"output '{output.stage}' is the text of '{output.wire.column}' alone, but is matched on "
                + ", ".join(types),
                "Match on that column, or let the output be Json()",
            )
        name, type_name = next(iter(types.items()))
        return _in_steps("try(decode(value))", {name: _typed("__payload", type_name)}, f"{quoted(name)} is not null")
    if isinstance(output.wire, Json):
        structure = text_literal(json.dumps(dict.fromkeys(types, "VARCHAR")))
        members = {name: f"__payload.{quoted(name)}" for name in types}
        fits = "".join(f" and ({text} is null or {quoted(name)} is not null)" for name, text in members.items())
        return _in_steps(
            f"case when starts_with(ltrim(try(decode(value)), e' \\t\\r\\n'), '{{')"
            f" then json_transform(try_cast(try(decode(value)) as json), {structure}) end",
            {name: _typed(text, types[name]) for name, text in members.items()},
            f"__payload is not null{fits}",
        )
    raise UserError(f"output '{output.stage}' is written in a format that is not read back", "Use Json() or Text()")


def _in_steps(payload: str, typed: Mapping[str, str], readable: str) -> str:
    """SQL from bytes to columns; each step is materialised, or else the parsing would run again for every column."""
    listed = "".join(f", {expression} as {quoted(name)}" for name, expression in typed.items())
    return f"""
        with parsed as materialized (select {columns(ENVELOPE)}, {payload} as __payload from raw_outputs),
        typed as materialized (select *{listed} from parsed)
        select *, {readable} as __readable from typed
    """


def _typed(text: str, type_name: str) -> str:
    """SQL for a text as a value of the type, NULL where it does not fit."""
    if type_name == "VARCHAR":
        return text
    if type_name in _WHOLE:
        # A cast alone would round 5.7 to 6 and so hide a wrong value.
        return f"case when translate({text}, '-0123456789', '') = '' then try_cast({text} as {type_name}) end"
    if type_name.endswith("]") or type_name.startswith(("STRUCT", "MAP")):
        return f"try_cast(try_cast({text} as json) as {type_name})"
    return f"try_cast({text} as {type_name})"
