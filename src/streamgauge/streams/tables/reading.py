"""Reading a stored table from a CSV file: quotes where they are needed, a header line if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from streamgauge.model.errors import UserError
from streamgauge.model.wire import Field
from streamgauge.streams.schema import arrow_schema


def text_of_file(path: Path) -> str:
    """The file's text, not empty."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"there is no file {path}", "Give the file of the stored table") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "Check the file and its permissions") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text", "Convert the file and try again") from None
    if not text.strip():
        raise UserError(f"{path} is empty", "Give a file with a row per line")
    return text


def read_csv(path: Path, fields: Sequence[Field]) -> pa.Table:
    """The rows of a CSV file whose columns are these fields in this order; an empty cell is null."""
    text, names = text_of_file(path), [f.name for f in fields]
    has_header = [cell.strip('" ').lower() for cell in text.partition("\n")[0].split(",")] == names
    way_out = f"Each line needs {len(names)} columns: {', '.join(names)}"
    try:
        rows = pyarrow.csv.read_csv(
            pa.BufferReader(text.encode()),
            # One thread: only then does a parse error know its row.
            pyarrow.csv.ReadOptions(use_threads=False, column_names=names, skip_rows=1 if has_header else 0),
            pyarrow.csv.ParseOptions(newlines_in_values=True),
            pyarrow.csv.ConvertOptions(column_types=arrow_schema(fields), null_values=[""], strings_can_be_null=True),
        )
    except pa.ArrowInvalid as error:
        raise UserError(f"{path}: {str(error).splitlines()[0].rstrip('.')}", way_out) from None
    if rows.num_rows == 0:
        raise UserError(f"{path} has no rows", way_out)
    return rows


def checked(rows: pa.Table, fields: Sequence[Field], key: str, path: Path) -> pa.Table:
    """The rows, if no field that must be there is missing and no value of the key stands in two rows."""
    for each in fields:
        if not each.optional and rows[each.name].null_count:
            row = int(pc.index(pc.is_null(rows[each.name]), True).as_py()) + 1
            raise UserError(f"{path}: row {row} has no {each.name}", "Complete the row or take it out")
    counts = pc.value_counts(rows[key])
    repeated = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(repeated):
        value = repeated.field("values")[0].as_py()
        raise UserError(f"{path}: {key} '{value}' stands in two rows", "Keep one of them")
    return rows
