"""From Kafka's records to the views that queries read, and from a query's rows to Kafka's records: the SQL of both."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from streamgauge.engines.flink import origin
from streamgauge.engines.flink.description import Input, Sink
from streamgauge.engines.flink.names import listed, literal, name, options
from streamgauge.engines.flink.program import EventTime, Result
from streamgauge.model import Delimited, EngineError, Field, FieldType, Json
from streamgauge.model.origin import HEADER

TYPES = {
    FieldType.STRING: "STRING",
    FieldType.LONG: "BIGINT",
    FieldType.DOUBLE: "DOUBLE",
    FieldType.TIMESTAMP: "TIMESTAMP(3)",
}
RAW = "_raw"
"""Ends the name of the view that has an input's payload as it is, where the stream is JSON."""
_REPLACED = "\ufffd"
_METADATA = (
    "`appended_at` TIMESTAMP_LTZ(3) METADATA FROM 'timestamp' VIRTUAL",
    "`record_partition` INT METADATA FROM 'partition' VIRTUAL",
    "`record_offset` BIGINT METADATA FROM 'offset' VIRTUAL",
)
_IS_UTF8 = f"(POSITION({literal(_REPLACED)} IN `raw`) = 0 OR ENCODE(`raw`, 'UTF-8') = CAST(`raw` AS BYTES))"
"""Flink puts U+FFFD where bytes are no text: only then it is looked at whether it stood there before."""


def epoch_ms(column: str) -> str:
    """SQL: an instant as milliseconds since 1970; Flink casts no time to a number."""
    in_utc = f"CAST({column} AS TIMESTAMP(3))"
    return f"(EXTRACT(EPOCH FROM {in_utc}) * 1000 + EXTRACT(MILLISECOND FROM {in_utc}))"


@dataclass(frozen=True)
class Topic:
    """A topic that is read, the options of its table, and the number of its first partition."""

    options: Mapping[str, str]
    first_partition: int
    since_ms: int
    """The earliest append time, as `origin.first_ms` gives it."""


def source(input_name: str, described: Input, topic: Topic, used: Collection[str], time: EventTime | None) -> list[str]:
    """Statements that make the views of an input: its fields, its origin and, where it is no JSON, `raw`."""
    match described.wire:
        case Json():
            fields = [f for f in described.fields if f.name in used or f.name in described.required]
            parsed = [
                _table(f"{input_name}_records", [_declared(f) for f in fields], topic, _JSON, time),
                _view(
                    input_name,
                    name(f"{input_name}_records"),
                    list(map(_instant, fields)),
                    described.required,
                    topic,
                    time,
                ),
            ]
            if input_name + RAW not in used:
                return parsed
            payloads = [
                _table(f"{input_name}_payloads", ["`raw` STRING"], topic, _PLAIN, None),
                _json_payloads(input_name, described, topic),
            ]
            return [*parsed, *payloads]
        case Delimited(separator):
            return [
                _table(f"{input_name}_records", ["`raw` STRING"], topic, _PLAIN, None),
                _delimited(input_name, described, separator, topic, used),
            ]
    raise EngineError(f"flink does not read the wire format of '{input_name}'")


_PLAIN = {"format": "raw"}
_JSON = {"format": "json", "json.ignore-parse-errors": "true", "json.timestamp-format.standard": "SQL"}


def _declared(field: Field) -> str:
    return f"{name(field.name)} {TYPES[field.type]}"


def _instant(field: Field) -> str:
    """A field as queries see it: a time on the wire is in UTC, and an instant to them."""
    if field.type is not FieldType.TIMESTAMP:
        return name(field.name)
    return f"CAST({name(field.name)} AS TIMESTAMP_LTZ(3)) AS {name(field.name)}"


def _table(table: str, columns: Sequence[str], topic: Topic, wire: Mapping[str, str], time: EventTime | None) -> str:
    columns = [*columns, *_METADATA, "`arrived` AS PROCTIME()"]
    if time is not None:
        # Flink ends the job at an event without a time; such an event is malformed and left out behind.
        known = f"COALESCE({name(time.field)}, TIMESTAMP '1970-01-01 00:00:00')"
        columns += [f"`event_time` AS {known}", f"WATERMARK FOR `event_time` AS `event_time` - {time.delay}"]
    return f"CREATE TEMPORARY TABLE {name(table)} ({', '.join(columns)}) WITH ({options({**topic.options, **wire})})"


def _view(
    view: str,
    table: str,
    columns: Sequence[str],
    required: Sequence[str],
    topic: Topic,
    time: EventTime | None,
    more: Sequence[str] = (),
) -> str:
    """The view of an input; places need the origin's columns, so they are computed one select further out."""
    timed = ["`event_time`"] if time is not None else []
    of_record = [
        f"{epoch_ms('`appended_at`')} AS append_ms",
        f"`record_partition` + {topic.first_partition} AS in_partition",
        "`record_offset` AS in_offset",
        "0 AS part_no",
        "`arrived`",
        *timed,
    ]
    whole = [*more, *(f"{name(each)} IS NOT NULL" for each in required)]
    kept = f" WHERE {' AND '.join(whole)}" if whole else ""
    inner = f"SELECT {', '.join([*columns, *of_record])} FROM {table}"
    return (
        f"CREATE TEMPORARY VIEW {name(view)} AS "
        f"SELECT *, {origin.place(topic.since_ms)} AS {origin.PLACE} FROM ({inner}){kept}"
    )


