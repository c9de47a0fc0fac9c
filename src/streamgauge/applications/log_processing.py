"""Log processing (BO2): how many visits does a web server get per minute, status code, country and city?

Bordin (2017) counts three things of each line of a web server's log: the visits per minute (Volume Count), the answers
per status code (Status Counter), and, after a look-up of the client's address in a table like MaxMind's GeoIP, the
visits per country and city (Geography, GeoStats). Here a minute is one of the log's own time in UTC, written like
`1998-04-30 21:30`; a city is named after its country, since names of cities repeat: `France: Lyon`. A host that is no
IPv4 address, or in no range of the table, counts in no country; a range without a city counts in no city; a time that
is none counts in no minute.

The answer is one stream of (branch, key, seen), where branch is minute, status, country or city.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.branches import (
    PER_EVENT,
    PER_KEY,
    count_per_key,
    expected_counts,
    expected_rows,
    in_branches,
)
from streamgauge.applications.places import located, located_sql
from streamgauge.model import Application, Emits, Expected, Output, stage
from streamgauge.streams.tables.ip_places import TABLE
from streamgauge.streams.web_log import STREAM


@stage
def parse(log: DataFrame) -> DataFrame:
    """The minute, status and address of each visit."""
    instant = fn.try_to_timestamp("time", fn.lit("dd/MMM/yyyy:HH:mm:ss Z"))
    minute = fn.substring(instant.cast("string"), 1, len("1998-04-30 21:30"))
    return log.select(minute.alias("minute"), fn.col("status").cast("string").alias("status"), "host", "origin")


@stage(uses=("static-join",))
def geography(parse: DataFrame, places: DataFrame) -> DataFrame:
    """Each visit with the country and city of its address, if found."""
    return located(parse, "host", places)


@stage(key=("branch", "key"))
def tally(geography: DataFrame) -> DataFrame:
    """A row for each count that a visit adds to."""
    return in_branches(
        geography,
        minute=fn.col("minute"),
        status=fn.col("status"),
        country=fn.col("country"),
        city=fn.concat("country", fn.lit(": "), "city"),
    )


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def counts(tally: DataFrame) -> DataFrame:
    """The running count per branch and key."""
    return count_per_key(tally)


_PER_EVENT = f"""
    with visit as ({located_sql("log", "host")}),
    kept as (
        select partition, "offset", status, country, city,
               epoch(try_strptime("time", '%d/%b/%Y:%H:%M:%S %z'))::bigint // 60 as minute
        from visit
    )
    select partition, "offset", 'minute' as branch,
           strftime(make_timestamp(minute * 60000000), '%Y-%m-%d %H:%M') as key from kept
    union all select partition, "offset", 'status', status::varchar from kept
    union all select partition, "offset", 'country', country from kept
    union all select partition, "offset", 'city', country || ': ' || city from kept
"""


def counted_of_each_visit(events: Any) -> Expected:
    """What each visit counts in."""
    return expected_rows(events, _PER_EVENT)


def visits_per_key(events: Any) -> Expected:
    """The final count of each branch and key."""
    return expected_counts(events, _PER_EVENT)


APPLICATION = Application(
    name="log-processing",
    question="How many visits does a web server get per minute, status code, country and city?",
    inputs={"log": STREAM},
    tables={"places": TABLE},
    stages=(parse, geography, tally, counts),
    outputs=(Output("tally", counted_of_each_visit, PER_EVENT), Output("counts", visits_per_key, PER_KEY)),
    papers=("BO2",),
    required={"log": ("host", "time", "status")},
    deviations=(
        "The three branches are one query over the log with one output, whose column branch tells them apart; the "
        "thesis has an operator and a sink for each.",
        "A place is looked up by a join with the table of ranges, not by a call to a database for every visit.",
    ),
)
