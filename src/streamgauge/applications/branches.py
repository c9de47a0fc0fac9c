"""Several counts in one pass over the log: an event becomes a row for each branch that it counts in.

A query per branch would read and parse the log once per branch, and each would want slots of its own. Here one query
counts all, and its output tells the branches apart by their name.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import each, latest_origin
from streamgauge.model import Expected, LatestPerKey, PerEvent

PER_EVENT = PerEvent(("branch", "key"))
PER_KEY = LatestPerKey(("branch", "key"), {"seen": "rises"})


def in_branches(rows: DataFrame, **keys: Column) -> DataFrame:
    """A row (branch, key) for each branch in which the row has a key."""
    named = [fn.struct(fn.lit(branch).alias("branch"), key.alias("key")) for branch, key in keys.items()]
    counted = each(rows, fn.array(*named), "counted")
    return counted.select("counted.branch", "counted.key", "origin").filter("key is not null")


def count_per_key(rows: DataFrame) -> DataFrame:
    """The running count per branch and key."""
    return rows.groupBy("branch", "key").agg(fn.count("*").alias("seen"), latest_origin())


def expected_rows(events: Any, per_event: str) -> Expected:
    """The right answer of `in_branches`, given the SQL of (partition, offset, branch, key)."""
    return Expected(events.sql(f"from ({per_event}) where key is not null"))


def expected_counts(events: Any, per_event: str) -> Expected:
    """The right answer of `count_per_key`: an event touches every key that it counts in."""
    return Expected(
        rows=events.sql(f"select branch, key, count(*) as seen from ({per_event}) where key is not null group by all"),
        touches=events.sql(f"from ({per_event}) where key is not null"),
    )
