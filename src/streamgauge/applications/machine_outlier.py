"""Machine outlier (BO4): which machines have lately been unlike the others of their rack?

Three steps, as in Table 3.2 of Bordin's thesis (2017):
- *Observation score.* The readings of a rack with one timestamp are a period. It ends with the first later reading of
  the rack (by offset), and is made of those of the last `machines` readings before that one which have the timestamp of
  the newest. Each scores 1 + its Euclidean distance, over processor and memory, from the period's centre, the mean.
- *Anomaly score.* The sum of a machine's observation scores over the last `window` ended periods of its rack.
- *Alert.* Of the anomaly scores of a period take the least and the median (rank n div 2 from 0), which BFPRT selects. A
  machine is abnormal if its anomaly score is above 2 · median − least and above least + 2 · √2, and its own observation
  score is more than 0.1 above the least of the period: if not, it has just returned to normal.

Source: the thesis gives the first and the last step in a sentence; the formulas are those of its implementations,
storm-applications and DSPBench (ObservationScore, SlidingWindowStreamAnomalyScore and AlertTrigger, by Jiang and Li).
The thesis cites Yoon, Kwon and Bae (2007) for distances from a cluster's centre. Usage and scores are whole millionths,
halves up, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn
from pyspark.sql.types import LongType, StructField, StructType

from streamgauge.applications.labels import precision_and_recall
from streamgauge.applications.origin import each, newest_origin
from streamgauge.applications.parameters import WholeNumber
from streamgauge.applications.rack_periods import ONE, end_periods, sum_up_periods
from streamgauge.applications.selection import select
from streamgauge.applications.stateful import in_batches
from streamgauge.model import Application, Emits, Expected, Output, PerEvent, stage
from streamgauge.streams.machine_usage import STREAM

FARTHEST = 2_828_427
"""2 · √2, twice the diagonal of the unit square in which usage lies."""
RETURNED = 100_000
MOST_REPEATS = 3
"""How often a period may lie in the topic between the queries: once, and again after each of two restarts."""
PERIOD_VALUES = ("rack", "start_ms", "machine_ids", "scores")
ALERT_VALUES = ("rack", "start_ms", "machine_id", "anomaly_score", "observation_score")
PERIOD_TYPES = "rack bigint, start_ms bigint, machine_ids array<bigint>, scores array<bigint>"


@stage(uses=("aggregate", "row-updates"), emits=Emits.UPDATES, key=("rack",))
def observation_score(readings: DataFrame, *, machines: int) -> DataFrame:
    """The last readings of a rack as an aggregate; the reading that ends a period answers with the period's scores.

    Updates, not rows: dropping repeats by record id would let the periods of a rack overtake each other.
    """
    reading = fn.struct("start_ms", "machine_id", "cpu", "memory")
    last = fn.max_by(reading, "origin.offset", machines + 1)
    recent = _in_millionths(readings).groupBy("rack").agg(last.alias("recent"), newest_origin())
    ended = fn.get("recent", fn.lit(1))["start_ms"]
    periods = recent.filter(fn.get("recent", fn.lit(0))["start_ms"] > ended).select(
        "rack",
        ended.alias("start_ms"),
        fn.reverse(fn.filter(fn.slice("recent", 2, machines), lambda old: old["start_ms"] == ended)).alias("period"),
        "origin",
    )
    zero, count = fn.lit(0).cast("bigint"), fn.size("period")
    cpu = fn.aggregate("period", zero, lambda sum_, reading: sum_ + reading["cpu"])
    memory = fn.aggregate("period", zero, lambda sum_, reading: sum_ + reading["memory"])
    summed = periods.select("*", cpu.alias("cpu"), memory.alias("memory"))

    def score(reading: Column) -> Column:
        off = [(reading[name] * count - fn.col(name)).cast("double") for name in ("cpu", "memory")]
        return ONE + fn.floor(fn.sqrt(off[0] * off[0] + off[1] * off[1]) / count + 0.5)

    machine_ids = fn.transform("period", lambda reading: reading["machine_id"]).alias("machine_ids")
    return summed.select("rack", "start_ms", machine_ids, fn.transform("period", score).alias("scores"), "origin")


@observation_score.variant("stateful", uses=("python-state",))
def observation_score_in_batches(readings: DataFrame, *, machines: int) -> DataFrame:
    """The same with a state per bucket of racks: the last readings of each."""
    step = partial(end_periods, machines)
    return in_batches(_in_millionths(readings), "rack", step, PERIOD_TYPES)


def _in_millionths(readings: DataFrame) -> DataFrame:
    used = [fn.floor(fn.col(name) * ONE + 0.5).alias(name) for name in ("cpu", "memory")]
    return readings.select("rack", "start_ms", "machine_id", *used, "origin")


@stage(uses=("aggregate", "row-updates"))
def anomaly_score(observation_score: DataFrame, *, window: int) -> DataFrame:
    """The last periods of a rack as an aggregate: beside each score of the newest the machine's sum over all."""
    period = fn.struct(fn.col("origin.offset").alias("ended_at"), "start_ms", "machine_ids", "scores")
    last = fn.max_by(period, "origin.offset", MOST_REPEATS * window)
    recent = observation_score.groupBy("rack").agg(last.alias("periods"), newest_origin())
    recent = recent.withColumn("periods", fn.slice(fn.array_distinct("periods"), 1, window))
    flat = recent.select(
        "rack",
        fn.get("periods", fn.lit(0)).alias("newest"),
        fn.flatten(fn.transform("periods", lambda p: fn.arrays_zip(p["machine_ids"], p["scores"]))).alias("all"),
        "origin",
    )
    sums = fn.transform("newest.machine_ids", _sum_of_machine).alias("sums")
    return flat.select("rack", *[f"newest.{name}" for name in PERIOD_VALUES[1:]], sums, "origin")


