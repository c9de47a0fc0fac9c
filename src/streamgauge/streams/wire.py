"""Writes blocks of events as the bytes of their wire format, a column at a time."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Stream
from streamgauge.model.wire import Delimited, Json, Template, Text

_SECONDS_PER_DAY = 86_400
_CONTROL_CHARACTERS = [chr(code) for code in range(0x20)]


def encode(stream: Stream, batch: pa.RecordBatch) -> pa.BinaryArray:
    """The payload of each event of the block: the same events always give the same bytes."""
    columns = [_column(stream, batch, field.name) for field in stream.fields]
    match stream.wire:
        case Delimited(separator):
            payload = _joined([text_of(c) for c in columns], separator)
        case Text(column):
            payload = pc.fill_null(text_of(_column(stream, batch, column)), "")
        case Template():
            payload = _filled(stream.wire, {f.name: text_of(c) for f, c in zip(stream.fields, columns, strict=True)})
        case Json():
            payload = _json_objects([f.name for f in stream.fields], columns)
    return payload.cast(pa.large_binary() if pa.types.is_large_string(payload.type) else pa.binary())


def text_of(column: pa.Array) -> pa.StringArray:
    """Each value as it is written on the wire; a missing value stays missing."""
    if pa.types.is_timestamp(column.type):
        return _timestamp_text(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column
    return column.cast(pa.string())


def _column(stream: Stream, batch: pa.RecordBatch, name: str) -> pa.Array:
    position = batch.schema.get_field_index(name)
    if position < 0:
        raise UserError(
            f"stream '{stream.name}' made a block without its field '{name}'",
            "Its source's block() must return every field of the stream",
        )
    return batch.column(position)


def _joined(texts: list[pa.StringArray], separator: str) -> pa.StringArray:
    """The texts of each row with the separator between them; hazard: a text with the separator in it is not quoted."""
    if len(texts) == 1:
        return pc.fill_null(texts[0], "")
    return pc.binary_join_element_wise(*texts, separator, null_handling="replace", null_replacement="")


def _filled(template: Template, texts: dict[str, pa.StringArray]) -> pa.StringArray:
    """The template's line for each row; hazard: a text that holds what follows it in the template is not quoted."""
    names, between = template.pieces
    parts: list[pa.Array | pa.Scalar] = [pa.scalar(between[0])]
    for name, after in zip(names, between[1:], strict=True):
        parts += [pc.fill_null(texts[name], "-"), pa.scalar(after)]
    return pc.binary_join_element_wise(*parts, "")


@cache
def _clock_bytes() -> np.ndarray:
    """The eight bytes of `hh:mm:ss` for every second of a day, each as one word."""
    seconds = np.arange(_SECONDS_PER_DAY)
    digits = np.empty((_SECONDS_PER_DAY, 8), dtype=np.uint8)
    for place, part in zip((0, 3, 6), (seconds // 3600, seconds // 60 % 60, seconds % 60), strict=True):
        digits[:, place] = part // 10 + ord("0")
        digits[:, place + 1] = part % 10 + ord("0")
    digits[:, [2, 5]] = ord(":")
    return digits.view(np.uint64).ravel()


_TICKS_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_STAMP = np.dtype([("date", "S11"), ("clock", np.uint64)])


def _timestamp_text(column: pa.Array) -> pa.StringArray:
    """`YYYY-MM-DD hh:mm:ss` for each instant, from a table of the days and a table of the seconds of a day."""
    seconds = pc.fill_null(column.cast(pa.int64()), 0).to_numpy() // _TICKS_PER_SECOND[column.type.unit]
    days, seconds_of_day = np.divmod(seconds, _SECONDS_PER_DAY)
    if len(days) and (days.min() < -719_528 or days.max() > 2_932_896):
        raise UserError("a timestamp lies outside the years 0000 to 9999", "The wire format has four digits for a year")
    stamps = np.empty(len(seconds), dtype=_STAMP)
    stamps["date"] = _dates(days)
    stamps["clock"] = _clock_bytes()[seconds_of_day]
    offsets = np.arange(0, (len(seconds) + 1) * _STAMP.itemsize, _STAMP.itemsize, dtype=np.int32)
    validity = pc.is_valid(column).buffers()[1] if column.null_count else None
    return pa.StringArray.from_buffers(len(seconds), pa.py_buffer(offsets), pa.py_buffer(stamps), validity)


def _dates(days: np.ndarray) -> np.ndarray:
    """The eleven bytes of `YYYY-MM-DD ` for each day number since 1970."""
    if not len(days):
        return np.empty(0, dtype="S11")
    first, last = int(days.min()), int(days.max())
    distinct, position = (
        (np.arange(first, last + 1), days - first)
        if last - first < 4 * len(days) + 64
        else np.unique(days, return_inverse=True)
    )
    texts = np.datetime_as_string(distinct.astype("datetime64[D]")).astype("S10")
    return np.char.add(texts, b" ")[position]


def _json_objects(names: list[str], columns: list[pa.Array]) -> pa.StringArray:
    """One JSON object per row with its members in the order of the fields; a missing value is null."""
    pieces: list[pa.Array | str] = []
    for position, (name, column) in enumerate(zip(names, columns, strict=True)):
        pieces.append(("{" if position == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":")
        pieces.append(pc.fill_null(_json_value(column), "null"))
    scalars = [pa.scalar(p) if isinstance(p, str) else p for p in [*pieces, "}"]]
    return pc.binary_join_element_wise(*scalars, "")


def _json_value(column: pa.Array) -> pa.StringArray:
    if pa.types.is_floating(column.type):
        return text_of(pc.if_else(pc.is_finite(column), column, pa.scalar(None, column.type)))
    text = text_of(column)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = _json_escaped(text)
    elif not pa.types.is_timestamp(column.type):
        return text
    quote = pa.scalar('"', text.type)
    return pc.binary_join_element_wise(quote, text, quote, pa.scalar("", text.type))


def _json_escaped(text: pa.StringArray) -> pa.StringArray:
    if _is_plain(text):
        return text
    text = pc.replace_substring(text, "\\", "\\\\")
    text = pc.replace_substring(text, '"', '\\"')
    if pc.any(pc.match_substring_regex(text, "[\\x00-\\x1f]")).as_py():
        for character in _CONTROL_CHARACTERS:
            text = pc.replace_substring(text, character, f"\\u{ord(character):04x}")
    return text


def _is_plain(text: pa.StringArray) -> bool:
    """Whether no text has a character that JSON escapes: one look at all the bytes, where escaping takes four."""
    _, offsets, data = text.buffers()
    width = np.int64 if pa.types.is_large_string(text.type) else np.int32
    places = np.frombuffer(offsets, width)[text.offset : text.offset + len(text) + 1] if offsets else np.zeros(1, width)
    if data is None or places[-1] == places[0]:
        return True
    content = np.frombuffer(data, np.uint8)[places[0] : places[-1]]
    if content.min() < 0x20:
        return False
    return not any(mark in content.tobytes() for mark in (b'"', b"\\"))