def _delimited(view: str, described: Input, separator: str, topic: Topic, used: Collection[str]) -> str:
    """The fields between separators; where any is required, the line must have as many as the stream.

    Split as an element of an array that is unnested, a line is split once: the optimiser writes an expression out anew
    wherever a column of it is named.
    """
    wanted = {i: f for i, f in enumerate(described.fields, 1) if f.name in used or f.name in described.required}
    if not wanted:
        return _view(view, name(f"{view}_records"), ["`raw`"], (), topic, None, [_IS_UTF8])
    split = f"{name(f'{view}_records')} CROSS JOIN UNNEST(ARRAY[SPLIT(`raw`, {literal(separator)})]) AS lines (parts)"
    columns = [f"{_typed(f'parts[{i}]', f.type)} AS {name(f.name)}" for i, f in wanted.items()]
    whole = [_IS_UTF8, *([f"parts_number = {len(described.fields)}"] if described.required else [])]
    columns += ["`raw`", "CARDINALITY(parts) AS parts_number"]
    return _view(view, split, columns, described.required, topic, None, whole)


def _json_payloads(input_name: str, described: Input, topic: Topic) -> str:
    """The payloads of the events that are whole, each required field looked up by itself."""
    types = {f.name: f.type for f in described.fields}
    looked_up = {each: f"JSON_VALUE(`raw`, {literal('$.' + each)})" for each in described.required}
    members = [f"{_typed(value, types[each], empty=None)} IS NOT NULL" for each, value in looked_up.items()]
    more = [_IS_UTF8, "`raw` IS JSON OBJECT", *members]
    return _view(input_name + RAW, name(f"{input_name}_payloads"), ["`raw`"], (), topic, None, more)


def _typed(part: str, kind: FieldType, empty: str | None = "") -> str:
    if kind is FieldType.STRING:
        return part if empty is None else f"NULLIF({part}, {literal(empty)})"
    parsed = f"TRY_CAST({part} AS {TYPES[kind]})"
    return f"CAST({parsed} AS TIMESTAMP_LTZ(3))" if kind is FieldType.TIMESTAMP else parsed


Columns = Sequence[tuple[str, str]]
"""Names and types of a query's columns, in order."""


def sink(table: str, columns: Columns, described: Sink, result: Result, kafka: Mapping[str, str]) -> str:
    """The table that an output's rows are inserted into: its columns, and the headers."""
    shown = [each for each in columns if each[0] not in _ORIGINS]
    lines = [f"{name(column)} {kind}" for column, kind in shown]
    lines.append("`headers` MAP<STRING, BYTES> METADATA")
    if result.updates:
        lines.append(f"PRIMARY KEY ({listed(described.key)}) NOT ENFORCED")
    text = described.text or result.document
    given = {
        "connector": "upsert-kafka" if result.updates else "kafka",
        **kafka,
        **_key_options(described.key, dict(shown), result.updates),
        **({"value.format": "raw"} if text else {"value.format": "json", **_json_options("value")}),
        "value.fields-include": "EXCEPT_KEY" if result.document else "ALL",
    }
    return f"CREATE TEMPORARY TABLE {name(table)} ({', '.join(lines)}) WITH ({options(given)})"


def insert(table: str, columns: Columns, result: Result, since_ms: int) -> str:
    """The statement that writes a query's rows with their origin in the headers."""
    shown = [column for column, _ in columns if column not in _ORIGINS]
    packed = any(column == "latest" for column, _ in columns)
    text = origin.text_of_place("`latest`", since_ms) if packed else "`origin`"
    headers = f"MAP[CAST({literal(HEADER)} AS STRING), CAST({text} AS BYTES)]"
    return f"INSERT INTO {name(table)} SELECT {listed(shown)}, {headers} FROM ({result.sql})"


_ORIGINS = ("origin", "latest")


def _key_options(key: Sequence[str], types: Mapping[str, str], upsert: bool) -> dict[str, str]:
    """The key as Spark writes it: one column as its text, several as a JSON object."""
    if not key:
        return {}
    fields = {} if upsert else {"key.fields": ";".join(key)}
    if len(key) > 1:
        return {**fields, "key.format": "json", **_json_options("key")}
    # Flink's raw format would write a number as its bytes.
    return {**fields, "key.format": "raw" if types[key[0]].startswith(("STRING", "VARCHAR", "CHAR")) else "csv"}


def _json_options(part: str) -> dict[str, str]:
    return {f"{part}.json.timestamp-format.standard": "ISO-8601"}


def stored_table(table: str, fields: Sequence[Field], path: str) -> str:
    """A stored table, read once from a CSV file."""
    columns = ", ".join(map(_declared, fields))
    given = {"connector": "filesystem", "path": f"file://{path}", "format": "csv"}
    return f"CREATE TEMPORARY TABLE {name(table)} ({columns}) WITH ({options(given)})"
