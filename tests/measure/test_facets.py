"""Facets: where a trial lies in the figures of its suite."""

from __future__ import annotations

import pytest

from streamgauge.measure.facets import get_facet
from streamgauge.model import Trial, UserError

SETTINGS = {
    "trigger": "2s",
    "shuffle-partitions": "8",
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "1",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
}
CASES = [
    ("application", "grep"),
    ("engine", "spark-microbatch"),
    ("load-kind", "bursty"),
    ("rate", 250.0),
    ("events", 40.0),
    ("stage", "tumbling"),
    ("partitions", 4.0),
    ("workers", 3.0),
    ("setting.trigger", "2s"),
    ("setting.shuffle-partitions", 8.0),
    ("setting.state-store", "as it is"),
    ("parameters", "as it is"),
    ("matrix", "stages"),
    ("key-skew", "as it is"),
    ("fault", "kill worker at 5s; restart broker at 9s"),
]


def record(**changes: object) -> dict:
    trial = Trial(
        *("grep", "spark-microbatch", "bursts:250/s:1000:5s", 1, 50, 10),
        place="cluster:3",
        partitions=4,
        stop_after="tumbling",
        settings=SETTINGS,
        faults=("kill worker at 5s", "restart broker at 9s"),
    )
    known = {"application": "grep", "engine": "spark-microbatch", "load": trial.load, "seed": 1, "events": 40}
    return {**known, "trial": trial.as_dict(), "matrices": ["stages"], **changes}


@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_facet_is_read_from_the_record(name: str, value: object) -> None:
    assert get_facet(name).of(record()) == value


def test_long_names_of_settings_are_short() -> None:
    said = get_facet("settings").of(record())
    assert said == (
        "shuffle-partitions=8, spark.serializer=KryoSerializer, stateStore.checkpointFormatVersion=1, trigger=2s"
    )


def test_a_full_log_has_no_rate() -> None:
    assert get_facet("rate").of(record(load="preloaded")) is None
    assert get_facet("rate").of(record(load="constant:10000/min")) == pytest.approx(10_000 / 60)
    assert get_facet("load-kind").of(record(load="preloaded")) == "flat out"


def test_an_unknown_facet_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="Did you mean 'partitions'"):
        get_facet("partition")
    with pytest.raises(UserError, match="names nothing"):
        get_facet("setting.")
