"""Records in, rows out: the source's decoding, the outputs' encoding, and the codec between queries."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from streamgauge.model import (
    Delimited,
    Emits,
    Expected,
    Field,
    FieldType,
    Json,
    LatestPerKey,
    Output,
    PerEvent,
    Stage,
    Stream,
    Template,
    Text,
    UserError,
)

pytestmark = pytest.mark.spark

FIELDS = (
    Field("user", FieldType.LONG),
    Field("query", FieldType.STRING),
    Field("at", FieldType.TIMESTAMP),
    Field("share", FieldType.DOUBLE),
)
APPENDED = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
APPENDED_MS = 1767323045678


def stream(wire: Any) -> Stream:
    return Stream("test", "a test", FIELDS, wire, synthetic=lambda seed: None)  # type: ignore[arg-type, return-value]


def kafka_records(spark: Any, *values: bytes) -> Any:
    rows = [(bytearray(v), 1, 40 + i, APPENDED) for i, v in enumerate(values)]
    return spark.createDataFrame(rows, "value binary, partition int, offset long, timestamp timestamp")


def test_a_delimited_line_becomes_fields_and_an_origin(spark: Any) -> None:
    from streamgauge.engines.spark.source import decode_stream

    lines = (b"7\ta b\t2006-03-01 07:17:12\t0.25", b"x\t\t\t", b"7", b"")
    rows = decode_stream(kafka_records(spark, *lines), stream(Delimited("\t")), first_partition=10).collect()
    assert rows[0].asDict(recursive=True) == {
        "user": 7,
        "query": "a b",
        "at": rows[0]["at"],
        "share": 0.25,
        "raw": "7\ta b\t2006-03-01 07:17:12\t0.25",
        "origin": {"append_ms": APPENDED_MS, "partition": 11, "offset": 40, "ordinal": 0},
    }
    assert str(rows[0]["at"]) == "2006-03-01 07:17:12"
    for row in rows[1:]:
        assert (row["query"], row["at"], row["share"]) == (None, None, None)
    assert [row["user"] for row in rows[1:]] == [None, 7, None]
    assert [row["origin"]["offset"] for row in rows] == [40, 41, 42, 43]


@pytest.mark.parametrize("separator", ["|", ",", "."])
def test_a_separator_is_a_character_and_not_a_pattern(spark: Any, separator: str) -> None:
    from streamgauge.engines.spark.source import decode_stream

    line = separator.join(["7", "words", "2006-03-01 07:17:12", "1"]).encode()
    assert decode_stream(kafka_records(spark, line), stream(Delimited(separator)), 0).first()["query"] == "words"


def test_json_becomes_fields_and_what_is_no_json_becomes_nulls(spark: Any) -> None:
    from streamgauge.engines.spark.source import decode_stream

    good = json.dumps({"user": 7, "query": "a", "at": "2006-03-01 07:17:12", "share": 0.5}).encode()
    rows = decode_stream(kafka_records(spark, good, b"{not json"), stream(Json()), 0).collect()
    assert (rows[0]["user"], rows[0]["query"], str(rows[0]["at"]), rows[0]["share"]) == (
        7,
        "a",
        "2006-03-01 07:17:12",
        0.5,
    )
    assert (rows[1]["user"], rows[1]["query"], rows[1]["raw"]) == (None, None, "{not json")


def frame(spark: Any) -> Any:
    schema = (
        "word string, seen long, share double, at timestamp, parts array<string>, "
        "origin struct<append_ms: long, partition: int, offset: long, ordinal: int>"
    )
    rows = [
        ('a"b,', 2**53 + 1, 0.1 + 0.2, APPENDED.replace(microsecond=123456), ["x", None], (5, 0, 8, 3)),
        (None, None, float("nan"), None, None, (6, 1, 9, 0)),
    ]
    return spark.createDataFrame(rows, schema)


def unused_oracle(events: Any) -> Expected:
    raise AssertionError("not called")


def test_an_output_carries_its_key_its_columns_and_its_origin(spark: Any) -> None:
    from streamgauge.engines.spark.codec import encode_output

    output = Output("count", unused_oracle, LatestPerKey(("word",), {"seen": "rises"}))
    record = encode_output(frame(spark).select("word", "seen", "origin"), output).first()
    assert record["key"] == 'a"b,'
    assert json.loads(record["value"]) == {"word": 'a"b,', "seen": 2**53 + 1}
    assert [(h["key"], bytes(h["value"])) for h in record["headers"]] == [("origin", b"5,0,8,3")]


def test_a_text_output_is_the_text_alone_and_has_no_key(spark: Any) -> None:
    from streamgauge.engines.spark.codec import encode_output

    records = encode_output(frame(spark), Output("lines", unused_oracle, PerEvent(("word",)), Text("word")))
    assert records.columns == ["value", "headers"]
    assert records.first()["value"] == 'a"b,'


def test_what_passes_between_queries_comes_out_as_it_went_in(spark: Any) -> None:
    from pyspark.sql import functions as fn

    from streamgauge.engines.spark.codec import decode_between, encode_between

    rows = frame(spark)
    stage = Stage("split", lambda lines: lines, key=("word",))
    records = encode_between(rows, stage)
    assert records.first()["key"] == 'a"b,'
    back = decode_between(records.withColumn("value", fn.col("value").cast("binary")), rows.schema, Emits.ROWS)
    assert back.schema.simpleString() == rows.schema.simpleString()
    by_offset = sorted(back.collect(), key=lambda r: r["origin"]["offset"])
    assert [repr(r) for r in by_offset] == [repr(r) for r in rows.collect()]


def test_a_record_written_twice_is_read_once_but_an_update_is_kept(spark: Any) -> None:
    from streamgauge.engines.spark.codec import decode_between, encode_between

    rows = frame(spark)
    records = encode_between(rows, Stage("split", lambda lines: lines, key=("word",)))
    twice = records.union(records)
    assert decode_between(twice, rows.schema, Emits.ROWS).count() == 2
    assert decode_between(twice, rows.schema, Emits.UPDATES).count() == 4


def test_a_stage_without_origin_is_told_what_to_do(spark: Any) -> None:
    from streamgauge.engines.spark.codec import encode_output

    with pytest.raises(UserError, match="latest_origin"):
        encode_output(frame(spark).drop("origin"), Output("count", unused_oracle, PerEvent(("word",))))


def test_a_stage_without_its_key_is_told_what_it_returns(spark: Any) -> None:
    from streamgauge.engines.spark.codec import encode_output

    output = Output("count", unused_oracle, LatestPerKey(("user",), {"seen": "rises"}))
    with pytest.raises(UserError, match="returns no column 'user'"):
        encode_output(frame(spark), output)


def test_a_template_line_becomes_fields_and_a_hyphen_is_missing(spark: Any) -> None:
    from streamgauge.engines.spark.source import decode_stream

    fields = (Field("user", FieldType.LONG), Field("query", FieldType.STRING))
    lines = Stream("test", "a test", fields, Template('<{user}> "{query}" .'), synthetic=lambda seed: None)  # type: ignore[arg-type, return-value]
    payloads = (b'<7> "a b" .', b'<-> "-" .', b'<8> "a" b" .', b"no such line", b'<7> "a b" . ', b"")
    rows = decode_stream(kafka_records(spark, *payloads), lines, 0).collect()
    assert [(r["user"], r["query"]) for r in rows[:3]] == [(7, "a b"), (None, None), (8, 'a" b')]
    assert [r["query"] for r in rows[3:]] == [None, None, None]


@pytest.mark.parametrize(
    ("wire", "good", "bad"),
    [
        (Delimited(";"), b"7;a;;", (b"7;a;", b";a;;", b"x;a;;", b"", b"\xff7;a;;")),
        (Json(), b'{"user":7,"query":"a"}', (b'{"user":7,"query":', b'{"query":"a"}', b'{"user":"x"}', b"", b"\xff{}")),
    ],
)
def test_malformed_records_are_left_out_and_kept_as_dead_letters(spark: Any, wire: Any, good: bytes, bad: Any) -> None:
    from streamgauge.engines.spark.source import decode_stream, malformed_records

    records = kafka_records(spark, good, *bad)
    rows = decode_stream(records, stream(wire), 0, required=("user",)).collect()
    assert [r["user"] for r in rows] == [7]
    letters = malformed_records(records, stream(wire), 3, required=("user",)).collect()
    assert [bytes.fromhex(r["bytes"]) for r in letters] == list(bad)
    assert [tuple(r["origin"])[1:3] for r in letters] == [(4, 41 + i) for i in range(len(bad))]


PARSERS = {"split(": Delimited("\t"), "from_json(": Json(), "regexp_replace(": Template("{user} {query} {at} {share}")}


@pytest.mark.parametrize("parser", PARSERS)
def test_a_record_is_parsed_once_however_many_fields_are_required(spark: Any, tmp_path: Path, parser: str) -> None:
    from streamgauge.engines.spark.source import decode_stream

    kinds = "value binary, partition int, offset bigint, timestamp timestamp"
    spark.createDataFrame([(b"", 0, 0, APPENDED)], kinds).write.parquet(str(tmp_path / "records"))
    records = spark.read.parquet(str(tmp_path / "records"))
    rows = decode_stream(records, stream(PARSERS[parser]), 0, ("user", "query", "at"))
    plan = rows.select("user", "share", "origin")._jdf.queryExecution().optimizedPlan().toString()
    assert plan.count(parser) == 1, plan
