"""The statements that a job becomes: tables, views, queries and sinks, as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import get_application
from streamgauge.engines import get_engine
from streamgauge.engines.flink import origin
from streamgauge.engines.flink.names import double, literal, name
from streamgauge.engines.flink.plan import JobPlan
from streamgauge.model.job import InputTopic, Job


def plan(application_name: str, stage: str | None = None, **more: Any) -> JobPlan:
    application = get_application(application_name)
    application = application.stopped_after(stage) if stage else application
    job = Job(
        application=application_name,
        engine="flink",
        inputs={each: InputTopic(f"in-{each}", 2 * place) for place, each in enumerate(application.inputs)},
        outputs={output.stage: f"out-{output.stage}" for output in application.leaf_outputs()},
        between={},
        bootstrap="b:1",
        checkpoint="checkpoint",
        status_path="status",
        kafka_options={"kafka.security.protocol": "SSL"},
        described=get_engine("flink").described(application, {}),
        **more,
    )
    return JobPlan(job, 1000, {each: f"/tables/{each}.csv" for each in application.tables})


def test_a_delimited_input_is_one_table_and_one_view() -> None:
    table, view = plan("wordcount").before()
    assert table.startswith("CREATE TEMPORARY TABLE `searches_records` (`raw` STRING, ")
    assert "'format' = 'raw'" in table and "'topic' = 'in-searches'" in table
    assert "'properties.security.protocol' = 'SSL'" in table and "'properties.group.id' = 'out-count-group'" in table
    assert view.startswith("CREATE TEMPORARY VIEW `searches` AS SELECT *")
    assert "`query` IS NOT NULL" in view and "SPLIT(`raw`, '\t')" in view and "parts_number = 5" in view


def test_an_application_that_requires_no_field_takes_every_text() -> None:
    _, view = plan("identity").before()
    assert "SPLIT" not in view and "IS NOT NULL" not in view and "ENCODE(`raw`, 'UTF-8')" in view


def test_of_json_only_the_fields_that_are_used_are_read() -> None:
    table = plan("ad-analytics").before()[0]
    assert "`ad_id` STRING" in table and "`ip_address`" not in table
    assert "`ip_address` STRING" in plan("ad-analytics", "filter_views").before()[0]


def test_two_inputs_count_their_partitions_on_and_have_an_event_time() -> None:
    statements = plan("traffic-flow").before()
    assert len(statements) == 4
    assert "WATERMARK FOR `event_time`" in statements[0]
    assert "`record_partition` + 0" in statements[1] and "`record_partition` + 2" in statements[3]


def test_payloads_of_json_are_read_where_they_are_asked_for() -> None:
    assert any("VIEW `counts_raw`" in each for each in plan("traffic-flow", "ingest").before())
    assert not any("_raw`" in each.partition(" AS ")[0] for each in plan("traffic-flow", "parse").before())


def test_a_stored_table_is_a_file() -> None:
    assert any("'path' = 'file:///tables/campaigns.csv'" in each for each in plan("ad-analytics").before())


COUNT = [("word", "VARCHAR(2147483647)"), ("seen", "BIGINT"), ("latest", "BIGINT")]


def test_updates_go_to_a_topic_by_their_key() -> None:
    made = plan("wordcount")
    (output,) = made.outputs
    sink = made.sink(output, COUNT)
    assert "'connector' = 'upsert-kafka'" in sink and "PRIMARY KEY (`word`) NOT ENFORCED" in sink
    assert "'key.format' = 'raw'" in sink and "`headers` MAP<STRING, BYTES> METADATA" in sink
    assert "`latest`" not in sink
    insert = made.insert(output, COUNT)
    assert insert.startswith("INSERT INTO `sink_count` SELECT `word`, `seen`, MAP[CAST('origin' AS STRING), CAST(")


def test_rows_of_events_have_no_key_where_their_matching_has_none() -> None:
    made = plan("identity")
    sink = made.sink(made.outputs[0], [("line", "STRING"), ("origin", "STRING")])
    assert "'connector' = 'kafka'" in sink and "key." not in sink and "'value.format' = 'raw'" in sink


def test_keys_are_written_as_spark_writes_them() -> None:
    made = plan("spike-detection")
    sink = made.sink(made.outputs[0], [("moteid", "BIGINT"), ("value", "DOUBLE"), ("origin", "STRING")])
    assert "'key.fields' = 'moteid'" in sink and "'key.format' = 'csv'" in sink
    made = plan("ad-analytics")
    columns = [("campaign_id", "STRING"), ("window_start_ms", "BIGINT"), ("views", "BIGINT"), ("latest", "BIGINT")]
    assert "'key.format' = 'json'" in made.sink(made.outputs[0], columns)


def test_exactly_once_needs_names_for_transactions() -> None:
    made = plan("wordcount", settings={"sink": "exactly-once"})
    sink = made.sink(made.outputs[0], COUNT)
    assert "'sink.delivery-guarantee' = 'exactly-once'" in sink
    assert "'sink.transactional-id-prefix' = 'out-count'" in sink
    assert "transactional-id" not in plan("wordcount").sink(made.outputs[0], COUNT)


def test_the_one_query_reads_all_inputs() -> None:
    assert plan("traffic-flow").reads() == {"sliding": ["in-counts", "in-speeds"]}


def test_texts_and_names_are_quoted() -> None:
    assert (literal("it's"), name("a`b"), double(0.03), double(1e-9)) == ("'it''s'", "`a``b`", "0.03e0", "1e-09")
    assert "LIKE" not in plan_of_grep("50%") and "POSITION('50%' IN `raw`)" in plan_of_grep("50%")
    assert "`raw` LIKE '%free%'" in plan_of_grep("free")


def plan_of_grep(pattern: str) -> str:
    from streamgauge.engines.flink.programs.grep import grep

    return grep(pattern=pattern).sql


@pytest.mark.parametrize("append_ms", [1_000_000, 1_000_000 + (1 << 27) - 1])
@pytest.mark.parametrize(("partition", "offset"), [(0, 0), (127, (1 << 29) - 1), (5, 123_456)])
def test_a_place_holds_an_origin_and_gives_it_back(append_ms: int, partition: int, offset: int) -> None:
    since = 1_000_000
    given = {"append_ms": append_ms, "in_partition": partition, "in_offset": offset}
    place = eval(origin.place(since), {}, given)
    assert 0 <= place < 2**63
    found = origin.text_of_place("place", since)
    for kind in (" AS STRING", " AS BIGINT"):
        found = found.replace(kind, "")
    scope = {"CAST": int, "MOD": lambda a, b: a % b, "CONCAT": lambda *a: "".join(map(str, a)), "place": place}
    assert eval(found, scope) == f"{append_ms},{partition},{offset},0"


def test_later_origins_have_later_places() -> None:
    def at(append_ms: int, offset: int, partition: int) -> int:
        given = {"append_ms": append_ms, "in_partition": partition, "in_offset": offset}
        return int(eval(origin.place(0), {}, given))

    assert at(5, 9, 1) < at(6, 0, 0) and at(5, 9, 1) < at(5, 10, 0) and at(5, 9, 0) < at(5, 9, 1)


def test_the_first_time_lies_hours_before_the_start(tmp_path: Path) -> None:
    from streamgauge.engines.flink.checkpoints import newest_checkpoint, since_ms

    folder = tmp_path / "checkpoint"
    assert since_ms(folder, 10**12) == 10**12 - (1 << 26)
    assert since_ms(folder, 10**12 + 5000) == 10**12 - (1 << 26), "a restarted job counts from the same"
    assert newest_checkpoint(folder) is None
    for job, number, complete in (("a", 9, True), ("a", 10, True), ("b", 11, False)):
        made = folder / job / f"chk-{number}"
        made.mkdir(parents=True)
        if complete:
            (made / "_metadata").touch()
    assert newest_checkpoint(folder) == folder / "a" / "chk-10"
