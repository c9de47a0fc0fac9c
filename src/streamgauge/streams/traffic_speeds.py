"""traffic-speeds (OS1): how fast the cars on each lane of a measurement point were, a JSON object per observation.

`--data FILE` replays observations as OSPBench keeps those of NDW, the Dutch road traffic data:
`point/lane1= {"lat":…,"long":…,"speed":92,"accuracy":100,"timestamp":"2017-03-15 14:41:00.0","num_lanes":1}`, one per
line; the counts of the same file are the other stream's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.traffic_observations import KEY, QUALITY, WHERE_AND_WHEN, generated, recorded_observations

FIELDS = (
    *WHERE_AND_WHEN,
    Field("speed", FieldType.DOUBLE, "mean speed of the cars in kilometres per hour, to the hundredth"),
    *QUALITY,
)


@dataclass(frozen=True)
class SyntheticSpeeds:
    """Generated speeds: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        made = generated(self.seed, start, count)
        own = column(made.speed_hundredths / 100.0)
        return pa.RecordBatch.from_arrays([*made.where_and_when, own, *made.quality], schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> Source:
    return recorded_observations(path, FIELDS, "speed")


STREAM = Stream(
    name="traffic-speeds",
    about="Mean speed on each lane of a measurement point, minute by minute",
    fields=FIELDS,
    wire=Json(),
    synthetic=SyntheticSpeeds,
    recorded=_recorded,
    key=KEY,
    papers=("OS1",),
)
