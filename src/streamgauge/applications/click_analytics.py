"""Click analytics (BO8): how many visits and first visits has a web site had, and from which countries and cities?

Bordin (2017) groups clicks by URL and user to tell whether the user has been there before (RepeatVisit) and counts all
visits and the unique ones, which are the first of a user to a URL (VisitStats); beside that, the address of each click
is looked up and visits are counted per country and city (Geography, GeoStats). The user is known by the client's key
or, where there is none, by the address. A city is named after its country, since names of cities repeat:
`France: Lyon`.

Both answers are streams of (branch, key, seen). `visits` has the branches total (one key, `visits`), country and city;
`unique` has the branch total with the key `unique visits`. The state of `unique` is every pair of URL and user.
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
from streamgauge.streams.clicks import STREAM
from streamgauge.streams.tables.ip_places import TABLE


@stage(uses=("static-join",))
def geography(clicks: DataFrame, places: DataFrame) -> DataFrame:
    """The country and city of each click, if found."""
    return located(clicks.select("ip", "origin"), "ip", places)


@stage(key=("branch", "key"))
def tally(geography: DataFrame) -> DataFrame:
    """A row for each count that a click adds to."""
    city = fn.concat("country", fn.lit(": "), "city")
    return in_branches(geography, total=fn.lit("visits"), country=fn.col("country"), city=city)


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def visits(tally: DataFrame) -> DataFrame:
    """The running count of visits in total, per country and per city."""
    return count_per_key(tally)


@stage(uses=("deduplicate",), key=("branch", "key"))
def first_visits(clicks: DataFrame) -> DataFrame:
    """The first click of each user on each URL."""
    users = clicks.select("url", fn.coalesce("client_key", "ip").alias("user"), "origin")
    return users.dropDuplicates(["url", "user"]).select(
        fn.lit("total").alias("branch"), fn.lit("unique visits").alias("key"), "origin"
    )


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def unique(first_visits: DataFrame) -> DataFrame:
    """The running count of unique visits."""
    return count_per_key(first_visits)


_PER_EVENT = f"""
    with click as ({located_sql("clicks", "ip")})
    select partition, "offset", 'total' as branch, 'visits' as key from click
    union all select partition, "offset", 'country', country from click
    union all select partition, "offset", 'city', country || ': ' || city from click
"""

_FIRST_OF_EACH_PAIR = """
    select partition, "offset", 'total' as branch, 'unique visits' as key
    from (
        select partition, "offset", row_number() over (
            partition by url, ifnull(client_key, ip) order by append_ms, partition, "offset") as visit
        from clicks)
    where visit = 1
"""


def counted_of_each_click(events: Any) -> Expected:
    """What each click counts in, whether it is the first or not."""
    return expected_rows(events, _PER_EVENT)


def visits_per_key(events: Any) -> Expected:
    """The final count of visits in total, per country and per city."""
    return expected_counts(events, _PER_EVENT)


def unique_visits(events: Any) -> Expected:
    """How many pairs of URL and user there are; the first click of a pair in the order of the log's instants counts."""
    return expected_counts(events, _FIRST_OF_EACH_PAIR)


APPLICATION = Application(
    name="click-analytics",
    question="How many visits and first visits has a web site had, and from which countries and cities?",
    inputs={"clicks": STREAM},
    tables={"places": TABLE},
    stages=(geography, tally, visits, first_visits, unique),
    outputs=(
        Output("tally", counted_of_each_click, PER_EVENT),
        Output("visits", visits_per_key, PER_KEY),
        Output("unique", unique_visits, PER_KEY),
    ),
    papers=("BO8",),
    required={"clicks": ("ip", "url")},
    deviations=(
        "Total visits are counted with those per country and city, in one query; unique visits, which need the set of "
        "the pairs seen, in another. The thesis counts both totals in one operator.",
        "Clicks are JSON objects; the thesis reads the Common Log Format, which --data takes as well.",
    ),
)
