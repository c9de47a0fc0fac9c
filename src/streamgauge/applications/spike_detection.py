"""Spike detection (BO10): which readings of a sensor lie far from the average of its last ones?

The moving average of a device is that of its last `window` temperatures, the newest included, or of all while there are
fewer. A reading is a spike when abs(value − average) > threshold · average (Formula 3.1 of Bordin's thesis, 2017);
where an average is negative that is so for every reading. Temperatures are taken in whole thousandths of a degree,
halves up, so that sums are exact and every implementation divides the same two numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.count_window import sums_over_last
from streamgauge.applications.labels import precision_and_recall
from streamgauge.applications.origin import newest_origin
from streamgauge.applications.parameters import Positive, WholeNumber
from streamgauge.applications.stateful import ORIGIN_COLUMNS, in_batches
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.sensor_readings import STREAM

if TYPE_CHECKING:
    import pandas as pd


@stage(uses=("aggregate", "row-updates"))
def moving_average(readings: DataFrame, *, window: int) -> DataFrame:
    """Each reading and the average at it: the last values of a device as an aggregate, answered anew with each."""
    recent = (
        readings.select("moteid", _thousandths().alias("thousandths"), "origin")
        .groupBy("moteid")
        .agg(fn.max_by("thousandths", "origin.offset", window).alias("recent"), newest_origin())
    )
    total = fn.aggregate("recent", fn.lit(0).cast("bigint"), lambda sum_, value: sum_ + value)
    return recent.select(
        "moteid",
        (fn.get("recent", fn.lit(0)) / fn.lit(1000.0)).alias("value"),
        (total / (fn.size("recent") * fn.lit(1000.0))).alias("average"),
        "origin",
    )


@moving_average.variant("stateful", uses=("python-state",))
def moving_average_in_batches(readings: DataFrame, *, window: int) -> DataFrame:
    """The same with a state per bucket of devices: the last values of each."""

    def step(state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
        last = sums_over_last(window, state, batch, "moteid", ["thousandths"])
        averaged = batch[["moteid", *ORIGIN_COLUMNS]].assign(
            value=batch["thousandths"].to_numpy() / 1000.0, average=last.sums[0] / (last.count * 1000.0)
        )
        return last.state, averaged

    rows = readings.select("moteid", _thousandths().alias("thousandths"), "origin")
    return in_batches(rows, "moteid", step, "moteid bigint, value double, average double")


def _thousandths() -> Column:
    return fn.floor(fn.col("temperature") * 1000 + 0.5)


@stage
def spikes(moving_average: DataFrame, *, threshold: float) -> DataFrame:
    """The readings that lie too far from the average."""
    return moving_average.filter(fn.abs(fn.col("value") - fn.col("average")) > threshold * fn.col("average"))


AVERAGED = """
    select partition, "offset", moteid, spike, thousandths / 1000.0::double as value,
           sum(thousandths) over latest::double / (count(*) over latest * 1000.0::double) as average
    from (select *, floor(temperature * 1000 + 0.5)::bigint as thousandths from readings)
    window latest as (partition by moteid order by "offset" rows between {others} preceding and current row)
"""


def averages(events: Any, *, window: int) -> Expected:
    """Every reading with the average over a frame of rows of its device."""
    averaged = AVERAGED.format(others=window - 1)
    return Expected(events.sql(f"""select partition, "offset", moteid, value, average from ({averaged})"""))


def far_readings(events: Any, *, window: int, threshold: float) -> Expected:
    """Of these, the ones to which the formula applies."""
    averaged = AVERAGED.format(others=window - 1)
    far = f"abs(value - average) > {threshold!r}::double * average"
    labelled = f"select ({far}) as named, spike = 1 as meant from ({averaged}) where spike is not null"
    rows = f"""select partition, "offset", moteid, value, average from ({averaged}) where {far}"""
    return Expected(events.sql(rows), quality=precision_and_recall(events, labelled))


APPLICATION = Application(
    name="spike-detection",
    question="Which readings of a sensor lie far from the average of its last ones?",
    inputs={"readings": STREAM},
    required={"readings": ("moteid", "temperature")},
    stages=(moving_average, spikes),
    outputs=(
        Output("moving_average", averages, PerEvent(("moteid", "value", "average"), key=("moteid",))),
        Output("spikes", far_readings, PerEvent(("moteid", "value", "average"), key=("moteid",))),
    ),
    parameters={
        "window": WholeNumber(64, "how many of a device's last values are averaged", most=10_000),
        "threshold": Positive(0.03, "how far from the average a spike lies, as a share of the average"),
    },
    order="within a device by offset",
    papers=("BO10",),
    deviations=("The value that is watched is the temperature, in whole thousandths of a degree.",),
)
