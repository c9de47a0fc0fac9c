"""Smart grid (BO13): which houses have plugs that draw unusually much, and what will houses and plugs draw next?

The two queries of the DEBS 2014 grand challenge (Jerzak and Ziekow, 2014), as Bordin's thesis (2017, section 3.3.13)
takes them up. Both are over the loads alone; readings of work are dropped.

* **Outliers.** The original: per house, the percentage of plugs whose median load is greater than the median load of
  all plugs of all houses, over sliding windows of one hour and of 24. Here: over tumbling windows of event time. The
  global median is that of all readings in the window. Of an even number of readings, the median is midway
  between the two in the middle. A plug counts for a house if it reported in the window.
* **Prediction.** Time is cut into slices. With k slices in a day, the load of slice i + 2 is predicted, per house and
  per plug, as (avg(i) + median of avg(i + 2 − n·k) for n = 1, 2, …) / 2: half from the current slice, half from the
  same slice of earlier days. Here n ends at `days`; a day whose slice has no reading is left out; without any earlier
  day the prediction is avg(i). The average of a house is that over all readings of its plugs.

Loads are whole milliwatts, halves up. Dropped as impossible are a load below 0 or above 34 MW, a house above 4095, and
a household or plug above 255. Answers are told whenever they change, and end in the answer over all readings, in
whatever order these came.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import each, latest_origin
from streamgauge.applications.parameters import WholeNumber
from streamgauge.applications.plug_medians import PLUG, middle, packed_reading, tallies_per_house
from streamgauge.model import Application, Emits, Expected, LatestPerKey, Output, PerEvent, UserError, stage
from streamgauge.streams.plug_loads import LOAD, STREAM

MOST = {"value": 34_000_000, "house_id": 4095, "household_id": 255, "plug_id": 255}
DAY_S = 86_400
LATE_DAYS = 30
"""The generated stream has 6,171 events in a day of event time: partitions may be read 180,000 events apart."""


@dataclass(frozen=True)
class SliceMinutes(WholeNumber):
    """Minutes that a day is a multiple of."""

    def parse(self, name: str, text: str) -> int:
        """The text as minutes, if slices of them fill a day."""
        value = super().parse(name, text)
        if 1440 % value:
            raise UserError(f"parameter '{name}' is {text}, and a day is no multiple of it", "Try 1, 5, 15, 60 or 120")
        return value


@stage(key=("house_id",))
def loads(readings: DataFrame) -> DataFrame:
    """The loads in whole milliwatts, each with its plug and second."""
    load = fn.floor(fn.col("value") * 1000 + 0.5).alias("load_mw")
    possible = [fn.col(name).between(0, most) for name, most in MOST.items()]
    of_load = readings.filter(reduce(and_, possible, fn.col("property") == LOAD))
    return of_load.select(*PLUG, "timestamp", load, "origin")


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES)
def outliers(loads: DataFrame, *, window_minutes: int) -> DataFrame:
    """The running figures per window and house; a window keeps all its readings, as an exact median asks."""
    timed = loads.select(fn.timestamp_seconds("timestamp").alias("at"), packed_reading().alias("reading"), "origin")
    windows = timed.withWatermark("at", f"{LATE_DAYS} days").groupBy(fn.window("at", f"{window_minutes} minutes"))
    kept = windows.agg(fn.collect_list("reading").alias("gathered"), fn.count("*").alias("readings"), latest_origin())
    tallied = tallies_per_house(kept, "window", "readings", "origin")
    return each(tallied, "tallies", "of", "window", "readings").select(
        fn.col("window.start").alias("window_start"),
        "of.house_id",
        "readings",
        "of.plugs",
        "of.outliers",
        (100 * fn.col("of.outliers") / fn.col("of.plugs")).alias("outlier_percent"),
        "origin",
    )


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES, key=PLUG)
def averages(loads: DataFrame, *, slice_minutes: int) -> DataFrame:
    """Sum and number of readings per slice, for each plug and for each house, which has no household and no plug."""
    none = fn.lit(None).cast("bigint")
    house = fn.struct("house_id", none.alias("household_id"), none.alias("plug_id"))
    rows = each(loads, fn.array(fn.struct(*PLUG), house), "of", "timestamp", "load_mw")
    timed = rows.select("of.*", fn.timestamp_seconds("timestamp").alias("at"), "load_mw", "origin")
    slices = timed.withWatermark("at", f"{LATE_DAYS} days").groupBy(*PLUG, fn.window("at", f"{slice_minutes} minutes"))
    summed = slices.agg(fn.sum("load_mw").alias("total_mw"), fn.count("*").alias("readings"), latest_origin())
    start = fn.unix_seconds(fn.col("window.start")).alias("slice_start_s")
    return summed.select(*PLUG, start, "total_mw", "readings", "origin")


@stage(uses=("aggregate", "window"), emits=Emits.UPDATES)
def predict(averages: DataFrame, *, slice_minutes: int, days: int) -> DataFrame:
    """Each slice goes to the slice that it predicts as its current one, and to the same slice of the next days.

    A slice comes again with each of its readings: the one with the most readings is the latest.
    """
    start = fn.col("slice_start_s")
    targets = [start + 2 * 60 * slice_minutes, *(start + day * DAY_S for day in range(1, days + 1))]
    target = [fn.struct(fn.lit(day).alias("day"), to.alias("start_s")) for day, to in enumerate(targets)]
    average = (fn.col("total_mw") / fn.col("readings")).alias("average")
    rows = each(
        averages.select(*PLUG, start, average, "readings", "origin"),
        fn.array(*target),
        "to",
        *PLUG,
        "average",
        "readings",
    )
    timed = rows.select(
        *PLUG, "average", "readings", "to.day", fn.timestamp_seconds("to.start_s").alias("at"), "origin"
    )
    latest, counts = [], []
    for day in range(days + 1):
        readings = fn.when(fn.col("day") == day, fn.col("readings"))
        latest.append(fn.max_by("average", readings).alias(f"average_{day}"))
        counts.append(fn.coalesce(fn.max(readings), fn.lit(0)))
    # A target lies up to `days` ahead of the reading that names it.
    grouped = timed.withWatermark("at", f"{days + LATE_DAYS} days").groupBy(*PLUG, "at")
    known = grouped.agg(*latest, sum(counts[1:], counts[0]).alias("readings"), latest_origin()).filter(
        "average_0 is not null"
    )
    earlier = fn.sort_array(fn.array_compact(fn.array(*[f"average_{day}" for day in range(1, days + 1)])))
    known = known.select(*PLUG, "at", "average_0", earlier.alias("earlier"), "readings", "origin")
    low, high = (fn.get("earlier", place) for place in middle(fn.size("earlier")))
    median = fn.coalesce((low + high) / 2, fn.col("average_0"))
    return known.select(
        *PLUG,
        fn.col("at").alias("slice_start"),
        fn.size("earlier").alias("days_known"),
        "readings",
        ((fn.col("average_0") + median) / 2 / 1000).alias("predicted_w"),
        "origin",
    )


def _loads() -> str:
    """SQL: every event that is a load, in milliwatts."""
    return f"""
        select partition, "offset", house_id, household_id, plug_id, "timestamp",
               floor(value * 1000 + 0.5)::bigint as load_mw
        from readings
        where property = {LOAD} and {" and ".join(f"{name} between 0 and {most}" for name, most in MOST.items())}
    """


def load_of_each_reading(events: Any) -> Expected:
    """Plug, second and load of every event that is a load."""
    return Expected(events.sql(_loads()))


def outliers_per_house(events: Any, *, window_minutes: int) -> Expected:
    """Medians by DuckDB; a reading may change the global median, but only its own house is said to be touched."""
    length_s = 60 * window_minutes
    windowed = f"""
        select *, make_timestamp(("timestamp" // {length_s}) * {length_s} * 1000000) as window_start from ({_loads()})
    """
    return Expected(
        rows=events.sql(f"""
            with reading as ({windowed}),
            whole as (select window_start, count(*) as readings, median(load_mw) as of_all from reading group by all),
            plug as (
                select window_start, house_id, household_id, plug_id, median(load_mw) as of_plug
                from reading
                group by all
            )
            select window_start, house_id, any_value(readings) as readings, count(*) as plugs,
                   count(*) filter (of_plug > of_all) as outliers, 100 * outliers / plugs as outlier_percent
            from plug join whole using (window_start)
            group by window_start, house_id
        """),
        touches=events.sql(f'select partition, "offset", window_start, house_id from ({windowed})'),
    )


def _of_both(slice_minutes: int) -> str:
    """SQL: every load twice, for its plug and for its house, with the start of its slice in seconds."""
    start = f'("timestamp" // {60 * slice_minutes}) * {60 * slice_minutes} as start_s, load_mw'
    return f"""
        select partition, "offset", house_id, household_id, plug_id, {start} from ({_loads()})
        union all
        select partition, "offset", house_id, null, null, {start} from ({_loads()})
    """


def predictions(events: Any, *, slice_minutes: int, days: int) -> Expected:
    """The prediction from each slice for the one after the next; a load touches those from its own slice."""
    both, ahead_s = _of_both(slice_minutes), 2 * 60 * slice_minutes
    return Expected(
        rows=events.sql(f"""
            with slice as (
                select house_id, household_id, plug_id, start_s, count(*) as readings,
                       sum(load_mw) / count(*) as average
                from ({both})
                group by all
            ),
            earlier as (
                select now.house_id, now.household_id, now.plug_id, now.start_s, count(*) as days_known,
                       sum(old.readings) as readings, median(old.average) as usual
                from slice now cross join range(1, {days} + 1) back(day) join slice old
                  on old.house_id = now.house_id and old.household_id is not distinct from now.household_id
                 and old.plug_id is not distinct from now.plug_id
                 and old.start_s = now.start_s + {ahead_s} - day * {DAY_S}
                group by all
            )
            select now.house_id, now.household_id, now.plug_id,
                   make_timestamp((now.start_s + {ahead_s}) * 1000000) as slice_start,
                   coalesce(days_known, 0) as days_known,
                   (now.readings + coalesce(earlier.readings, 0))::bigint as readings,
                   (now.average + coalesce(usual, now.average)) / 2 / 1000 as predicted_w
            from slice now left join earlier
              on earlier.house_id = now.house_id and earlier.household_id is not distinct from now.household_id
             and earlier.plug_id is not distinct from now.plug_id and earlier.start_s = now.start_s
        """),
        touches=events.sql(f"""
            select partition, "offset", house_id, household_id, plug_id,
                   make_timestamp((start_s + {ahead_s}) * 1000000) as slice_start
            from ({both})
        """),
    )


APPLICATION = Application(
    name="smart-grid",
    question="Which houses have plugs that draw unusually much, and what will houses and plugs draw next?",
    inputs={"readings": STREAM},
    stages=(loads, outliers, averages, predict),
    outputs=(
        Output("loads", load_of_each_reading, PerEvent((*PLUG, "timestamp", "load_mw"))),
        Output(
            "outliers",
            outliers_per_house,
            LatestPerKey(
                ("window_start", "house_id"),
                {"readings": "rises", "plugs": "rises", "outliers": "any", "outlier_percent": "any"},
            ),
        ),
        Output(
            "predict",
            predictions,
            LatestPerKey((*PLUG, "slice_start"), {"days_known": "rises", "readings": "rises", "predicted_w": "any"}),
        ),
    ),
    cuts=("averages",),
    parameters={
        "window_minutes": WholeNumber(60, "minutes of event time in a window of outliers", 1, 1440),
        "slice_minutes": SliceMinutes(120, "minutes in a slice of the prediction, a part of a day", 1, 120),
        "days": WholeNumber(3, "how many earlier days the prediction looks back", 1, 14),
    },
    papers=("BO13",),
    required={"readings": ("timestamp", "value", "property", *PLUG)},
    deviations=(
        "The challenge's windows of outliers slide with every event; here they are tumbling windows of event time.",
        "The challenge takes all earlier days; here the last few, so that the state stays bounded.",
        "The challenge sums up the averages of a house's plugs; here, as in the thesis's own program, a house has the "
        "average over all readings of its plugs.",
        "The challenge writes a prediction every 30 s of event time; here one is written whenever it changes.",
        "Between averages and predict lies a topic of its own, because a query has one aggregate in real-time mode.",
    ),
)
