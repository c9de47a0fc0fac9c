"""Traffic flow (OS1–OS2): how do the flow and the speed at each measurement point change from second to second?

The pipeline of OSPBench (van Dongen and Van den Poel, 2020), which can end after any of its stages:

- ingest: the payloads of both topics, as they are;
- parse: their fields;
- join: the flow and the speed of the same instant, point and lane, when the second of the two has come;
- tumbling: per point and second, the flows added up and the mean speed over the lanes;
- sliding: per point and second, the relative change of both within the last two seconds (against the second before) and
  within the last three (against the second before that), out of windows of three seconds that begin every second.
  Where nothing was seen in the earlier second, or it is zero, there is no change to tell.

Event time is the log's append time; that of a pair is the later one's, of a tie the speed's. Speeds are added up in
whole hundredths, so that no sum depends on the order of its parts. Windows answer early and again whenever they grow.

`built-in` windows are Spark's own. `customised` ones keep their own state and answer each pair as it enters: in Python
for micro-batches, and as `customised-aggregate` with plain keys where an aggregate answers every row.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import OFFSET_BITS, ORDINAL_STRIDE, each, latest_origin
from streamgauge.applications.parameters import WholeNumber
from streamgauge.applications.stateful import in_batches
from streamgauge.applications.traffic_state import running_sums, seconds_changed
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, Text, stage
from streamgauge.streams import traffic_counts, traffic_speeds

PAIR = ("measurement_id", "lane", "observed_at")
JOIN_WATERMARK = "7 days"
"""Of observed time, in which the streams have 250 events a minute: topics may be read 2.5 million events apart."""
WINDOW_WATERMARK = "10 minutes"
"""Of append time, which partitions can be apart by only while a backlog is read."""


@stage
def ingest(counts: DataFrame, speeds: DataFrame, *, spatial_scale: int) -> DataFrame:
    """The payloads of both topics; scaled, each stands for as many points, whose names tell them apart."""
    missing = fn.lit(None)
    flows = counts.select(
        fn.col("raw").alias("payload"), *PAIR, "flow", missing.cast("double").alias("speed"), "origin"
    )
    rates = speeds.select(
        fn.col("raw").alias("payload"), *PAIR, missing.cast("bigint").alias("flow"), "speed", "origin"
    )
    both = flows.unionByName(rates)
    if spatial_scale == 1:
        return both
    kept = [name for name in both.columns if name != "origin"]
    copies = each(both, fn.sequence(fn.lit(0), fn.lit(spatial_scale - 1)), "copy", *kept)
    named = fn.when(fn.col("copy") == 0, fn.col("measurement_id")).otherwise(
        fn.concat_ws("/", "copy", "measurement_id")
    )
    return copies.withColumn("measurement_id", named).drop("copy")


@stage
def parse(ingest: DataFrame) -> DataFrame:
    """The fields that are computed with: a flow or a speed, and what it was measured of."""
    return ingest.select(*PAIR, "flow", "speed", "origin")


@stage(uses=("aggregate",), key=("measurement_id",))
def join(parse: DataFrame) -> DataFrame:
    """Both sides of each pair, as one aggregate over the union: it grows twice and is complete the second time."""
    origin = fn.col("origin")
    place = fn.shiftleft(origin["partition"].cast("bigint"), OFFSET_BITS).bitwiseOR(origin["offset"])
    sides = [
        fn.max(fn.when(fn.col(value).isNotNull(), column)).alias(f"{value}_{name}")
        for value in ("flow", "speed")
        for name, column in (("ms", origin["append_ms"]), ("place", place))
    ]
    pairs = parse.withWatermark("observed_at", JOIN_WATERMARK).groupBy(*PAIR)
    both = pairs.agg(fn.max("flow").alias("flow"), fn.max("speed").alias("speed"), *sides, _copy()).filter(
        "flow_ms is not null and speed_ms is not null"
    )
    later = fn.when(fn.col("speed_ms") >= fn.col("flow_ms"), fn.col("speed_place")).otherwise(fn.col("flow_place"))
    of_the_later = fn.struct(
        fn.greatest("flow_ms", "speed_ms").alias("append_ms"),
        fn.shiftright(later, OFFSET_BITS).cast("int").alias("partition"),
        later.bitwiseAND(fn.lit((1 << OFFSET_BITS) - 1)).alias("offset"),
        fn.col("copy").alias("ordinal"),
    )
    return both.select(*PAIR, "flow", "speed", of_the_later.alias("origin"))


def _copy() -> Column:
    return fn.max(fn.col("origin")["ordinal"]).alias("copy")


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES, key=("measurement_id",))
def tumbling(join: DataFrame) -> DataFrame:
    """Sums per point and second, in Spark's own windows."""
    timed = join.withColumn("appended_at", fn.timestamp_millis("origin.append_ms"))
    windows = timed.withWatermark("appended_at", WINDOW_WATERMARK).groupBy(
        "measurement_id", fn.window("appended_at", "1 second")
    )
    return _sums(windows, fn.unix_seconds("window.start"))


tumbling.variant("built-in", uses=tumbling.uses)(tumbling.function)