def _sum_of_machine(machine_id: Column) -> Column:
    own = fn.filter("all", lambda scored: scored["machine_ids"] == machine_id)
    return fn.aggregate(own, fn.lit(0).cast("bigint"), lambda sum_, scored: sum_ + scored["scores"])


@anomaly_score.variant("stateful", uses=("python-state",))
def anomaly_score_in_batches(observation_score: DataFrame, *, window: int) -> DataFrame:
    """The same with a state per bucket of racks: the last periods of each."""
    step = partial(sum_up_periods, window)
    return in_batches(observation_score, "rack", step, f"{PERIOD_TYPES}, sums array<bigint>")


@stage(uses=("python-udf",))
def alert_trigger(anomaly_score: DataFrame) -> DataFrame:
    """The abnormal machines of each period, the median selected by BFPRT.

    A map over batches: Spark 4.3 fails where a Python function of columns follows Python state directly.
    """

    def add_median(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for periods in batches:
            medians = [select(sums.values.to_numpy(), len(sums) // 2) for sums in periods["sums"]]
            yield periods.append_column("median", pa.array(medians, pa.int64()))

    columns = StructType([*anomaly_score.schema.fields, StructField("median", LongType())])
    return _alerts(anomaly_score.mapInArrow(add_median, columns))


@alert_trigger.variant("sorted")
def alert_trigger_sorted(anomaly_score: DataFrame) -> DataFrame:
    """The same, the median taken from the sorted scores."""
    middle = (fn.size("sums") / 2).cast("int")
    return _alerts(anomaly_score.withColumn("median", fn.get(fn.array_sort("sums"), middle)))


def _alerts(periods: DataFrame) -> DataFrame:
    least, least_now = fn.array_min("sums"), fn.array_min("scores")
    above = fn.greatest(2 * fn.col("median") - least, least + FARTHEST)
    abnormal = fn.filter(
        fn.arrays_zip("machine_ids", "sums", "scores"),
        lambda machine: (machine["sums"] > above) & (machine["scores"] > least_now + RETURNED),
    )
    return each(periods, abnormal, "machine", "rack", "start_ms").select(
        "rack",
        "start_ms",
        fn.col("machine.machine_ids").alias("machine_id"),
        (fn.col("machine.sums") / fn.lit(float(ONE))).alias("anomaly_score"),
        (fn.col("machine.scores") / fn.lit(float(ONE))).alias("observation_score"),
        "origin",
    )


SCORED = f"""
    with numbered as (
        select *, row_number() over log as nth, lag(start_ms) over log as start_ms_before,
               floor(cpu * {ONE} + 0.5)::bigint as cpu_used, floor(memory * {ONE} + 0.5)::bigint as memory_used
        from readings window log as (partition by rack order by "offset")),
    ended as (
        select partition, "offset", rack, nth, start_ms_before as start_ms,
               row_number() over (partition by rack order by nth) as period
        from numbered where start_ms > start_ms_before),
    members as (
        select ended.*, reading.nth as member, machine_id, abnormal, cpu_used, memory_used, count(*) over all_of as n,
               sum(cpu_used) over all_of as cpu_sum, sum(memory_used) over all_of as memory_sum
        from ended join numbered reading on reading.rack = ended.rack and reading.start_ms = ended.start_ms
                   and reading.nth between ended.nth - {{machines}} and ended.nth - 1
        window all_of as (partition by ended.rack, ended.nth)),
    distances as (
        select *, (cpu_used * n - cpu_sum)::double as off_cpu, (memory_used * n - memory_sum)::double as off_memory
        from members)
    select *, {ONE} + floor(sqrt(off_cpu * off_cpu + off_memory * off_memory) / n + 0.5)::bigint as score
    from distances
"""


def scores_of_periods(events: Any, *, machines: int) -> Expected:
    """The machines of each ended period and their scores, in the order of the log."""
    return Expected(
        events.sql(f"""
            select partition, "offset", rack, start_ms,
                   list(machine_id order by member) as machine_ids, list(score order by member) as scores
            from ({SCORED.format(machines=machines)})
            group by all
        """)
    )


def abnormal_machines(events: Any, *, machines: int, window: int) -> Expected:
    """Sums over a range of periods, least and median per period, and the three conditions."""
    judged = f"""
        with summed as (
            select *, sum(score) over (partition by rack, machine_id order by period
                                       range between {window - 1} preceding and current row)::bigint as total
            from ({SCORED.format(machines=machines)})),
        compared as (
            select *, min(score) over all_of as least_now, min(total) over all_of as least,
                   list_sort(list(total) over all_of)[n // 2 + 1] as median
            from summed window all_of as (partition by rack, period))
        select *, total > 2 * median - least and total > least + {FARTHEST} and score > least_now + {RETURNED} as named
        from compared
    """
    rows = f"""
        select partition, "offset", rack, start_ms, machine_id,
               total / {ONE}::double as anomaly_score, score / {ONE}::double as observation_score
        from ({judged}) where named
    """
    labelled = f"select named, abnormal = 1 as meant from ({judged}) where abnormal is not null"
    return Expected(events.sql(rows), quality=precision_and_recall(events, labelled))


APPLICATION = Application(
    name="machine-outlier",
    question="Which machines have lately been unlike the others of their rack?",
    inputs={"readings": STREAM},
    required={"readings": ("start_ms", "rack", "machine_id", "cpu", "memory")},
    stages=(observation_score, anomaly_score, alert_trigger),
    cuts=("observation_score",),
    outputs=(
        Output("observation_score", scores_of_periods, PerEvent(PERIOD_VALUES, key=("rack",))),
        Output("alert_trigger", abnormal_machines, PerEvent(ALERT_VALUES, key=("rack",))),
    ),
    parameters={
        "machines": WholeNumber(64, "how many of a rack's last readings may make up a period", most=4096),
        "window": WholeNumber(10, "over how many periods of a rack scores are summed up", most=1000),
    },
    order="within a rack by offset",
    papers=("BO4",),
    deviations=(
        "Machines are compared within their rack, which is the stream's key, so the log says when a period has ended. "
        "The original compares whatever readings one instance of its operator happens to receive.",
        "A sum goes over the last periods of the rack, the original's over the last scores of the machine.",
        "An alert is sent with the first reading after the period, since the period is known to be over only then.",
        "A topic lies between the observation scores and the rest, since one query holds one aggregate in real time.",
    ),
)
