"""Replays a recorded file of a stream, looped to any length with a continuous timeline (BO19)."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.json

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source
from streamgauge.model.wire import Delimited, Field, FieldType, Json, Template, Text, WireFormat
from streamgauge.streams.schema import arrow_schema, column

_WAY_OUT = "Give a file in the format of the stream, one event per line"


@dataclass(frozen=True)
class RecordedEvents:
    """The events of a file in the file's order, again and again, each round later than the one before."""

    events: pa.RecordBatch
    round_shift_s: int
    """How much later each round is: the file's span of time and one mean gap."""
    ms_fields: tuple[str, ...] = ()
    """Fields of whole numbers that are instants in milliseconds, and move with the timestamps."""

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        rounds, rows = np.divmod(np.arange(start, start + count, dtype=np.int64), self.events.num_rows)
        block = self.events.take(column(rows))
        shift = column(rounds * self.round_shift_s).cast(pa.duration("s"))
        shift_ms = column(rounds * self.round_shift_s * 1000)
        shifted = []
        for name, values in zip(block.schema.names, block.columns, strict=True):
            if pa.types.is_timestamp(values.type):
                values = pc.add(values, shift)
            elif name in self.ms_fields:
                values = pc.add(values, shift_ms)
            shifted.append(values)
        return pa.RecordBatch.from_arrays(shifted, schema=self.events.schema)


def recorded_source(
    path: Path, stream_fields: Sequence[Field], wire: WireFormat, ms_fields: tuple[str, ...] = ()
) -> Source:
    """The events of a file in the stream's wire format, looped; `ms_fields` are instants in milliseconds."""
    return looped(read_events(path, stream_fields, wire), ms_fields)


def read_events(path: Path, fields: Sequence[Field], wire: WireFormat) -> pa.Table:
    """The events of a file in the wire format, gzip too if its name ends in .gz; a header is skipped."""
    if not path.is_file():
        raise UserError(f"there is no file {path}", _WAY_OUT)
    try:
        table = _read(path, fields, wire)
    except (OSError, EOFError) as error:
        raise UserError(f"{path} cannot be read: {error}", "Check the file and its permissions") from None
    if table.num_rows == 0:
        raise UserError(f"{path} has no events", _WAY_OUT)
    return table


def looped(events: pa.Table, ms_fields: tuple[str, ...] = ()) -> RecordedEvents:
    """The events again and again; `ms_fields` are instants in milliseconds."""
    batch = events.combine_chunks().to_batches()[0]
    return RecordedEvents(batch, _round_shift_s(batch, ms_fields), ms_fields)