@tumbling.variant("customised", uses=("python-state",))
def tumbling_in_batches(join: DataFrame) -> DataFrame:
    """Sums per point and second from a state of our own: a row for every pair, as it enters."""
    emitted = "measurement_id string, second bigint, flow bigint, lanes bigint, speed_sum bigint, mean_speed double"
    return in_batches(join.select("measurement_id", "flow", "speed", "origin"), "measurement_id", running_sums, emitted)


@tumbling.variant("customised-aggregate", uses=("aggregate", "row-updates"))
def tumbling_by_row(join: DataFrame) -> DataFrame:
    """Sums per point and second with the second as a plain key: a row for every pair where an engine answers each."""
    second = fn.expr("origin.append_ms div 1000")
    return _sums(join.withColumn("second", second).groupBy("measurement_id", "second"), fn.col("second"))


def _sums(grouped: Any, second: Column) -> DataFrame:
    hundredths = fn.floor(fn.col("speed") * 100 + 0.5)
    sums = grouped.agg(
        fn.sum("flow").alias("flow"),
        fn.count("*").alias("lanes"),
        fn.sum(hundredths).alias("speed_sum"),
        latest_origin(),
    )
    mean = (fn.col("speed_sum") / (fn.col("lanes") * 100)).alias("mean_speed")
    figures: DataFrame = sums.select(
        "measurement_id", second.alias("second"), "flow", "lanes", "speed_sum", mean, "origin"
    )
    return figures


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES)
def sliding(tumbling: DataFrame) -> DataFrame:
    """Relative changes out of Spark's own windows."""
    timed = tumbling.withColumn("at", fn.timestamp_seconds("second")).withWatermark("at", WINDOW_WATERMARK)
    windows = timed.withColumn("window", fn.window("at", "3 seconds", "1 second"))
    last = fn.unix_seconds("window.end") - 1
    return _changes(windows.withColumn("age", last - fn.col("second")), "window", last)


sliding.variant("built-in", uses=sliding.uses)(sliding.function)


@sliding.variant("customised", uses=("python-state",))
def sliding_in_batches(tumbling: DataFrame) -> DataFrame:
    """Relative changes from a list of the last seconds of our own."""
    changes = ", ".join(f"{name} double" for name in CHANGES)
    emitted = f"measurement_id string, second bigint, flow bigint, mean_speed double, {changes}"
    return in_batches(tumbling, "measurement_id", seconds_changed, emitted)


@sliding.variant("customised-aggregate", uses=("aggregate", "row-updates"))
def sliding_by_row(tumbling: DataFrame) -> DataFrame:
    """Relative changes with the last second of each window as a plain key."""
    figures = ("measurement_id", "second", "flow", "lanes", "speed_sum")
    ages = each(tumbling, fn.array(fn.lit(0), fn.lit(1), fn.lit(2)), "age", *figures)
    return _changes(ages.withColumn("last", fn.col("second") + fn.col("age")), "last", fn.col("last"))


CHANGES = ("flow_change_2s", "flow_change_3s", "speed_change_2s", "speed_change_3s")


def _changes(aged: DataFrame, window: str, last: Column) -> DataFrame:
    """The changes per point and window; `age` is how many seconds before the window's last one a row tells of.

    Of several rows for a second the one with the largest sums is the latest, since sums only rise.
    """
    figures = ("flow", "lanes", "speed_sum")
    of_age = [
        fn.max(fn.when(fn.col("age") == age, fn.col(name))).alias(f"{name}_{age}")
        for age in (0, 1, 2)
        for name in figures
    ]
    seen = aged.groupBy("measurement_id", window).agg(*of_age, latest_origin()).filter("lanes_0 is not null")
    means = [(fn.col(f"speed_sum_{age}") / (fn.col(f"lanes_{age}") * 100)).alias(f"mean_{age}") for age in (0, 1, 2)]
    known = seen.select("measurement_id", last.alias("second"), *[f"flow_{age}" for age in (0, 1, 2)], *means, "origin")
    changes = [
        ((fn.col(f"{name}_0") - fn.col(f"{name}_{age}")) / fn.nullif(fn.col(f"{name}_{age}"), fn.lit(0))).alias(change)
        for (name, age), change in zip((("flow", 1), ("flow", 2), ("mean", 1), ("mean", 2)), CHANGES, strict=True)
    ]
    now = [fn.col("flow_0").alias("flow"), fn.col("mean_0").alias("mean_speed")]
    return known.select("measurement_id", "second", *now, *changes, "origin")


def _observations(spatial_scale: int) -> str:
    """SQL: every event of both topics, once for each point that it stands for."""
    named = "if(copy = 0, measurement_id, copy || '/' || measurement_id) as measurement_id"
    shared = f'partition, "offset", append_ms, raw as payload, {named}, lane, observed_at'
    return f"""
        select {shared}, flow, null::double as speed from counts, range({spatial_scale}) copies(copy)
        union all
        select {shared}, null::bigint as flow, speed from speeds, range({spatial_scale}) copies(copy)
    """


