"""spark-continuous: Structured Streaming's older continuous processing, for stateless stages only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from streamgauge.engines.spark.engine import SparkEngine
from streamgauge.model import Gap, Setting
from streamgauge.model.application import Feature
from streamgauge.model.units import parse_duration_s


def _trigger(values: Mapping[str, str]) -> dict[str, str]:
    return {"continuous": f"{round(parse_duration_s(values['epoch']) * 1000)} milliseconds"}


_STATELESS = Gap("never", "continuous processing runs projections, filters and explodes only")

ENGINE = SparkEngine(
    name="spark-continuous",
    about="Structured Streaming's continuous processing: stateless stages, latency of milliseconds",
    trigger=_trigger,
    output_mode="append",
    settings={"epoch": Setting("1s", "time between checkpoints")},
    source={"kafka.fetch.max.wait.ms": "10"},
    missing=dict.fromkeys(get_args(Feature), _STATELESS),
    holds_slots=True,
)