def _round_shift_s(events: pa.RecordBatch, ms_fields: tuple[str, ...]) -> int:
    """The longest span of any instant plus one mean gap, so that no field ever jumps back between rounds."""
    spans: list[int] = []
    for name, values in zip(events.schema.names, events.columns, strict=True):
        if name not in ms_fields and not pa.types.is_timestamp(values.type):
            continue
        if values.null_count < len(values):
            limits = pc.min_max(values.cast(pa.int64()))
            span = int(limits["max"].as_py() - limits["min"].as_py())
            spans.append(-(-span // 1000) if name in ms_fields else span)
    if not spans:
        return 0
    span = max(spans)
    mean_gap = span / max(events.num_rows - 1, 1)
    return int(span + max(1, round(mean_gap)))


def _read(path: Path, fields: Sequence[Field], wire: WireFormat) -> pa.Table:
    match wire:
        case Delimited(separator):
            return _read_delimited(path, fields, separator)
        case Text(name):
            return _read_lines(path, fields, name)
        case Json():
            return _read_json(path, fields)
        case Template():
            return _read_template(path, fields, wire)


def _opened(path: Path) -> gzip.GzipFile:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value]


def file_content(path: Path) -> bytes:
    """All bytes of a file, packed or not."""
    if not path.is_file():
        raise UserError(f"there is no file {path}", "Check the path")
    try:
        with _opened(path) as file:
            return file.read()
    except (OSError, EOFError) as error:
        raise UserError(f"{path} cannot be read: {error}", "Check the file and its permissions") from None


def first_line(path: Path) -> str:
    """The first line of a file, packed or not, without its end."""
    with _opened(path) as file:
        return file.readline().decode("utf-8", "replace").rstrip("\r\n")


def _read_delimited(path: Path, fields: Sequence[Field], separator: str) -> pa.Table:
    first = first_line(path)
    if not first:
        with _opened(path) as file:
            if not file.read(1 << 16).strip():
                raise UserError(f"{path} is empty", _WAY_OUT)
    header_lines = 1 if _is_header(first.split(separator), fields) else 0
    schema = arrow_schema(fields)
    try:
        return pyarrow.csv.read_csv(
            path,
            # One thread: only then does a parse error know its row.
            pyarrow.csv.ReadOptions(use_threads=False, column_names=schema.names, skip_rows=header_lines),
            pyarrow.csv.ParseOptions(delimiter=separator, quote_char=False, double_quote=False),
            pyarrow.csv.ConvertOptions(
                column_types=schema, null_values=[""], strings_can_be_null=True, timestamp_parsers=[pyarrow.csv.ISO8601]
            ),
        )
    except pa.ArrowInvalid as error:
        if "Empty CSV file" in str(error):
            raise UserError(f"{path} has no events", _WAY_OUT) from None
        raise _unreadable(path, str(error), f"{len(fields)} fields: {', '.join(schema.names)}") from None


def _is_header(texts: list[str], fields: Sequence[Field]) -> bool:
    """A first line is a header when it names columns: no number or time stands where the fields want one."""
    if len(texts) != len(fields):
        return False
    typed = [(t, f) for t, f in zip(texts, fields, strict=True) if f.type is not FieldType.STRING and t]
    if not typed:
        return [t.lower() for t in texts] == [f.name.lower() for f in fields]
    return not any(_parses(text, field.type) for text, field in typed)


def _parses(text: str, type_: FieldType) -> bool:
    try:
        datetime.fromisoformat(text) if type_ is FieldType.TIMESTAMP else float(text)
    except ValueError:
        return False
    return True


def _read_json(path: Path, fields: Sequence[Field]) -> pa.Table:
    with _opened(path) as file:
        content = file.read()
    if not content.strip():
        raise UserError(f"{path} is empty", _WAY_OUT)
    schema = arrow_schema(fields)
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(content),
            pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(content) + 1, 1 << 20)),
            pyarrow.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid as error:
        raise _unreadable(path, str(error), f"members: {', '.join(schema.names)}") from None
    return table.select(schema.names)


def _read_lines(path: Path, fields: Sequence[Field], name: str) -> pa.Table:
    with _opened(path) as file:
        lines = file.read().splitlines()
    if not lines:
        raise UserError(f"{path} is empty", _WAY_OUT)
    if [f.name for f in fields] != [name]:
        raise UserError(
            f"a stream of plain text has the one field '{name}'", "Declare that field alone, or another wire format"
        )
    try:
        return pa.table({name: pa.array(lines, pa.binary()).cast(pa.string())})
    except pa.ArrowInvalid:
        raise UserError(f"{path} is not UTF-8 text", "Convert the file and try again") from None


def _read_template(path: Path, fields: Sequence[Field], template: Template) -> pa.Table:
    lines = _read_lines(path, [Field("line", FieldType.STRING)], "line")["line"].combine_chunks()
    names, between = template.pieces
    pattern = "^" + re.escape(between[0])
    pattern += "".join(f"(?P<{n}>.*?){re.escape(after)}" for n, after in zip(names, between[1:], strict=True)) + "$"
    found = pc.extract_regex(lines, pattern)
    if found.null_count:
        first = int(pc.index(pc.is_null(found), True).as_py()) + 1
        raise UserError(f"{path}, line {first} is not in the stream's format", f"Each line looks like {template.text}")
    schema = arrow_schema(fields)
    columns = []
    for field in schema:
        text = pc.struct_field(found, field.name)
        missing = pc.or_(pc.equal(text, "-"), pc.equal(text, ""))
        try:
            columns.append(pc.if_else(missing, pa.scalar(None, text.type), text).cast(field.type))
        except pa.ArrowInvalid as error:
            raise _unreadable(path, str(error), f"{field.name} as {field.type}") from None
    return pa.table(columns, schema=schema)


def _unreadable(path: Path, message: str, wanted: str) -> UserError:
    """The reader's complaint with the line of the file, as far as the reader knows it."""
    row = re.search(r"[Rr]ow #?(\d+)", message)
    where = f"{path}, line {row[1]}" if row else str(path)
    told = re.sub(r"^.*?[Rr]ow #?\d+:?\s*", "", message.splitlines()[0]).strip().rstrip(".")
    return UserError(f"{where}: {told}", f"Each line needs {wanted}")