def _pairs(spatial_scale: int) -> str:
    """SQL: each pair with the place and the instant of the later of the two."""
    later = {"partition": "s.partition, c.partition", "offset": 's."offset", c."offset"'}
    places = ", ".join(f'if(s.append_ms >= c.append_ms, {each}) as "{name}"' for name, each in later.items())
    return f"""
        select {places}, greatest(c.append_ms, s.append_ms) as append_ms,
               measurement_id, lane, observed_at, c.flow, s.speed
        from (from ({_observations(spatial_scale)}) where flow is not null) c
        join (from ({_observations(spatial_scale)}) where speed is not null) s using (measurement_id, lane, observed_at)
    """


def _seconds(spatial_scale: int) -> str:
    """SQL: the sums of each point and second."""
    return f"""
        select measurement_id, append_ms // 1000 as second, sum(flow)::bigint as flow, count(*) as lanes,
               sum(floor(speed * 100 + 0.5)::bigint)::bigint / (count(*) * 100) as mean_speed
        from ({_pairs(spatial_scale)}) group by all
    """


def payload_of_every_event(events: Any, *, spatial_scale: int) -> Expected:
    """Each payload, as often as the scale says."""
    return Expected(events.sql(f'select partition, "offset", payload from ({_observations(spatial_scale)})'))


def fields_of_every_event(events: Any, *, spatial_scale: int) -> Expected:
    """Each observation's fields."""
    return Expected(events.sql(f"select * exclude (payload, append_ms) from ({_observations(spatial_scale)})"))


def pairs_of_both_topics(events: Any, *, spatial_scale: int) -> Expected:
    """Each flow with the speed of the same instant, point and lane."""
    return Expected(events.sql(f"select * exclude (append_ms) from ({_pairs(spatial_scale)})"))


def _touches(events: Any, spatial_scale: int) -> Any:
    """The later event of each pair changes its own second; that it is a later second's past is not counted."""
    return events.sql(f"""
        select distinct partition, "offset", measurement_id, append_ms // 1000 as second from ({_pairs(spatial_scale)})
    """)


def sums_per_second(events: Any, *, spatial_scale: int) -> Expected:
    """The final sums of each point and second."""
    return Expected(rows=events.sql(_seconds(spatial_scale)), touches=_touches(events, spatial_scale))


def changes_per_second(events: Any, *, spatial_scale: int) -> Expected:
    """The final sums against those of one and two seconds before."""
    return Expected(
        rows=events.sql(f"""
            with seconds as materialized ({_seconds(spatial_scale)})
            select now.measurement_id, now.second, now.flow, now.mean_speed,
                   (now.flow - one.flow) / nullif(one.flow, 0) as flow_change_2s,
                   (now.flow - two.flow) / nullif(two.flow, 0) as flow_change_3s,
                   (now.mean_speed - one.mean_speed) / nullif(one.mean_speed, 0) as speed_change_2s,
                   (now.mean_speed - two.mean_speed) / nullif(two.mean_speed, 0) as speed_change_3s
            from seconds now
            left join seconds one on one.measurement_id = now.measurement_id and one.second = now.second - 1
            left join seconds two on two.measurement_id = now.measurement_id and two.second = now.second - 2
        """),
        touches=_touches(events, spatial_scale),
    )


_SECOND = ("measurement_id", "second")

APPLICATION = Application(
    name="traffic-flow",
    question="How do the flow and the speed at each measurement point change from second to second?",
    inputs={"counts": traffic_counts.STREAM, "speeds": traffic_speeds.STREAM},
    stages=(ingest, parse, join, tumbling, sliding),
    outputs=(
        Output("ingest", payload_of_every_event, PerEvent(("payload",)), Text("payload")),
        Output("parse", fields_of_every_event, PerEvent((*PAIR, "flow", "speed"))),
        Output("join", pairs_of_both_topics, PerEvent((*PAIR, "flow", "speed"))),
        Output(
            "tumbling",
            sums_per_second,
            LatestPerKey(_SECOND, {"flow": "rises", "lanes": "rises", "mean_speed": "any"}),
        ),
        Output(
            "sliding",
            changes_per_second,
            LatestPerKey(_SECOND, {"flow": "rises", "mean_speed": "any", **dict.fromkeys(CHANGES, "any")}),
        ),
    ),
    parameters={
        "spatial_scale": WholeNumber(1, "measurement points that each published one stands for", most=ORDINAL_STRIDE)
    },
    papers=("OS1", "OS2"),
    cuts=("join", "tumbling"),
    required={"counts": (*PAIR, "flow"), "speeds": (*PAIR, "speed")},
    deviations=(
        "A topic lies after join and after tumbling, since Spark holds one aggregate in a query: the paper's stages "
        "publish nothing in between.",
        "The volume is inflated behind the log: ingest makes the copies of a point, where the paper publishes them.",
        "Observations keep the minute that they tell of and are joined by it; OSPBench writes the time of publishing "
        "over it and joins within a time interval.",
        "Malformed observations are left out before ingest, which so reads the JSON: the paper's ingest does not.",
        "Windows answer in update mode, early and again, where the paper's built-in ones wait for a watermark.",
    ),
)
