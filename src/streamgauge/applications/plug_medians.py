"""Plugs whose median load is above the median of all, as expressions over the readings of a window kept as an array."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.evaluation import evaluated_once

PLUG = ("house_id", "household_id", "plug_id")
LOAD_BITS, ID_BITS = 35, (12, 8, 8)
"""A plug's three numbers and a load fit into one whole number, which sorts by house, household, plug and load."""


def packed_reading() -> Column:
    """Plug and load of a row as one number."""
    packed, shift = fn.col("load_mw"), LOAD_BITS
    for name, bits in zip(reversed(PLUG), reversed(ID_BITS), strict=True):
        packed, shift = packed + fn.shiftleft(name, shift), shift + bits
    return packed


def tallies_per_house(windows: DataFrame, *keep: str) -> DataFrame:
    """`tallies`: for each house its plugs and those above the median of all, from the packed readings `gathered`.

    Work grows with the number of readings alone: a plug's readings stand together, so their middle is looked up.
    """
    windows = windows.select(*keep, evaluated_once(fn.sort_array("gathered")).alias("sorted"))
    values = fn.sort_array(fn.transform("sorted", _load))
    places = fn.sequence(fn.lit(0), fn.size("sorted") - 1)
    starts = fn.filter(places, lambda place: _plug_at(place) != _plug_at(place - 1))
    parted = windows.select(
        *keep, "sorted", evaluated_once(values).alias("values"), evaluated_once(starts).alias("starts")
    )
    flagged = parted.select(*keep, evaluated_once(fn.transform("starts", _flag)).alias("flags"))
    houses = fn.array_distinct(fn.transform("flags", lambda flag: fn.shiftright(flag, 1)))
    return flagged.select(*keep, evaluated_once(fn.transform(houses, _tally)).alias("tallies"))


def _flag(start: Column, number: Column) -> Column:
    """Twice the house of the plug whose readings begin there, and one more if the plug is above the median of all."""
    count = fn.coalesce(fn.get("starts", number + 1), fn.size("sorted")) - start
    of_plug = [_load(fn.get("sorted", start + place)) for place in middle(count)]
    of_all = [fn.get("values", place) for place in middle(fn.size("values"))]
    house = fn.shiftright(fn.get("sorted", start), LOAD_BITS + sum(ID_BITS[1:]))
    return 2 * house + (of_plug[0] + of_plug[1] > of_all[0] + of_all[1]).cast("bigint")


def _tally(house: Column) -> Column:
    below, above = (fn.size("flags") - fn.size(fn.array_remove("flags", 2 * house + bit)) for bit in (0, 1))
    return fn.struct(house.alias("house_id"), (below + above).alias("plugs"), above.alias("outliers"))


def _load(reading: Column) -> Column:
    return reading.bitwiseAND(fn.lit((1 << LOAD_BITS) - 1))


def _plug_at(place: Column) -> Column:
    """The plug at a place of the sorted readings, −1 before the first."""
    return fn.coalesce(fn.shiftright(fn.get("sorted", place), LOAD_BITS), fn.lit(-1))


def middle(count: Column) -> tuple[Column, Column]:
    """The two places, from 0, between which the median of so many sorted values lies."""
    return fn.floor((count - 1) / 2).cast("int"), fn.floor(count / 2).cast("int")
